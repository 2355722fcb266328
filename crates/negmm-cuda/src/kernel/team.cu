// The threads that train one network, and the work that they share. A phase is work whose items do not depend on each other; `sync`
// ends it. On a processor without a card the same source runs with one thread, and the order of a phase's items can be turned around:
// bits that then change show a race.

typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __CUDACC_RTC__

#define DEVICE __device__ __forceinline__
// Compiled once, wherever it is called from.
#define ONCE static __device__ __noinline__
#define TEAM_SIZE (BLOCKS * THREADS)

extern __shared__ float4 shared_memory[];

DEVICE int team_rank() { return (int)(blockIdx.x % BLOCKS) * THREADS + (int)threadIdx.x; }

DEVICE u32 acquired(const u32* place) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  return value;
}

// Waits for all threads of the team; what they wrote is seen by all.
DEVICE void sync_team(u32* arrived) {
  __syncthreads();
  if (BLOCKS > 1) {
    if (threadIdx.x == 0) {
      __threadfence();
      u32 goal = (atomicAdd(arrived, 1u) / BLOCKS + 1) * BLOCKS;
      while (acquired(arrived) < goal) {}
      __threadfence();
    }
    __syncthreads();
  }
}

template <class Act> DEVICE void each(int count, Act act) {
  for (int item = team_rank(); item < count; item += TEAM_SIZE) act(item);
}

// The last thread is the first without an item.
template <class Act> DEVICE void lone(Act act) {
  if (team_rank() == TEAM_SIZE - 1) act();
}

DEVICE u32 exchange(u32* place, u32 value) { return atomicExch(place, value); }

DEVICE float bits_to_float(u32 bits) { return __uint_as_float(bits); }
DEVICE u32 float_to_bits(float x) { return __float_as_uint(x); }
DEVICE u64 high_product(u64 a, u64 b) { return __umul64hi(a, b); }

#else

#include <cmath>
#include <cstring>

#define DEVICE inline __attribute__((always_inline))
#define ONCE static

struct alignas(16) float4 { float x, y, z, w; };
DEVICE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

static int reversed = 0;

DEVICE void sync_team(u32*) {}

template <class Act> static inline void each(int count, Act act) {
  if (reversed)
    for (int item = count - 1; item >= 0; --item) act(item);
  else
    for (int item = 0; item < count; ++item) act(item);
}

template <class Act> DEVICE void lone(Act act) { act(); }

DEVICE u32 exchange(u32* place, u32 value) {
  u32 before = *place;
  *place = value;
  return before;
}

DEVICE float bits_to_float(u32 bits) { float x; std::memcpy(&x, &bits, 4); return x; }
DEVICE u32 float_to_bits(float x) { u32 bits; std::memcpy(&bits, &x, 4); return bits; }
DEVICE u64 high_product(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

#endif

DEVICE int least(int a, int b) { return a < b ? a : b; }
DEVICE float4 load4(const float* place) { return *(const float4*)place; }
DEVICE void store4(float* place, float4 four) { *(float4*)place = four; }
DEVICE float part_of(const float4& four, int at) { return at == 0 ? four.x : at == 1 ? four.y : at == 2 ? four.z : four.w; }

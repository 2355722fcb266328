// The threads that train one network, and the work that they share. A phase is work whose items do not depend on each other; `sync`
// ends it, for the whole team or for one block of it. On a processor without a card the same source runs with one thread for each block,
// and the order of a phase's items can be turned around: bits that then change show a race.

typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __CUDACC_RTC__

#define DEVICE __device__ __forceinline__
// Compiled once, wherever it is called from.
#define ONCE static __device__ __noinline__
#define TEAM_SIZE (BLOCKS * THREADS)

extern __shared__ float4 shared_memory[];

// The block's number in its team.
DEVICE int block() { return (int)(blockIdx.x % BLOCKS); }
DEVICE int team_rank() { return block() * THREADS + (int)threadIdx.x; }

DEVICE u64 acquired(const u64* place) {
  u64 value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
  return value;
}

// How many blocks must have arrived before the next wait ends.
DEVICE u64& arrivals() {
  __shared__ u64 count;
  return count;
}

// Before the first wait of a launch; those of other launches were all whole.
DEVICE void open_team(const u64* arrived) {
  if (BLOCKS > 1 && threadIdx.x == 0) arrivals() = acquired(arrived) / BLOCKS * BLOCKS;
}

// Waits for all threads of the block; what they wrote is seen by all of them.
DEVICE void sync_block() { __syncthreads(); }

// Waits for all threads of the team; what they wrote is seen by all.
DEVICE void sync_team(u64* arrived) {
  __syncthreads();
  if (BLOCKS > 1) {
    if (threadIdx.x == 0) {
      u64 goal = arrivals() += BLOCKS;
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(arrived), "l"(1ull) : "memory");
      while (acquired(arrived) < goal) {}
    }
    __syncthreads();
  }
}

// The items of a phase, for all threads of the team.
template <class Act> DEVICE void each(int count, Act act) {
  for (int item = team_rank(); item < count; item += TEAM_SIZE) act(item);
}

// As above; what items read is loaded for several of them before the first is done: load(item, held), then act(item, held).
template <int AHEAD, class Held, class Load, class Act> DEVICE void each_ahead(int count, Load load, Act act) {
#pragma unroll 1
  for (int first = team_rank(); first < count; first += AHEAD * TEAM_SIZE) {
    Held held[AHEAD];
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * TEAM_SIZE < count) load(first + i * TEAM_SIZE, held[i]);
#pragma unroll
    for (int i = 0; i < AHEAD; ++i)
      if (first + i * TEAM_SIZE < count) act(first + i * TEAM_SIZE, held[i]);
  }
}

// The items of a phase, for all threads of this block.
template <class Act> DEVICE void each_here(int count, Act act) {
  for (int item = (int)threadIdx.x; item < count; item += THREADS) act(item);
}

// What every thread of the block does: act(thread, place of what it remembers from one of these to the next).
#define REMEMBERED 1
template <class Act> DEVICE void each_thread(Act act) { act((int)threadIdx.x, 0); }

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
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#define DEVICE inline __attribute__((always_inline))
#define ONCE static

struct alignas(16) float4 { float x, y, z, w; };
DEVICE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

static int reversed = 0;
static thread_local int own_block = 0;
static std::mutex meeting;
static std::condition_variable complete;
static u64 met = 0;

DEVICE int block() { return own_block; }
DEVICE void open_team(const u64*) {}
DEVICE void sync_block() {}

static void sync_team(u64*) {
  std::unique_lock<std::mutex> lock(meeting);
  u64 goal = (met / BLOCKS + 1) * BLOCKS;
  if (++met == goal) complete.notify_all();
  complete.wait(lock, [&] { return met >= goal; });
}

template <class Act> static inline void in_turn(int first, int count, int apart, Act act) {
  int items = count > first ? (count - first + apart - 1) / apart : 0;
  for (int at = 0; at < items; ++at) act(first + (reversed ? items - 1 - at : at) * apart);
}

template <class Act> static inline void each(int count, Act act) { in_turn(own_block, count, BLOCKS, act); }
template <class Act> static inline void each_here(int count, Act act) { in_turn(0, count, 1, act); }
template <int AHEAD, class Held, class Load, class Act> static inline void each_ahead(int count, Load load, Act act) {
  each(count, [&](int item) {
    Held held;
    load(item, held);
    act(item, held);
  });
}

#define REMEMBERED THREADS
template <class Act> static inline void each_thread(Act act) {
  in_turn(0, THREADS, 1, [&](int thread) { act(thread, thread); });
}

template <class Act> DEVICE void lone(Act act) {
  if (own_block == BLOCKS - 1) act();
}

DEVICE u32 exchange(u32* place, u32 value) { return __atomic_exchange_n(place, value, __ATOMIC_RELAXED); }

DEVICE float bits_to_float(u32 bits) { float x; std::memcpy(&x, &bits, 4); return x; }
DEVICE u32 float_to_bits(float x) { u32 bits; std::memcpy(&bits, &x, 4); return bits; }
DEVICE u64 high_product(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

#endif

DEVICE int least(int a, int b) { return a < b ? a : b; }
DEVICE float4 load4(const float* place) { return *(const float4*)place; }
DEVICE void store4(float* place, float4 four) { *(float4*)place = four; }
DEVICE float part_of(const float4& four, int at) { return at == 0 ? four.x : at == 1 ? four.y : at == 2 ? four.z : four.w; }

// act(Number<0>{}), act(Number<1>{}), …: unrolled before anything is optimised. `#pragma unroll` does it late, and arrays that live from one
// round of a loop to the next then take the compiler eight times as long.
template <int AT> struct Number { static constexpr int value = AT; };
template <int COUNT, class Act> DEVICE void unrolled(Act act) {
  if constexpr (COUNT > 0) {
    unrolled<COUNT - 1>(act);
    act(Number<COUNT - 1>{});
  }
}

// The team: the cooperative group of thread blocks that trains one network, its barrier and its parallel loops. A phase is a set of
// independent work items, ended by a barrier over the team or over one block. Compiled for the CPU (emulation, for tests), each block is
// one thread that runs its items one after the other, in reverse order on request: results that depend on the order reveal a race.

typedef unsigned int u32;
typedef unsigned long long u64;

#ifdef __CUDACC_RTC__

#define DEVICE __device__ __forceinline__
// Not inlined: large functions with several call sites.
#define NOINLINE static __device__ __noinline__
#define TEAM_SIZE (BLOCKS_PER_NETWORK * THREADS)

extern __shared__ float4 shared_memory[];

// Rank of the block in its team.
DEVICE int block() { return (int)(blockIdx.x % BLOCKS_PER_NETWORK); }
DEVICE int team_rank() { return block() * THREADS + (int)threadIdx.x; }

DEVICE u64 load_acquire(const u64* address) {
  u64 value;
  asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}

// Arrival count at which the current barrier opens, one copy per block.
DEVICE u64& barrier_target() {
  __shared__ u64 count;
  return count;
}

// Called before the first barrier of a launch. Every earlier barrier was completed, so the count is a multiple of the team's blocks.
DEVICE void init_barrier(const u64* barrier) {
  if (BLOCKS_PER_NETWORK > 1 && threadIdx.x == 0) barrier_target() = load_acquire(barrier) / BLOCKS_PER_NETWORK * BLOCKS_PER_NETWORK;
}

// Barrier over the threads of the block; makes their writes visible to the block.
DEVICE void sync_block() { __syncthreads(); }

// Barrier over all threads of the team; makes their writes visible to the team.
DEVICE void sync_team(u64* barrier) {
  __syncthreads();
  if (BLOCKS_PER_NETWORK > 1) {
    if (threadIdx.x == 0) {
      u64 goal = barrier_target() += BLOCKS_PER_NETWORK;
      asm volatile("red.release.gpu.global.add.u64 [%0], %1;" : : "l"(barrier), "l"(1ull) : "memory");
      while (load_acquire(barrier) < goal) {}
    }
    __syncthreads();
  }
}

// act(item) for the items of a phase, distributed over all threads of the team.
template <class Act> DEVICE void for_each(int count, Act act) {
  for (int item = team_rank(); item < count; item += TEAM_SIZE) act(item);
}

// As above with software prefetch: load(item, loaded) for PREFETCH items, then act(item, loaded) for each of them.
template <int PREFETCH, class Loaded, class Load, class Act> DEVICE void for_each_prefetched(int count, Load load, Act act) {
#pragma unroll 1
  for (int first = team_rank(); first < count; first += PREFETCH * TEAM_SIZE) {
    Loaded loaded[PREFETCH];
#pragma unroll
    for (int i = 0; i < PREFETCH; ++i)
      if (first + i * TEAM_SIZE < count) load(first + i * TEAM_SIZE, loaded[i]);
#pragma unroll
    for (int i = 0; i < PREFETCH; ++i)
      if (first + i * TEAM_SIZE < count) act(first + i * TEAM_SIZE, loaded[i]);
  }
}

// The items of a phase, distributed over the threads of this block.
template <class Act> DEVICE void for_each_in_block(int count, Act act) {
  for (int item = (int)threadIdx.x; item < count; item += THREADS) act(item);
}

// act(thread, slot) for every thread of the block. `slot` indexes per-thread state (registers) that lives across several of these loops:
// always 0 on the GPU; on the CPU one thread emulates the whole block and needs a slot per emulated thread.
#define THREAD_SLOTS 1
template <class Act> DEVICE void for_each_thread(Act act) { act((int)threadIdx.x, 0); }

// Runs on one thread of the team: the last one, which is the first to run out of items.
template <class Act> DEVICE void single_thread(Act act) {
  if (team_rank() == TEAM_SIZE - 1) act();
}

DEVICE u32 atomic_exchange(u32* address, u32 value) { return atomicExch(address, value); }

DEVICE float bits_to_float(u32 bits) { return __uint_as_float(bits); }
DEVICE u32 float_to_bits(float x) { return __float_as_uint(x); }
DEVICE u64 multiply_high(u64 a, u64 b) { return __umul64hi(a, b); }

#else

// C headers only: the standard library's take longer to parse than the kernel takes to compile.
#include <math.h>
#include <pthread.h>
#include <string.h>

#define DEVICE inline __attribute__((always_inline))
#define NOINLINE static

struct alignas(16) float4 { float x, y, z, w; };
DEVICE float4 make_float4(float x, float y, float z, float w) { return float4{x, y, z, w}; }

static int reversed = 0;
static thread_local int emulated_block = 0;
static pthread_mutex_t barrier_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t barrier_reached = PTHREAD_COND_INITIALIZER;
static u64 barrier_arrivals = 0;

DEVICE int block() { return emulated_block; }
DEVICE void init_barrier(const u64*) {}
DEVICE void sync_block() {}

static void sync_team(u64*) {
  pthread_mutex_lock(&barrier_mutex);
  u64 goal = (barrier_arrivals / BLOCKS_PER_NETWORK + 1) * BLOCKS_PER_NETWORK;
  if (++barrier_arrivals == goal) pthread_cond_broadcast(&barrier_reached);
  while (barrier_arrivals < goal) pthread_cond_wait(&barrier_reached, &barrier_mutex);
  pthread_mutex_unlock(&barrier_mutex);
}

template <class Act> static inline void serial_for(int first, int count, int stride, Act act) {
  int items = count > first ? (count - first + stride - 1) / stride : 0;
  for (int at = 0; at < items; ++at) act(first + (reversed ? items - 1 - at : at) * stride);
}

template <class Act> static inline void for_each(int count, Act act) { serial_for(emulated_block, count, BLOCKS_PER_NETWORK, act); }
template <class Act> static inline void for_each_in_block(int count, Act act) { serial_for(0, count, 1, act); }
template <int PREFETCH, class Loaded, class Load, class Act> static inline void for_each_prefetched(int count, Load load, Act act) {
  for_each(count, [&](int item) {
    Loaded loaded;
    load(item, loaded);
    act(item, loaded);
  });
}

#define THREAD_SLOTS THREADS
template <class Act> static inline void for_each_thread(Act act) {
  serial_for(0, THREADS, 1, [&](int thread) { act(thread, thread); });
}

template <class Act> DEVICE void single_thread(Act act) {
  if (emulated_block == BLOCKS_PER_NETWORK - 1) act();
}

DEVICE u32 atomic_exchange(u32* address, u32 value) { return __atomic_exchange_n(address, value, __ATOMIC_RELAXED); }

DEVICE float bits_to_float(u32 bits) { float x; memcpy(&x, &bits, 4); return x; }
DEVICE u32 float_to_bits(float x) { u32 bits; memcpy(&bits, &x, 4); return bits; }
DEVICE u64 multiply_high(u64 a, u64 b) { return (u64)(((unsigned __int128)a * b) >> 64); }

#endif

DEVICE int min_int(int a, int b) { return a < b ? a : b; }
DEVICE float4 load4(const float* address) { return *(const float4*)address; }
DEVICE void store4(float* address, float4 four) { *(float4*)address = four; }
DEVICE float component(const float4& four, int at) { return at == 0 ? four.x : at == 1 ? four.y : at == 2 ? four.z : four.w; }

// act(StaticIndex<0>{}), act(StaticIndex<1>{}), …: unrolled by the front end. `#pragma unroll` unrolls late in the optimizer, and arrays
// that live across iterations of an enclosing loop then take eight times as long to compile.
template <int AT> struct StaticIndex { static constexpr int value = AT; };
template <int COUNT, class Act> DEVICE void static_for(Act act) {
  if constexpr (COUNT > 0) {
    static_for<COUNT - 1>(act);
    act(StaticIndex<COUNT - 1>{});
  }
}

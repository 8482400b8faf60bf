// Work shared by as many threads as there are cores. The results never depend on how
// many those are: callers fix the order in which parts are added.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#ifdef __linux__
#include <sched.h>
#endif

// Cores that this process may use: fewer than there are under `taskset` and the like.
inline int64_t cores_of_ours() {
#ifdef __linux__
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
  return std::thread::hardware_concurrency();
}

// f(k) for k = 0, ..., count - 1, each taken in turn by the next free thread; no more
// threads than `most`.
template <class F>
void in_parallel(int64_t count, int64_t most, F f) {
  const int64_t threads = std::max<int64_t>(1, std::min(cores_of_ours(), most));
  std::atomic<int64_t> next{0};
  std::exception_ptr wrong;
  std::once_flag first;
  auto work = [&] {
    try {
      for (int64_t k; (k = next.fetch_add(1)) < count;) f(k);
    } catch (...) {  // beyond a thread it would end the process
      std::call_once(first, [&] { wrong = std::current_exception(); });
    }
  };
  std::vector<std::thread> others;
  try {
    for (int64_t t = 1; t < threads; ++t) others.emplace_back(work);
  } catch (const std::system_error&) {  // no more threads to be had: fewer do
  }
  work();
  for (auto& t : others) t.join();
  if (wrong) std::rethrow_exception(wrong);
}

// Tokens in slices of whole groups. How many there are depends on n alone.
struct Slices {
  Slices(int64_t n, int64_t group) : n(n) {
    const int64_t wanted = std::max(kLeast, (n + kMost - 1) / kMost);
    length = (wanted + group - 1) / group * group;
    count = (n + length - 1) / length;
  }
  int64_t first(int64_t slice) const { return slice * length; }
  int64_t end(int64_t slice) const { return std::min(n, (slice + 1) * length); }

  static constexpr int64_t kLeast = 4096, kMost = 64;
  int64_t n, length, count;
};

// Memory that is written for the first time costs a fault for every page: half of the
// time of a pass over a million tokens, unless the pages are large.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

inline void ask_for_large_pages(void* start, size_t bytes) {
#ifdef __linux__
  constexpr uintptr_t kPage = 4096, kLarge = size_t(1) << 21;
  const uintptr_t first = (uintptr_t(start) + kPage - 1) / kPage * kPage;
  const uintptr_t end = (uintptr_t(start) + bytes) / kPage * kPage;
  if (bytes > 2 * kLarge) madvise((void*)first, end - first, MADV_HUGEPAGE);
#endif
}

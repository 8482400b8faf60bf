// Tokens on the circle spread on a periodic grid, and functions on the grid taken at
// tokens: the two non-uniform ends of a Fourier transform. Each token touches kWidth
// points of the grid, by the values of a smooth window there.
//
// With s in [-1, 1) the place of a token between two points, the window at point m of
// the lower half is E_m(s^2) + s O_m(s^2), and by symmetry E_m(s^2) - s O_m(s^2) at the
// mirror image of m: one vector of each makes all kWidth values.

#pragma once

#include <cmath>
#include <vector>

#include "pages.h"
#include "simd.h"
#include "threads.h"
#include "xla/ffi/api/ffi.h"

namespace grid {

constexpr int kHalf = 8, kWidth = 2 * kHalf;
constexpr int kTerms = 7;   // of the polynomials E_m and O_m
constexpr int kAtOnce = 4;  // tokens whose polynomials hide each other's latency
constexpr double kRound = 6755399441055744.0;  // 1.5 2^52: added, it rounds
typedef double D __attribute__((vector_size(8 * kHalf)));
typedef int64_t N __attribute__((vector_size(8 * kHalf)));

inline D load8(const double* p) {
  D v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

inline void store8(double* p, D v) { std::memcpy(p, &v, sizeof v); }

inline D reversed(D v) { return __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0); }

inline double added(D v) {
  const auto four = __builtin_shufflevector(v, v, 0, 1, 2, 3) +
                    __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) +
                   __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

inline D absolute(D v) { return (D)((N)v & INT64_MAX); }

// The angle of (x, y) in (-pi, pi], to two units of the last place.
inline D angle(D x, D y) {
  // atan(t) / t in t^2 up to tan(pi / 8)^2, highest power first; error 1e-17.
  constexpr double kPowers[] = {
      -0.017805397205419446, 0.03796525745386593, -0.05035102456601552,
      0.05846878297330872, -0.06662951813629191, 0.07692045330902225,
      -0.09090896809064027, 0.11111110744919658, -0.14285714279250245,
      0.19999999999940893, -0.3333333333333312, 1.0};
  const D u = absolute(x), v = absolute(y);
  const N steep = v > u;
  const D a = steep ? v : u, b = steep ? u : v;
  const N large = b > a * 0.41421356237309503;
  const D t = (large ? b - a : b) / (large ? b + a : a);
  const D square = t * t;
  D p = D{} + kPowers[0];
#pragma GCC unroll 16
  for (unsigned k = 1; k < sizeof kPowers / sizeof(double); ++k)
    p = p * square + kPowers[k];
  D r = t * p + (large ? D{} + M_PI_4 : D{});
  r = steep ? M_PI_2 - r : r;
  r = x < 0 ? M_PI - r : r;
  return (D)((N)r | ((N)y & INT64_MIN));
}

// Where a few tokens are: the first point that each touches, counted from the point
// opposite to the angle zero, and its place between two points.
struct Places {
  D x, y;
  int32_t first[kHalf];
  double s[kHalf];

  Places(const double* points, int64_t count, int grid) {
    double some[2 * kHalf];
    if (count < kHalf) {  // ones after the last token
      for (int t = 0; t < 2 * kHalf; ++t) some[t] = t < 2 * count ? points[t] : 1;
      points = some;
    }
    const D a = load8(points), b = load8(points + kHalf);
    x = __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14);
    y = __builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15);
    D p = angle(x, y) * (grid / (2 * M_PI)) - kHalf;
    const N known = absolute(p) <= grid;  // not so for the origin, or for NaN
    D start = p + kRound - kRound;
    start = start < p ? start + 1 : start;
    store8(s, 2 * (start - p) - 1);  // which is NaN then, and so the result
    start = known ? start : D{};
    for (int t = 0; t < kHalf; ++t) first[t] = int(start[t]) + kHalf + grid / 2;
  }
};

// The window at all points that kAtOnce tokens touch; the table is (2, kTerms, kHalf).
inline void windows(const double* s, const double* table, D (&low)[kAtOnce],
                    D (&high)[kAtOnce]) {
  D even[kAtOnce], odd[kAtOnce], square[kAtOnce];
  for (int t = 0; t < kAtOnce; ++t) {
    square[t] = D{} + s[t] * s[t];
    even[t] = load8(table);
    odd[t] = load8(table + kTerms * kHalf);
  }
#pragma GCC unroll 8
  for (int k = 1; k < kTerms; ++k) {
    const D e = load8(table + k * kHalf), o = load8(table + (kTerms + k) * kHalf);
#pragma GCC unroll 4
    for (int t = 0; t < kAtOnce; ++t) {
      even[t] = even[t] * square[t] + e;
      odd[t] = odd[t] * square[t] + o;
    }
  }
  for (int t = 0; t < kAtOnce; ++t) {
    low[t] = even[t] + odd[t] * s[t];
    high[t] = reversed(even[t] - odd[t] * s[t]);
  }
}

namespace ffi = xla::ffi;
using Doubles = ffi::Buffer<ffi::F64>;

// grid(l) = sum_j w_j window(l - position_j); angle zero is at l = 0.
ffi::Error spread(Doubles points, Doubles w, Doubles table, ffi::Result<Doubles> out) {
  const int64_t n = points.dimensions()[0], grid = out->dimensions()[0];
  if (table.element_count() != 2 * kTerms * kHalf)
    return ffi::Error::InvalidArgument("the table of the window has another shape");
  const Slices slices(n, kHalf);
  const int64_t padded = grid + 2 * kWidth;
  std::fill_n(out->typed_data(), grid, 0.0);
  try {
    std::vector<double> parts(slices.count * padded);
    in_parallel(slices.count, slices.count, [&](int64_t slice) {
      double* part = &parts[slice * padded];
      const int64_t end = slices.end(slice);
      for (int64_t i = slices.first(slice); i < end; i += kHalf) {
        const int64_t some = std::min<int64_t>(kHalf, end - i);
        const Places at(points.typed_data() + 2 * i, some, grid);
        for (int g = 0; g < kHalf; g += kAtOnce) {
          D low[kAtOnce], high[kAtOnce];
          windows(at.s + g, table.typed_data(), low, high);
          for (int t = 0; t < kAtOnce && g + t < some; ++t) {
            const double weight = w.typed_data()[i + g + t];
            double* place = part + at.first[g + t];
            store8(place, load8(place) + weight * low[t]);
            store8(place + kHalf, load8(place + kHalf) + weight * high[t]);
          }
        }
      }
    });
    for (int64_t slice = 0; slice < slices.count; ++slice)
      for (int64_t l = 0; l < padded; ++l)  // back to l = 0, and around
        out->typed_data()[(l - kHalf + grid / 2 + grid) % grid] +=
            parts[slice * padded + l];
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory for a grid");
  }
  return ffi::Error::Success();
}

// A total and a moment in coordinates, from three functions on the grid: the total, and
// the parts of the moment along the token and across.
ffi::Error gather(Doubles points, Doubles functions, Doubles table,
                  ffi::Result<Doubles> totals, ffi::Result<Doubles> out) {
  const int64_t n = points.dimensions()[0], grid = functions.dimensions()[1];
  if (table.element_count() != 2 * kTerms * kHalf)
    return ffi::Error::InvalidArgument("the table of the window has another shape");
  const int64_t padded = grid + 2 * kWidth;
  std::vector<double> f;
  try {
    f.resize(3 * padded);
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory for a grid");
  }
  for (int a = 0; a < 3; ++a)
    for (int64_t l = 0; l < padded; ++l)
      f[a * padded + l] =
          functions.typed_data()[a * grid + (l - kHalf + grid / 2 + grid) % grid];
  ask_for_large_pages(totals->typed_data(), totals->size_bytes());
  ask_for_large_pages(out->typed_data(), out->size_bytes());
  const Slices slices(n, kHalf);
  in_parallel(slices.count, slices.count, [&](int64_t slice) {
    const int64_t end = slices.end(slice);
    for (int64_t i = slices.first(slice); i < end; i += kHalf) {
      const int64_t some = std::min<int64_t>(kHalf, end - i);
      const Places at(points.typed_data() + 2 * i, some, grid);
      double total[kHalf], along[kHalf], across[kHalf];
      for (int g = 0; g < kHalf; g += kAtOnce) {
        D low[kAtOnce], high[kAtOnce];
        windows(at.s + g, table.typed_data(), low, high);
        for (int t = 0; t < kAtOnce; ++t) {
          const double* place = f.data() + at.first[g + t];
          auto value = [&](const double* f) {
            return added(load8(f) * low[t] + load8(f + kHalf) * high[t]);
          };
          total[g + t] = value(place);
          along[g + t] = value(place + padded);
          across[g + t] = value(place + 2 * padded);
        }
      }
      const D square = at.x * at.x + at.y * at.y;
      double length[kHalf];
      store8(length, square);
      for (int t = 0; t < kHalf; ++t) length[t] = std::sqrt(length[t]);
      const D c = at.x / load8(length), s = at.y / load8(length);
      const D u = load8(along), v = load8(across);
      const D first = u * c - v * s, second = u * s + v * c;
      double* row = out->typed_data() + 2 * i;
      for (int t = 0; t < some; ++t, row += 2) {
        totals->typed_data()[i + t] = total[t];
        row[0] = first[t];
        row[1] = second[t];
      }
    }
  });
  return ffi::Error::Success();
}

auto binding() {
  return ffi::Ffi::Bind().Arg<Doubles>().Arg<Doubles>().Arg<Doubles>().Ret<Doubles>();
}

}  // namespace grid

XLA_FFI_DEFINE_HANDLER_SYMBOL(circle_spread, grid::spread, grid::binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(circle_gather, grid::gather,
                              grid::binding().Ret<grid::Doubles>());

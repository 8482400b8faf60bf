// Fourier modes of weighted tokens on the circle, and series of modes at tokens.
//
// The powers z, z^2, z^3, ... of a few vectors of tokens stay in registers. Tokens are
// cut into slices whose number depends on theirs alone, and parts are added in order:
// the result does not depend on the number of threads.

#pragma once

#include <cmath>

#include "pages.h"
#include "simd.h"
#include "threads.h"
#include "xla/ffi/api/ffi.h"

namespace circle {

using V = Vec<double>;
constexpr int L = kLanes<double>;
constexpr int kAtOnce = kBytes == 64 ? 4 : 2;  // vectors of tokens
constexpr int kTokens = kAtOnce * L;

// z and its power z^k for a few tokens, as real and imaginary parts.
struct Powers {
  V re[kAtOnce], im[kAtOnce], a[kAtOnce], b[kAtOnce];

  // Tokens first, ..., first + count - 1 of (n, 2) coordinates, of length one, or z^k
  // would grow; ones after them.
  Powers(const double* points, int64_t first, int64_t count) {
    alignas(64) double x[kTokens], y[kTokens];
    for (int t = 0; t < kTokens; ++t) {
      const double u = t < count ? points[2 * (first + t)] : 1;
      const double v = t < count ? points[2 * (first + t) + 1] : 0;
      const double length = std::sqrt(u * u + v * v);
      x[t] = u / length;
      y[t] = v / length;
    }
    for (int s = 0; s < kAtOnce; ++s) {
      re[s] = V{} + 1;
      im[s] = V{};
      a[s] = load(x + s * L);
      b[s] = load(y + s * L);
    }
  }

  void next(int s) {
    const V r = re[s] * a[s] - im[s] * b[s];
    im[s] = re[s] * b[s] + im[s] * a[s];
    re[s] = r;
  }
};

namespace ffi = xla::ffi;
using Doubles = ffi::Buffer<ffi::F64>;
using Count = ffi::BufferR0<ffi::S32>;

// out(column, 2, k) = sum_j u_j z_j^k for k < count, and zero from there on.
ffi::Error modes(Doubles points, Doubles u, Count count, ffi::Result<Doubles> out) {
  const int64_t n = points.dimensions()[0], columns = u.dimensions()[0];
  const int64_t most = out->dimensions()[2];
  const int64_t used = std::max(0, count.typed_data()[0]);
  if (used > most) return ffi::Error::InvalidArgument("too many modes");
  const Slices slices(n, kTokens);
  std::fill_n(out->typed_data(), columns * 2 * most, 0.0);
  try {
    std::vector<double> parts(slices.count * columns * 2 * used);
    in_parallel(slices.count * columns, slices.count, [&](int64_t task) {
      const int64_t slice = task / columns;
      const double* weights = u.typed_data() + task % columns * n;
      std::vector<double> sums(2 * used * L);  // a vector for each part of each mode
      const int64_t end = slices.end(slice);
      for (int64_t first = slices.first(slice); first < end; first += kTokens) {
        const int64_t some = std::min<int64_t>(kTokens, end - first);
        Powers z(points.typed_data(), first, some);
        alignas(64) double w[kTokens] = {};
        std::copy_n(weights + first, some, w);
        for (int s = 0; s < kAtOnce; ++s) z.re[s] = load(w + s * L);
        for (int64_t k = 0; k < used; ++k) {
          V re = load(&sums[2 * k * L]), im = load(&sums[(2 * k + 1) * L]);
#pragma GCC unroll 4
          for (int s = 0; s < kAtOnce; ++s) {
            re += z.re[s];
            im += z.im[s];
            z.next(s);
          }
          store<double>(&sums[2 * k * L], re);
          store<double>(&sums[(2 * k + 1) * L], im);
        }
      }
      for (int64_t k = 0; k < 2 * used; ++k)
        parts[task * 2 * used + k] = sum<double>(load(&sums[k * L]));
    });
    for (int64_t task = 0; task < slices.count * columns; ++task)
      for (int64_t k = 0; k < 2 * used; ++k)
        out->typed_data()[(task % columns * 2 + k % 2) * most + k / 2] +=
            parts[task * 2 * used + k];
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory for modes");
  }
  return ffi::Error::Success();
}

// Re sum_{k < used} c_k z^k for C columns at once; c is (C, 2, most).
template <int C>
inline void evaluate(Powers& z, const double* c, int64_t most, int64_t used,
                     V (&total)[C][kAtOnce]) {
  for (int64_t k = 0; k < used; ++k) {
#pragma GCC unroll 4
    for (int s = 0; s < kAtOnce; ++s) {
#pragma GCC unroll 4
      for (int j = 0; j < C; ++j)
        total[j][s] +=
            c[2 * j * most + k] * z.re[s] - c[(2 * j + 1) * most + k] * z.im[s];
      z.next(s);
    }
  }
}

// work(first, count) for all tokens, a few at a time.
template <class F>
void for_all(int64_t n, F work) {
  const Slices slices(n, kTokens);
  in_parallel(slices.count, slices.count, [&](int64_t slice) {
    const int64_t end = slices.end(slice);
    for (int64_t first = slices.first(slice); first < end; first += kTokens)
      work(first, std::min<int64_t>(kTokens, end - first));
  });
}

// out(j, column) = Re sum_{k < count} c_k z_j^k.
ffi::Error series(Doubles points, Doubles c, Count count, ffi::Result<Doubles> out) {
  const int64_t n = points.dimensions()[0], columns = c.dimensions()[0];
  const int64_t most = c.dimensions()[2];
  const int64_t used = std::max(0, count.typed_data()[0]);
  if (used > most) return ffi::Error::InvalidArgument("too many modes");
  ask_for_large_pages(out->typed_data(), out->size_bytes());
  for_all(n, [&](int64_t first, int64_t some) {
    for (int64_t j = 0; j < columns; ++j) {
      Powers z(points.typed_data(), first, some);
      V total[1][kAtOnce] = {};
      evaluate<1>(z, c.typed_data() + 2 * j * most, most, used, total);
      for (int64_t t = 0; t < some; ++t)
        out->typed_data()[(first + t) * columns + j] = total[0][t / L][t % L];
    }
  });
  return ffi::Error::Success();
}

// A total and a moment in coordinates, from three series: the total, and the parts of
// the moment along the token and across.
ffi::Error moments(Doubles points, Doubles c, Count count, ffi::Result<Doubles> totals,
                   ffi::Result<Doubles> out) {
  const int64_t n = points.dimensions()[0], most = c.dimensions()[2];
  const int64_t used = std::max(0, count.typed_data()[0]);
  if (used > most) return ffi::Error::InvalidArgument("too many modes");
  ask_for_large_pages(totals->typed_data(), totals->size_bytes());
  ask_for_large_pages(out->typed_data(), out->size_bytes());
  for_all(n, [&](int64_t first, int64_t some) {
    Powers z(points.typed_data(), first, some);
    V sums[3][kAtOnce] = {};
    evaluate<3>(z, c.typed_data(), most, used, sums);
    double* total = totals->typed_data() + first;
    double* place = out->typed_data() + 2 * first;
    for (int s = 0; s < kAtOnce; ++s) {
      const V x = sums[1][s] * z.a[s] - sums[2][s] * z.b[s];
      const V y = sums[1][s] * z.b[s] + sums[2][s] * z.a[s];
      for (int t = s * L; t < std::min<int64_t>(some, (s + 1) * L); ++t) {
        total[t] = sums[0][s][t % L];
        place[2 * t] = x[t % L];
        place[2 * t + 1] = y[t % L];
      }
    }
  });
  return ffi::Error::Success();
}

auto binding() {
  return ffi::Ffi::Bind().Arg<Doubles>().Arg<Doubles>().Arg<Count>().Ret<Doubles>();
}

}  // namespace circle

XLA_FFI_DEFINE_HANDLER_SYMBOL(circle_modes, circle::modes, circle::binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(circle_series, circle::series, circle::binding());
XLA_FFI_DEFINE_HANDLER_SYMBOL(circle_moments, circle::moments,
                              circle::binding().Ret<circle::Doubles>());

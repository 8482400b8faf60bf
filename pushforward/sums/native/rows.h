// sum_j w_j e^{beta <q_i, k_j>} (f_j, 1) for any queries, keys and values, relative to
// the largest term of its row: what a head with weights Q and K sums. With `own` token i
// does not see itself; under a causal mask it sees those before it.
//
// Rows are cut into strips, which are independent. A strip meets the keys block by
// block: exponents, their maximum so far, exponentials, and one product with the values.

#pragma once

#include <limits>
#include <vector>

#include "pairs.h"

namespace rows {

using pairs::Array;
using pairs::add_products;
using pairs::kBlock;
using pairs::kStrip;
using pairs::multiply;

// Vectors in blocks of columns, (blocks, d, width), padded by zeros.
template <class T>
Array<T> in_columns(const T* from, int64_t n, int d, int width) {
  const int64_t blocks = (n + width - 1) / width;
  Array<T> to(blocks * d * width);
  for (int64_t i = 0; i < n; ++i)
    for (int a = 0; a < d; ++a)
      to.data[(i / width * d + a) * width + i % width] = from[i * d + a];
  return to;
}

template <class T>
struct Problem {
  Problem(const T* q, const T* k, const T* f, const T* log_w, int64_t m, int64_t n, int d,
          int v, T scale, bool own, bool causal)
      : m(m),
        n(n),
        d(d),
        v(v),
        padded((v + kLanes<T> - 1) / kLanes<T> * kLanes<T>),
        scale(scale),
        own(own),
        causal(causal),
        queries(in_columns(q, m, d, kStrip)),
        keys(in_columns(k, n, d, kBlock)),
        values((n + kBlock - 1) / kBlock * kBlock * padded),
        weights((n + kBlock - 1) / kBlock * kBlock) {
    for (int64_t j = 0; j < n; ++j)
      for (int a = 0; a < v; ++a) values.data[j * padded + a] = f[j * v + a];
    const int64_t all = (n + kBlock - 1) / kBlock * kBlock;
    for (int64_t j = 0; j < all; ++j)
      weights.data[j] = j < n ? log_w[j] : -std::numeric_limits<T>::infinity();
  }

  int64_t m, n;
  int d, v, padded;
  T scale;  // beta log2(e)
  bool own, causal;
  Array<T> queries, keys, values, weights;
};

// 2^t for t <= 0; of minus infinity, zero.
template <class T>
inline T power(T t) {
  Vec<T> all = t - Vec<T>{};
  return exp2<T>(all)[0];
}

// The exponents of a strip against a block of keys, into e.
template <class T>
void exponents(const Problem<T>& p, int64_t strip, int64_t block, T* e) {
  constexpr int L = kLanes<T>;
  const T* q = p.queries.data + strip * p.d * kStrip;
  const T* k = p.keys.data + block * p.d * kBlock;
  const T* w = p.weights.data + block * kBlock;
  for (int j = 0; j < kBlock; j += kVectors * L)
    for (int i = 0; i < kStrip; i += kRows) {
      Vec<T> acc[kRows][kVectors] = {};
      multiply<T>(acc, q + i, 1, kStrip, k + j, kBlock, p.d);
      for (int c = 0; c < kVectors; ++c)
        for (int r = 0; r < kRows; ++r)
          store<T>(e + (i + r) * kBlock + j + c * L,
                   acc[r][c] * p.scale + load(w + j + c * L));
    }
  const int64_t first = strip * kStrip, column = block * kBlock;
  const bool meets = column < first + kStrip && first < column + kBlock;
  if (!(p.causal || p.own) || !(meets || p.causal)) return;
  for (int i = 0; i < kStrip; ++i)
    for (int j = 0; j < kBlock; ++j) {
      const int64_t ahead = column + j - (first + i);
      if ((p.causal && ahead > 0) || (p.own && ahead == 0))
        e[i * kBlock + j] = -std::numeric_limits<T>::infinity();
    }
}

// Exponentials in place of exponents, relative to the largest of the row so far.
template <class T>
void exponentiate(T* e, T& top, T& total, T* moment, int width) {
  constexpr int L = kLanes<T>;
  Vec<T> most = load(e);
  for (int j = L; j < kBlock; j += L) {
    Vec<T> t = load(e + j);
    most = t > most ? t : most;
  }
  T higher = top;
  for (int l = 0; l < L; ++l) higher = std::max(higher, most[l]);
  if (higher > top) {
    const T shrunk = power<T>(top - higher);
    total *= shrunk;
    for (int a = 0; a < width; ++a) moment[a] *= shrunk;
    top = higher;
  }
  Vec<T> row = {};
  for (int j = 0; j < kBlock; j += L) {
    Vec<T> a = exp2<T>(load(e + j) - top);
    store<T>(e + j, a);
    row += a;
  }
  total += sum<T>(row);
}

template <class T>
void sum_strip(const Problem<T>& p, int64_t strip, T* tops, T* totals, T* moments) {
  Array<T> e(kStrip * kBlock), moment(kStrip * p.padded);
  std::vector<T> top(kStrip, T(-1e30)), total(kStrip, T(0));
  const int64_t first = strip * kStrip, blocks = (p.n + kBlock - 1) / kBlock;
  const int64_t end = p.causal ? std::min(blocks, (first + kStrip - 1) / kBlock + 1) : blocks;
  for (int64_t block = 0; block < end; ++block) {
    exponents(p, strip, block, e.data);
    for (int i = 0; i < kStrip; ++i)
      exponentiate(e.data + i * kBlock, top[i], total[i], moment.data + i * p.padded,
                   p.padded);
    for (int i = 0; i < kStrip; i += kRows)
      add_products<T>(moment.data + i * p.padded, e.data + i * kBlock, kBlock, 1,
                      p.values.data + block * kBlock * p.padded, p.padded, kBlock);
  }
  for (int64_t i = first; i < std::min(p.m, first + kStrip); ++i) {
    tops[i] = top[i - first];
    totals[i] = total[i - first];
    for (int a = 0; a < p.v; ++a)
      moments[i * p.v + a] = moment.data[(i - first) * p.padded + a];
  }
}

namespace ffi = xla::ffi;

template <ffi::DataType kType>
ffi::Error all(ffi::Buffer<kType> q, ffi::Buffer<kType> k, ffi::Buffer<kType> f,
               ffi::Buffer<kType> log_w, ffi::BufferR0<kType> scale, bool own, bool causal,
               ffi::ResultBuffer<kType> top, ffi::ResultBuffer<kType> total,
               ffi::ResultBuffer<kType> moment) {
  using T = ffi::NativeType<kType>;
  try {
    Problem<T> p(q.typed_data(), k.typed_data(), f.typed_data(), log_w.typed_data(),
                 q.dimensions()[0], k.dimensions()[0], q.dimensions()[1],
                 f.dimensions()[1], scale.typed_data()[0], own, causal);
    const int64_t strips = (p.m + kStrip - 1) / kStrip;
    in_parallel(strips, strips, [&](int64_t strip) {
      sum_strip(p, strip, top->typed_data(), total->typed_data(), moment->typed_data());
    });
  } catch (const std::bad_alloc&) {
    return ffi::Error(ffi::ErrorCode::kResourceExhausted, "no memory for a sum");
  }
  return ffi::Error::Success();
}

template <ffi::DataType kType>
auto binding() {
  return ffi::Ffi::Bind()
      .Arg<ffi::Buffer<kType>>()
      .template Arg<ffi::Buffer<kType>>()
      .template Arg<ffi::Buffer<kType>>()
      .template Arg<ffi::Buffer<kType>>()
      .template Arg<ffi::BufferR0<kType>>()
      .template Attr<bool>("own")
      .template Attr<bool>("causal")
      .template Ret<ffi::Buffer<kType>>()
      .template Ret<ffi::Buffer<kType>>()
      .template Ret<ffi::Buffer<kType>>();
}

}  // namespace rows

XLA_FFI_DEFINE_HANDLER_SYMBOL(rows_float64, rows::all<xla::ffi::F64>,
                              rows::binding<xla::ffi::F64>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(rows_float32, rows::all<xla::ffi::F32>,
                              rows::binding<xla::ffi::F32>());

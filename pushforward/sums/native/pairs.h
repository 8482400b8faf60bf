// sum_{j != i} e_ij (F_j, w_j) with e_ij = e^{beta (<x_i, x_j> - 1)}, for tokens that
// see each other: every pair is looked at once, and serves both of its tokens. Under a
// causal mask, j < i, it serves the later one.
//
// Tokens are cut into blocks. A pair of blocks (I, J) adds e F_J to the rows of I and
// e^T F_I to those of J. The pairs of blocks are the games of a tournament, in which
// every block plays once a round: games of one round touch different blocks and run
// side by side, and every block receives its parts in the order of the rounds, so that the
// result does not depend on the number of threads.

#pragma once

#include <memory>

#include "simd.h"
#include "threads.h"
#include "xla/ffi/api/ffi.h"

namespace pairs {

constexpr int kBlock = 192;  // tokens; a multiple of every tile below
constexpr int kStrip = 48;   // rows whose e_ij are held at once: in the cache

// Numbers that start at a whole cache line, all zero.
template <class T>
struct Array {
  explicit Array(size_t count)
      : memory(new char[count * sizeof(T) + 64]()),
        data(reinterpret_cast<T*>((reinterpret_cast<uintptr_t>(memory.get()) + 63) /
                                  64 * 64)) {}
  std::unique_ptr<char[]> memory;
  T* data;
};

// Tokens in blocks, padded by tokens of weight zero.
template <class T>
struct Cloud {
  // Values in whole vectors and rows, or if thin in columns like the tokens.
  Cloud(int64_t n, int d, int k, T scale, bool causal)
      : blocks((n + kBlock - 1) / kBlock),
        n(n),
        d(d),
        k(k),
        thin(2 <= d && d <= 4 && k == d),
        padded(thin ? k : (k + kLanes<T> - 1) / kLanes<T> * kLanes<T>),
        scale(scale),
        causal(causal),
        x(blocks * d * kBlock),
        w(blocks * kBlock),
        f(blocks * padded * kBlock),
        moment(blocks * padded * kBlock),
        total(blocks * kBlock) {}

  int64_t blocks, n;
  int d, k;
  bool thin;
  int padded;
  T scale;          // beta log2(e)
  bool causal;      // only j < i
  Array<T> x;       // (blocks, d, kBlock)
  Array<T> w;       // (blocks, kBlock)
  Array<T> f;       // (blocks, kBlock, padded), or (blocks, k, kBlock) if thin
  Array<T> moment;  // like f
  Array<T> total;   // like w

  // Where value a of a token of a block is.
  int64_t value(int64_t block, int token, int a) const {
    if (thin) return (block * padded + a) * kBlock + token;
    return (block * kBlock + token) * padded + a;
  }

  void read(const T* points, const T* values, const T* weights) {
    for_tokens([&](int64_t i, int64_t block, int token) {
      for (int a = 0; a < d; ++a)
        x.data[(block * d + a) * kBlock + token] = points[i * d + a];
      for (int a = 0; a < k; ++a) f.data[value(block, token, a)] = values[i * k + a];
      w.data[i] = weights[i];
    });
  }

  void write(T* moments, T* totals) const {
    for_tokens([&](int64_t i, int64_t block, int token) {
      for (int a = 0; a < k; ++a)
        moments[i * k + a] = moment.data[value(block, token, a)];
      totals[i] = total.data[i];
    });
  }

  template <class F>
  void for_tokens(F work) const {
    in_parallel(blocks, blocks / 8, [&](int64_t block) {
      const int64_t first = block * kBlock;
      for (int64_t i = first; i < std::min(n, first + kBlock); ++i)
        work(i, block, int(i - first));
    });
  }
};

// acc += A B: R rows by C vectors, A(r, k) = a[r * row + k * step].
template <class T, int R, int C>
inline void multiply(Vec<T> (&acc)[R][C], const T* a, int row, int step, const T* b,
                     int width, int depth) {
  for (int k = 0; k < depth; ++k, a += step, b += width) {
    Vec<T> column[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) column[c] = load(b + c * kLanes<T>);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      Vec<T> value = a[r * row] - Vec<T>{};
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) acc[r][c] += value * column[c];
    }
  }
}

// out(R, padded) += A B with C vectors of columns at a time.
template <class T, int C>
inline void add_product(T* out, const T* a, int row, int step, const T* b, int width,
                        int depth) {
  Vec<T> acc[kRows][C];
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < C; ++c) acc[r][c] = load(out + r * width + c * kLanes<T>);
  multiply<T>(acc, a, row, step, b, width, depth);
  for (int r = 0; r < kRows; ++r)
    for (int c = 0; c < C; ++c) store<T>(out + r * width + c * kLanes<T>, acc[r][c]);
}

template <class T>
inline void add_products(T* out, const T* a, int row, int step, const T* b, int width,
                         int depth) {
  constexpr int L = kLanes<T>;
  int c = 0;
  for (; c + 3 * L <= width; c += 3 * L)
    add_product<T, 3>(out + c, a, row, step, b + c, width, depth);
  if (width - c == 2 * L) add_product<T, 2>(out + c, a, row, step, b + c, width, depth);
  if (width - c == L) add_product<T, 1>(out + c, a, row, step, b + c, width, depth);
}

// What a block is and what it receives.
template <class T>
struct Side {
  Side(Cloud<T>& cloud, int64_t block)
      : x(cloud.x.data + block * cloud.d * kBlock),
        w(cloud.w.data + block * kBlock),
        f(cloud.f.data + block * cloud.padded * kBlock),
        moment(cloud.moment.data + block * cloud.padded * kBlock),
        total(cloud.total.data + block * kBlock) {}
  const T *x, *w, *f;
  T *moment, *total;
};

// In a block against itself, where lane `own` is the token itself: not itself, and
// under a causal mask nothing after it.
template <class T>
inline void hide(Vec<T>& e, int own, bool causal) {
  const int last = causal ? kLanes<T> - 1 : own;
  for (int l = std::max(own, 0); l <= std::min(last, kLanes<T> - 1); ++l) e[l] = 0;
}

// One game, any dimension: a strip of e_ij at a time, then two products with it.
// I <= J; under a causal mask the tokens of J see those of I, and not the other way round.
template <class T>
void play(Cloud<T>& cloud, int64_t I, int64_t J) {
  constexpr int L = kLanes<T>;
  const int width = cloud.padded;
  const T scale = cloud.scale;
  const bool same = I == J, seen = same || !cloud.causal;
  Side<T> of_i(cloud, I), of_j(cloud, J);
  alignas(64) T e[kStrip * kBlock];
  for (int i0 = 0; i0 < kBlock; i0 += kStrip) {
    Vec<T> row_totals[kStrip] = {};
    for (int j = 0; j < kBlock; j += kVectors * L) {
      for (int i = 0; i < kStrip; i += kRows) {
        Vec<T> acc[kRows][kVectors] = {};
        multiply<T>(acc, of_i.x + i0 + i, 1, kBlock, of_j.x + j, kBlock, cloud.d);
#pragma GCC unroll 3
        for (int c = 0; c < kVectors; ++c) {
          const int at = j + c * L;
          Vec<T> weight = load(of_j.w + at), column = {};
          for (int r = 0; r < kRows; ++r) {
            Vec<T> a = exp2<T>(acc[r][c] * scale - scale);
            if (same) hide<T>(a, i0 + i + r - at, cloud.causal);
            store<T>(e + (i + r) * kBlock + at, a);
            row_totals[i + r] += a * weight;
            column += a * of_i.w[i0 + i + r];
          }
          if (!same) store<T>(of_j.total + at, load(of_j.total + at) + column);
        }
      }
    }
    for (int i = 0; seen && i < kStrip; ++i)
      of_i.total[i0 + i] += sum<T>(row_totals[i]);
    for (int i = 0; seen && i < kStrip; i += kRows)
      add_products<T>(of_i.moment + (i0 + i) * width, e + i * kBlock, kBlock, 1, of_j.f,
                      width, kBlock);
    for (int j = 0; !same && j < kBlock; j += kRows)
      add_products<T>(of_j.moment + j * width, e + j, 1, kBlock, of_i.f + i0 * width,
                      width, kStrip);
  }
}

// One game in low dimension, where everything stays in registers.
template <class T, int D>
void play_thin(Cloud<T>& cloud, int64_t I, int64_t J) {
  constexpr int L = kLanes<T>, R = 4;
  const T scale = cloud.scale;
  const bool same = I == J, seen = same || !cloud.causal;
  Side<T> of_i(cloud, I), of_j(cloud, J);
  for (int i = 0; i < kBlock; i += R) {
    Vec<T> moment[R][D] = {}, total[R] = {};
    for (int j = 0; j < kBlock; j += L) {
      Vec<T> sums[D] = {}, sum_w = {};
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        Vec<T> t = load(of_j.x + j) * of_i.x[i + r];
#pragma GCC unroll 4
        for (int a = 1; a < D; ++a)
          t += load(of_j.x + a * kBlock + j) * of_i.x[a * kBlock + i + r];
        Vec<T> e = exp2<T>(t * scale - scale);
        if (same) hide<T>(e, i + r - j, cloud.causal);
#pragma GCC unroll 4
        for (int a = 0; a < D; ++a) {
          moment[r][a] += e * load(of_j.f + a * kBlock + j);
          sums[a] += e * of_i.f[a * kBlock + i + r];
        }
        total[r] += e * load(of_j.w + j);
        sum_w += e * of_i.w[i + r];
      }
      if (same) continue;
#pragma GCC unroll 4
      for (int a = 0; a < D; ++a) {
        T* place = of_j.moment + a * kBlock + j;
        store<T>(place, load(place) + sums[a]);
      }
      store<T>(of_j.total + j, load(of_j.total + j) + sum_w);
    }
    for (int r = 0; seen && r < R; ++r) {
      of_i.total[i + r] += sum<T>(total[r]);
      for (int a = 0; a < D; ++a)
        of_i.moment[a * kBlock + i + r] += sum<T>(moment[r][a]);
    }
  }
}

// All games, round by round; a game waits until both blocks have played the last round.
template <class F>
void tournament(int64_t blocks, F play) {
  const int64_t seats = blocks + blocks % 2;  // an odd one has a round of rest
  const int64_t games = seats / 2, rounds = seats - 1;
  std::unique_ptr<std::atomic<int64_t>[]> played(new std::atomic<int64_t>[seats]());
  if (seats > blocks) played[blocks] = 1;  // the empty seat has no game with itself
  auto wait = [&](int64_t block, int64_t round) {
    while (played[block].load(std::memory_order_acquire) < round)
      std::this_thread::yield();
  };
  // More threads than half of the games of a round would mostly wait.
  in_parallel(blocks + rounds * games, (games + 1) / 2, [&](int64_t k) {
    int64_t I, J, round = 0;
    if (k < blocks) {
      I = J = k;  // at first, every block against itself
    } else {
      round = 1 + (k - blocks) / games;
      const int64_t g = (k - blocks) % games, r = round - 1, m = seats - 1;
      I = g == 0 ? m : (r + g) % m;
      J = g == 0 ? r : (r - g + m) % m;
    }
    wait(I, round);
    wait(J, round);
    if (std::max(I, J) < blocks) play(std::min(I, J), std::max(I, J));
    played[I].fetch_add(1, std::memory_order_release);
    if (I != J) played[J].fetch_add(1, std::memory_order_release);
  });
}

template <class T>
void sum_pairs(Cloud<T>& cloud) {
  tournament(cloud.blocks, [&](int64_t I, int64_t J) {
    if (!cloud.thin) return play(cloud, I, J);
    if (cloud.d == 2) return play_thin<T, 2>(cloud, I, J);
    if (cloud.d == 3) return play_thin<T, 3>(cloud, I, J);
    return play_thin<T, 4>(cloud, I, J);
  });
}

namespace ffi = xla::ffi;

template <ffi::DataType kType>
ffi::Error all(ffi::Buffer<kType> x, ffi::Buffer<kType> f, ffi::Buffer<kType> w,
               ffi::BufferR0<kType> scale, bool causal,
               ffi::ResultBuffer<kType> moment, ffi::ResultBuffer<kType> total) {
  using T = ffi::NativeType<kType>;
  try {
    Cloud<T> cloud(x.dimensions()[0], x.dimensions()[1], f.dimensions()[1],
                   scale.typed_data()[0], causal);
    cloud.read(x.typed_data(), f.typed_data(), w.typed_data());
    sum_pairs(cloud);
    cloud.write(moment->typed_data(), total->typed_data());
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
      .template Arg<ffi::BufferR0<kType>>()
      .template Attr<bool>("causal")
      .template Ret<ffi::Buffer<kType>>()
      .template Ret<ffi::Buffer<kType>>();
}

}  // namespace pairs

XLA_FFI_DEFINE_HANDLER_SYMBOL(pairs_float64, pairs::all<xla::ffi::F64>,
                              pairs::binding<xla::ffi::F64>());
XLA_FFI_DEFINE_HANDLER_SYMBOL(pairs_float32, pairs::all<xla::ffi::F32>,
                              pairs::binding<xla::ffi::F32>());

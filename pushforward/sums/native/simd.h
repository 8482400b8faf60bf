// Vectors as wide as the machine's, and 2^t of a vector.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
constexpr int kBytes = 64, kRows = 8;  // 8 x 3 accumulators of 32 registers
#elif defined(__AVX__)
constexpr int kBytes = 32, kRows = 4;  // 4 x 3 of 16
#else
constexpr int kBytes = 16, kRows = 4;
#endif
constexpr int kVectors = 3;

template <class T>
struct Simd;

template <>
struct Simd<double> {
  typedef double V __attribute__((vector_size(kBytes)));
  typedef int64_t I __attribute__((vector_size(kBytes)));
  static constexpr int kMantissa = 52;
  static constexpr double kLeast = -1022.0;
  // Those of _exponential.py: near-minimax on [-1/2, 1/2], relative error 3e-18.
  static constexpr double kPowers[12] = {
      4.4558179083360645e-10, 7.074194297288521e-09,  1.0178057087733941e-07,
      1.3215432535912375e-06, 1.5252733841556773e-05, 0.00015403530463724353,
      0.001333355814640647,   0.009618129107587256,   0.055504108664821625,
      0.24022650695910158,    0.6931471805599453,     1.0};
};

template <>
struct Simd<float> {
  typedef float V __attribute__((vector_size(kBytes)));
  typedef int32_t I __attribute__((vector_size(kBytes)));
  static constexpr int kMantissa = 23;
  static constexpr float kLeast = -126.0f;
  // The same, to 2e-9.
  static constexpr float kPowers[7] = {
      0.0001546144469856913f, 0.0013400428177615838f, 0.009618056678524637f,
      0.05550327226670302f,   0.24022650922288757f,   0.6931472067028326f,
      1.0f};
};

template <class T>
using Vec = typename Simd<T>::V;
template <class T>
constexpr int kLanes = kBytes / sizeof(T);

template <class T>
inline Vec<T> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
inline void store(T* p, Vec<T> v) {
  std::memcpy(p, &v, sizeof v);
}

template <class T>
inline T sum(Vec<T> v) {
  T total = 0;
  for (int l = 0; l < kLanes<T>; ++l) total += v[l];
  return total;
}

// 2^t for t at most 1023 (float: 127); zero where it would be subnormal.
template <class T>
inline Vec<T> exp2(Vec<T> t) {
  using V = Vec<T>;
  using I = typename Simd<T>::I;
  // Added to 1.5 2^mantissa, t is rounded and its low bits are an integer.
  const T round = T(3) * T(int64_t(1) << (Simd<T>::kMantissa - 1));
  V raised = t + round;
  V r = t - (raised - round);
  V p = r * Simd<T>::kPowers[0] + Simd<T>::kPowers[1];
#pragma GCC unroll 12
  for (unsigned k = 2; k < sizeof Simd<T>::kPowers / sizeof(T); ++k)
    p = p * r + Simd<T>::kPowers[k];
  I bits = (I)p + ((I)raised << Simd<T>::kMantissa);
  return t < Simd<T>::kLeast ? V{} : (V)bits;
}

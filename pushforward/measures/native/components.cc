// Chains of points at most a distance apart, in few dimensions.
//
// Points lie in cells a little wider than the distance, halved in every direction. Points
// of one half are a clump if all are close to its first, as they nearly always are; it is
// one class from the start. Clumps of the same or of neighbouring cells are compared,
// unless they hang together already.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace {

constexpr int64_t FEW = 64;  // pairs that are faster looked at than divided
constexpr double ROOM = 1.1;  // of a cell, so that rounding never hides a neighbour

struct Clump {
  int64_t first, last;
};

template <int D>
struct Box {
  double low[D], high[D];
};

template <int D>
struct Search {
  const double* points;
  int64_t n;
  double distance;
  std::vector<int64_t> order, root;
  std::vector<double> cell;  // of each point, D whole numbers, and the number of its half
  std::vector<Clump> clumps;
  std::vector<Box<D>> boxes;

  int64_t find(int64_t a) {
    while (root[a] != a) a = root[a] = root[root[a]];
    return a;
  }

  Box<D> around(int64_t first, int64_t last) const {
    Box<D> box;
    for (int k = 0; k < D; ++k) box.low[k] = INFINITY, box.high[k] = -INFINITY;
    for (int64_t i = first; i < last; ++i) {
      const double* x = points + D * order[i];
      for (int k = 0; k < D; ++k) {
        box.low[k] = std::min(box.low[k], x[k]);
        box.high[k] = std::max(box.high[k], x[k]);
      }
    }
    return box;
  }

  bool close(const double* x, const double* y) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
    return std::sqrt(sum) <= distance;
  }

  bool apart(const Box<D>& a, const Box<D>& b) const {
    double sum = 0;
    for (int k = 0; k < D; ++k) {
      const double gap = std::max({0.0, a.low[k] - b.high[k], b.low[k] - a.high[k]});
      sum += gap * gap;
    }
    return sum > distance * distance * (1 + 1e-9);
  }

  // Whether a point of the one is close to a point of the other.
  bool touch(Clump a, Box<D> in_a, Clump b, Box<D> in_b) {
    if (apart(in_a, in_b)) return false;
    if (close(points + D * order[a.first], points + D * order[b.first])) return true;
    const int64_t m = a.last - a.first, l = b.last - b.first;
    if (m * l <= FEW) {
      for (int64_t i = a.first; i < a.last; ++i)
        for (int64_t j = b.first; j < b.last; ++j)
          if (close(points + D * order[i], points + D * order[j])) return true;
      return false;
    }
    int longest = 0;
    double most_a = 0, most_b = 0;
    for (int k = 0; k < D; ++k) most_b = std::max(most_b, in_b.high[k] - in_b.low[k]);
    for (int k = 0; k < D; ++k)
      if (in_a.high[k] - in_a.low[k] > most_a) most_a = in_a.high[k] - in_a.low[k], longest = k;
    if (most_a < most_b) return touch(b, in_b, a, in_a);
    if (most_a == 0) return false;  // two places, and their first points are apart
    const double middle = in_a.low[longest] + most_a / 2;
    const auto at = std::partition(
        order.begin() + a.first, order.begin() + a.last,
        [&](int64_t i) { return points[D * i + longest] <= middle; });
    const Clump left{a.first, at - order.begin()}, right{left.last, a.last};
    if (left.first == left.last || right.first == right.last) return false;
    return touch(left, around(left.first, left.last), b, in_b) ||
           touch(right, around(right.first, right.last), b, in_b);
  }

  void meet(int64_t s, int64_t t) {
    const int64_t a = find(s), b = find(t);
    if (a != b && touch(clumps[s], boxes[s], clumps[t], boxes[t]))
      root[std::max(a, b)] = std::min(a, b);
  }

  const double* place(int64_t i) const { return &cell[(D + 1) * i]; }

  void sort_into_cells() {
    cell.resize((D + 1) * n);
    for (int64_t i = 0; i < n; ++i) {
      double* mine = &cell[(D + 1) * i];
      mine[D] = 0;
      for (int k = 0; k < D; ++k) {
        const double place = points[D * i + k] / (ROOM * distance), whole = std::floor(place);
        mine[k] = whole;
        mine[D] = 2 * mine[D] + (place - whole >= 0.5);
      }
    }
    order.resize(n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [this](int64_t i, int64_t j) {
      return std::lexicographical_compare(place(i), place(i) + D + 1, place(j),
                                          place(j) + D + 1);
    });
  }

  // Labels 0, 1, ... by first appearance.
  void run(int64_t* labels) {
    sort_into_cells();
    std::vector<int64_t> cells;  // the first clump of each
    for (int64_t i = 0; i < n; ++i) {
      const double* here = place(order[i]);
      const double* before = i ? place(order[i - 1]) : nullptr;
      const bool fresh = !before || !std::equal(here, here + D, before);
      if (!fresh && here[D] == before[D] &&
          close(points + D * order[clumps.back().first], points + D * order[i]))
        continue;
      if (!clumps.empty()) clumps.back().last = i;
      if (fresh) cells.push_back(clumps.size());
      clumps.push_back({i, n});
    }
    const int64_t count = clumps.size();
    cells.push_back(count);
    root.resize(count);
    std::iota(root.begin(), root.end(), 0);
    boxes.reserve(count);
    for (const Clump& c : clumps) boxes.push_back(around(c.first, c.last));

    std::vector<double> corner;  // the cell that each cell's number is read from
    const int64_t many = cells.size() - 1;
    for (int64_t c = 0; c < many; ++c) {
      const double* here = place(order[clumps[cells[c]].first]);
      corner.insert(corner.end(), here, here + D);
    }
    for (int64_t c = 0; c < many; ++c)
      for (int64_t s = cells[c]; s < cells[c + 1]; ++s)
        for (int64_t t = s + 1; t < cells[c + 1]; ++t) meet(s, t);
    int shift[D];
    for (int code = 0, all = std::pow(3, D); code < all; ++code) {
      for (int k = D - 1, rest = code; k >= 0; --k, rest /= 3) shift[k] = rest % 3 - 1;
      int k = 0;
      while (k < D && shift[k] == 0) ++k;
      if (k < D && shift[k] > 0) compare(cells, corner, shift);
    }
    std::vector<int64_t> of(n), name(count, -1);
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = clumps[c].first; i < clumps[c].last; ++i) of[order[i]] = find(c);
    int64_t next = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (name[of[i]] < 0) name[of[i]] = next++;
      labels[i] = name[of[i]];
    }
  }

  // Every cell and the one beside it: shifted cells are in the same order.
  void compare(const std::vector<int64_t>& cells, const std::vector<double>& corner,
               const int* shift) {
    const int64_t many = cells.size() - 1;
    int64_t other = 0;
    double wanted[D];
    for (int64_t c = 0; c < many; ++c) {
      for (int k = 0; k < D; ++k) wanted[k] = corner[D * c + k] + shift[k];
      const auto before = [&](int64_t o) {
        return std::lexicographical_compare(&corner[D * o], &corner[D * o] + D, wanted,
                                            wanted + D);
      };
      while (other < many && before(other)) ++other;
      if (other == many) return;
      if (!std::equal(wanted, wanted + D, &corner[D * other])) continue;
      for (int64_t s = cells[c]; s < cells[c + 1]; ++s)
        for (int64_t t = cells[other]; t < cells[other + 1]; ++t) meet(s, t);
    }
  }
};

template <int D>
void labelled(const double* points, int64_t n, double distance, int64_t* labels) {
  Search<D> search;
  search.points = points, search.n = n, search.distance = distance;
  search.run(labels);
}

}  // namespace

extern "C" void components(const double* points, int64_t n, int64_t d, double distance,
                           int64_t* labels) {
  if (d == 1) return labelled<1>(points, n, distance, labels);
  if (d == 2) return labelled<2>(points, n, distance, labels);
  if (d == 3) return labelled<3>(points, n, distance, labels);
  return labelled<4>(points, n, distance, labels);
}

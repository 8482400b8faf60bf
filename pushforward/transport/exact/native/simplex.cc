// The network simplex for transport on a list of pairs that may grow: after new pairs
// come it goes on from the tree that it has. Masses are whole numbers, so that nothing
// is lost in sums; a strongly feasible tree keeps it from going around in circles.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

struct Arc {
  int32_t from, to;
  double cost;
};

class Simplex {
 public:
  Simplex(int n, int m, const int64_t* a, const int64_t* b, double far)
      : n_(n), m_(m), root_(n + m), up_(n + m + 1), arc_(n + m + 1, -1),
        flow_(n + m + 1), out_(n + m + 1), depth_(n + m + 1, 1), pi_(n + m + 1),
        child_(n + m + 1, -1), next_(n + m + 1, -1), back_(n + m + 1, -1) {
    up_[root_] = -1;
    depth_[root_] = 0;
    for (int v = 0; v < n + m; ++v) {  // all mass by the root, at a price
      const bool source = v < n;
      arcs_.push_back(source ? Arc{v, root_, far} : Arc{root_, v, far});
      arc_[v] = v;
      out_[v] = source;
      flow_[v] = source ? a[v] : b[v - n];
      pi_[v] = source ? -far : far;
      adopt(root_, v);
    }
    at_ = artificial_ = n + m;
  }

  void add(int64_t count, const int64_t* i, const int64_t* j, const double* c) {
    for (int64_t k = 0; k < count; ++k)
      arcs_.push_back({int32_t(i[k]), int32_t(n_ + j[k]), c[k]});
  }

  // Whether no pair can lower the cost any more; pivots at most `most`.
  bool run(int64_t most, double noise) {
    const int64_t size = arcs_.size();
    const int64_t block = std::max<int64_t>(64, std::sqrt(double(size)));
    while (most-- > 0) {
      int64_t best = -1, seen = 0;
      double least = -noise;
      for (int64_t k = 0; k < size; ++k) {
        if (at_ >= size) at_ = artificial_;
        const Arc& arc = arcs_[at_];
        const double reduced = arc.cost + pi_[arc.from] - pi_[arc.to];
        if (reduced < least) least = reduced, best = at_;
        ++at_;
        if (++seen >= block && best >= 0) break;
      }
      if (best < 0) return true;
      pivot(best);
    }
    return false;
  }

  // The pairs that carry mass, and how much of it no pair carries yet.
  int64_t read(int64_t* i, int64_t* j, int64_t* mass, double* f, double* g,
               int64_t* lost) const {
    int64_t count = 0;
    *lost = 0;
    for (int v = 0; v < n_ + m_; ++v) {
      const Arc& arc = arcs_[arc_[v]];
      if (arc_[v] >= artificial_ && flow_[v] > 0)
        i[count] = arc.from, j[count] = arc.to - n_, mass[count++] = flow_[v];
      else if (arc_[v] < n_)
        *lost += flow_[v];
    }
    for (int v = 0; v < n_; ++v) f[v] = -pi_[v];
    for (int v = 0; v < m_; ++v) g[v] = pi_[n_ + v];
    return count;
  }

 private:
  void adopt(int parent, int v) {
    up_[v] = parent;
    back_[v] = -1;
    next_[v] = child_[parent];
    if (next_[v] >= 0) back_[next_[v]] = v;
    child_[parent] = v;
  }

  void leave(int v) {
    if (back_[v] >= 0) next_[back_[v]] = next_[v];
    else child_[up_[v]] = next_[v];
    if (next_[v] >= 0) back_[next_[v]] = back_[v];
  }

  void pivot(int64_t entering) {
    const Arc arc = arcs_[entering];
    int u = arc.from, v = arc.to;
    while (u != v) {
      if (depth_[u] >= depth_[v]) u = up_[u];
      else v = up_[v];
    }
    const int join = u;
    // Along the cycle, from -> to -> ... -> join -> ... -> from.
    int64_t room = std::numeric_limits<int64_t>::max();
    int cut = -1;
    bool first = true;
    for (u = arc.from; u != join; u = up_[u])
      if (out_[u] && flow_[u] < room) room = flow_[u], cut = u, first = true;
    for (v = arc.to; v != join; v = up_[v])
      if (!out_[v] && flow_[v] <= room) room = flow_[v], cut = v, first = false;
    if (room > 0) {
      for (u = arc.from; u != join; u = up_[u]) flow_[u] += out_[u] ? -room : room;
      for (v = arc.to; v != join; v = up_[v]) flow_[v] += out_[v] ? room : -room;
    }
    // What hung below the cut arc hangs from the entering one, turned around.
    int node = first ? arc.from : arc.to, parent = first ? arc.to : arc.from;
    const int top = node;
    int64_t by = entering, carried = room;
    bool out = first;
    for (;;) {
      const int above = up_[node];
      const int64_t old_by = arc_[node], old_carried = flow_[node];
      const bool old_out = out_[node];
      leave(node);
      adopt(parent, node);
      arc_[node] = by, flow_[node] = carried, out_[node] = out;
      if (node == cut) break;
      parent = node, node = above;
      by = old_by, carried = old_carried, out = !old_out;
    }
    // Potentials of all that moved change by the reduced cost of the entering arc.
    const double reduced = arc.cost + pi_[arc.from] - pi_[arc.to];
    const double step = first ? -reduced : reduced;
    stack_.assign(1, top);
    while (!stack_.empty()) {
      const int w = stack_.back();
      stack_.pop_back();
      pi_[w] += step;
      depth_[w] = depth_[up_[w]] + 1;
      for (int c = child_[w]; c >= 0; c = next_[c]) stack_.push_back(c);
    }
  }

  int n_, m_, root_;
  std::vector<int32_t> up_;
  std::vector<int64_t> arc_, flow_;
  std::vector<char> out_;  // whether the arc to the parent goes up
  std::vector<int32_t> depth_;
  std::vector<double> pi_;
  std::vector<int32_t> child_, next_, back_;
  std::vector<Arc> arcs_;
  std::vector<int32_t> stack_;
  int64_t artificial_ = 0, at_ = 0;
};

}  // namespace

extern "C" {

void* simplex_new(int n, int m, const int64_t* a, const int64_t* b, double far) {
  return new Simplex(n, m, a, b, far);
}

void simplex_add(void* s, int64_t count, const int64_t* i, const int64_t* j,
                 const double* c) {
  static_cast<Simplex*>(s)->add(count, i, j, c);
}

int simplex_run(void* s, int64_t most, double noise) {
  return static_cast<Simplex*>(s)->run(most, noise);
}

int64_t simplex_read(const void* s, int64_t* i, int64_t* j, int64_t* mass, double* f,
                     double* g, int64_t* lost) {
  return static_cast<const Simplex*>(s)->read(i, j, mass, f, g, lost);
}

void simplex_free(void* s) { delete static_cast<Simplex*>(s); }
}

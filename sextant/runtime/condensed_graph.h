// The graph that fragments are numbered by: groups of nodes of other tasks and the single nodes of
// this one, with what depends on them.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant {

class CondensedGraph {
 public:
  // Vertices: the groups, then the nodes by id.
  CondensedGraph(int groups, size_t nodes);

  void AddEdge(int from, int to);
  // The vertex that stands for it: itself, or what it has been joined into.
  int Find(int vertex) const;
  // REQUIRES: no path leads from one to the other through a third.
  void Join(int into, int other);
  // Whether a path of at least "edges" (1 or 2) edges leads there.
  bool Reaches(int from, int to, int edges) const;
  // Per vertex, which of the first "groups" vertices lead to it. REQUIRES: none are joined yet.
  std::vector<std::vector<bool>> GroupsBefore(int groups) const;
  // Vertices that stand for themselves, each after those that lead to it; without those on a cycle
  // and behind one.
  std::vector<int> Order() const;

 private:
  std::vector<int> joined_;
  std::vector<std::vector<int>> next_;
};

}  // namespace sextant

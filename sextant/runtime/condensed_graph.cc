#include "sextant/runtime/condensed_graph.h"

namespace sextant {

CondensedGraph::CondensedGraph(int groups, size_t nodes)
    : joined_(static_cast<size_t>(groups) + nodes), next_(joined_.size()) {
  for (size_t i = 0; i < joined_.size(); ++i) joined_[i] = static_cast<int>(i);
}

void CondensedGraph::AddEdge(int from, int to) {
  auto& list = next_[static_cast<size_t>(from)];
  if (from != to && (list.empty() || list.back() != to)) list.push_back(to);
}

int CondensedGraph::Find(int vertex) const {
  while (joined_[static_cast<size_t>(vertex)] != vertex)
    vertex = joined_[static_cast<size_t>(vertex)];
  return vertex;
}

void CondensedGraph::Join(int into, int other) {
  joined_[static_cast<size_t>(other)] = into;
  auto& list = next_[static_cast<size_t>(into)];
  const auto& more = next_[static_cast<size_t>(other)];
  list.insert(list.end(), more.begin(), more.end());
}

bool CondensedGraph::Reaches(int from, int to, int edges) const {
  std::vector<bool> seen(joined_.size());
  std::vector<int> stack;
  const auto visit = [&](int vertex) {
    if (seen[static_cast<size_t>(vertex)]) return;
    seen[static_cast<size_t>(vertex)] = true;
    stack.push_back(vertex);
  };
  for (const int raw : next_[static_cast<size_t>(from)]) {
    const int vertex = Find(raw);
    if (vertex == from) continue;
    if (vertex != to) {
      visit(vertex);
    } else if (edges < 2) {
      return true;
    }
  }
  while (!stack.empty()) {
    const int vertex = stack.back();
    stack.pop_back();
    for (const int raw : next_[static_cast<size_t>(vertex)]) {
      if (Find(raw) == to) return true;
      visit(Find(raw));
    }
  }
  return false;
}

std::vector<std::vector<bool>> CondensedGraph::GroupsBefore(int groups) const {
  std::vector<std::vector<bool>> before(joined_.size(),
                                        std::vector<bool>(static_cast<size_t>(groups)));
  for (const int vertex : Order()) {
    const auto from = static_cast<size_t>(vertex);
    for (const int raw : next_[from]) {
      auto& to = before[static_cast<size_t>(raw)];
      for (size_t g = 0; g < to.size(); ++g) to[g] = to[g] || before[from][g];
      if (vertex < groups) to[from] = true;
    }
  }
  return before;
}

std::vector<int> CondensedGraph::Order() const {
  std::vector<int> pending(joined_.size()), ready, order;
  const auto each_edge = [this](auto&& f) {
    for (size_t v = 0; v < next_.size(); ++v) {
      if (joined_[v] != static_cast<int>(v)) continue;
      for (const int raw : next_[v]) {
        if (Find(raw) != static_cast<int>(v)) f(static_cast<int>(v), Find(raw));
      }
    }
  };
  each_edge([&](int, int to) { ++pending[static_cast<size_t>(to)]; });
  for (size_t v = joined_.size(); v-- > 0;) {
    if (joined_[v] == static_cast<int>(v) && pending[v] == 0) ready.push_back(static_cast<int>(v));
  }
  while (!ready.empty()) {
    const int vertex = ready.back();
    ready.pop_back();
    order.push_back(vertex);
    for (const int raw : next_[static_cast<size_t>(vertex)]) {
      const int to = Find(raw);
      if (to != vertex && --pending[static_cast<size_t>(to)] == 0) ready.push_back(to);
    }
  }
  return order;
}

}  // namespace sextant

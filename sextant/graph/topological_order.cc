#include "sextant/graph/topological_order.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// Every node that still waits has an input that does: following these leads into a cycle.
[[noreturn]] void ThrowCycle(const std::vector<int>& waiting, VisitInputs inputs,
                             FunctionRef<std::string(int)> name) {
  const auto previous = [&](int i) {
    int found = -1;
    inputs(i, [&](int j) { found = waiting[j] > 0 ? j : found; });
    return found;
  };
  int i = static_cast<int>(
      std::find_if(waiting.begin(), waiting.end(), [](int w) { return w > 0; }) - waiting.begin());
  for (size_t steps = 0; steps < waiting.size(); ++steps) i = previous(i);
  constexpr int kMaxNamed = 8;
  std::string path = name(i);
  int length = 1;
  for (int j = previous(i); j != i; j = previous(j), ++length) {
    if (length < kMaxNamed) path.insert(0, name(j) + " -> ");
  }
  throw InvalidArgument("the graph has a cycle of {} nodes: {} -> {}{}", length, name(i),
                        length > kMaxNamed ? "... -> " : "", path);
}

}  // namespace

std::vector<int> TopologicalOrder(int count, VisitInputs inputs,
                                  FunctionRef<std::string(int)> name) {
  // Consumers of i are consumers[first[i]] ... consumers[first[i + 1] - 1].
  std::vector<int> waiting(count), first(count + 1);
  for (int i = 0; i < count; ++i) {
    inputs(i, [&](int j) {
      ++first[j + 1];
      ++waiting[i];
    });
  }
  for (int i = 0; i < count; ++i) first[i + 1] += first[i];
  std::vector<int> consumers(first[count]), next = first;
  for (int i = 0; i < count; ++i) {
    inputs(i, [&](int j) { consumers[next[j]++] = i; });
  }
  std::vector<int> order;
  order.reserve(count);
  for (int i = 0; i < count; ++i) {
    if (waiting[i] == 0) order.push_back(i);
  }
  for (size_t done = 0; done < order.size(); ++done) {
    const int i = order[done];
    for (int c = first[i]; c < first[i + 1]; ++c) {
      if (--waiting[consumers[c]] == 0) order.push_back(consumers[c]);
    }
  }
  if (static_cast<int>(order.size()) < count) ThrowCycle(waiting, inputs, name);
  return order;
}

}  // namespace sextant

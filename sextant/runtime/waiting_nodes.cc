// The answer to a call comes when all of its fragment has run. Example, a queue q and a variable w
// on ps 0, the arithmetic here:
//
//   d = Dequeue(q)    r = Read(w)    e = Enqueue(q, r * r)
//
// In one fragment with d, r would be answered when d has ended, which is when e has. Their classes
// are {d}, {} and {e}, so that each has a fragment of its own. What follows d has class {d}: it
// could not run before. Two dequeues keep their order, unless the first of them waits for more.
#include "sextant/runtime/waiting_nodes.h"

#include <algorithm>
#include <map>
#include <set>

#include "sextant/device/kernel_registry.h"
#include "sextant/runtime/effect_order.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

bool TakesHandle(const Node& node) {
  return std::ranges::any_of(node.inputs(),
                             [](const Output& input) { return input.dtype() == DType::kResource; });
}

// Nodes of other tasks that may wait for another that uses the same resource.
std::vector<const Node*> FindWaiting(const std::vector<Node*>& order,
                                     const std::vector<bool>& copied,
                                     const std::vector<int>& task) {
  using Resource = std::pair<int, std::string>;  // task, key
  std::map<Resource, int> uses;
  std::vector<const Node*> may_wait;
  const auto each_resource = [&](const Node* node, auto&& f) {
    for (const Output& input : node->inputs()) {
      if (input.dtype() == DType::kResource) f(Resource(task[IdOf(node)], ResourceKey(input)));
    }
  };
  for (const Node* node : order) {
    if (task[IdOf(node)] == 0 || !TakesHandle(*node) || !MayWait(*node)) continue;
    // A resource that the run itself makes cannot go from one fragment to another.
    if (!std::ranges::all_of(node->inputs(), [&](const Output& input) {
          return input.dtype() != DType::kResource || copied[IdOf(input.node())];
        }))
      continue;
    may_wait.push_back(node);
    each_resource(node, [&](const Resource& resource) { ++uses[resource]; });
  }
  std::erase_if(may_wait, [&](const Node* node) {
    bool shared = false;
    each_resource(node, [&](const Resource& resource) { shared |= uses[resource] > 1; });
    return !shared;
  });
  return may_wait;
}

}  // namespace

bool MayWait(const Node& node) {
  if (!node.op().stateful()) return false;
  const KernelDef* kernel = KernelRegistry::Global().Find(node, "CPU");
  return kernel != nullptr && kernel->may_block();
}

std::vector<int> WaitClasses(const std::vector<Node*>& order, const std::vector<bool>& copied,
                             const std::vector<int>& task,
                             std::vector<std::vector<Node*>>& effects) {
  std::vector<int> classes(order.size());
  const std::vector<const Node*> waiting = FindWaiting(order, copied, task);
  if (waiting.empty()) return classes;
  using Set = std::set<const Node*>;
  // Of those that may wait: what comes before a node, itself included; of that, what its inputs and
  // control inputs say.
  std::vector<Set> before(order.size()), by_edges(order.size());
  std::map<Set, int> numbers = {{Set(), 0}};
  const auto may_wait = [&](const Node* node) {
    return std::ranges::find(waiting, node) != waiting.end();
  };
  for (const Node* node : order) {
    if (copied[IdOf(node)]) continue;
    Set own;
    const auto add = [&](const Node* on) {
      own.insert(before[IdOf(on)].begin(), before[IdOf(on)].end());
    };
    for (const Output& input : node->inputs()) add(input.node());
    for (const Node* control : node->control_inputs()) add(control);
    by_edges[IdOf(node)] = own;
    std::erase_if(effects[IdOf(node)], [&](const Node* earlier) {
      return may_wait(earlier) && !std::ranges::includes(own, by_edges[IdOf(earlier)]);
    });
    for (const Node* earlier : effects[IdOf(node)]) add(earlier);
    if (may_wait(node)) own.insert(node);
    classes[IdOf(node)] = numbers.try_emplace(own, static_cast<int>(numbers.size())).first->second;
    before[IdOf(node)] = std::move(own);
  }
  return classes;
}

}  // namespace sextant

#include "sextant/dist/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "sextant/base/error.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/function_node.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/state/variable.h"

namespace sextant::dist {
namespace {

bool IsHandle(const Node& node) {
  return node.type() == "VarHandleOp" || node.type() == "VariableV2" || node.type() == "Variable";
}

// They read variables before their functions run, each from its own task.
bool OnlyCaptures(const Node& node) {
  return IsBranchOrLoop(node) || node.type().ends_with("PartitionedCall");
}

int64_t BytesOf(const Node& node) {
  const PartialShape& shape = node.attr<PartialShape>("shape");
  if (!shape.fully_known()) return 0;
  return shape.AsShape().num_elements() *
         static_cast<int64_t>(DTypeSize(node.attr<DType>("dtype")));
}

bool IsScalar(const Node& node) {
  const PartialShape& shape = node.attr<PartialShape>("shape");
  return !shape.fully_known() || shape.AsShape().num_elements() <= 1;
}

std::vector<Node*> HandlesToPlace(Graph& graph) {
  const GraphScope use(graph);
  std::set<const Node*> local;
  for (const Variable& variable : CollectedVariables(kLocalVariables))
    local.insert(variable.handle().node());
  std::vector<Node*> handles;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    Node* node = graph.node(i);
    if (!IsHandle(*node) || local.contains(node)) continue;
    if (!node->device().empty() && !DeviceName::Parse(node->device()).job.empty()) continue;
    handles.push_back(node);
  }
  return handles;
}

// Union-find over positions in `handles`.
class Groups {
 public:
  explicit Groups(size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), 0); }
  size_t Find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Unite(size_t a, size_t b) {
    a = Find(a), b = Find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<size_t> parent_;
};

struct Group {
  std::string name;  // the first of its names
  int64_t bytes = 0;
  bool scalars = true;
  std::vector<Node*> handles;
};

std::vector<Group> GroupHandles(const Graph& graph, const std::vector<Node*>& handles) {
  std::map<const Node*, size_t> position;
  for (size_t i = 0; i < handles.size(); ++i) position[handles[i]] = i;
  Groups groups(handles.size());
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node* node = graph.node(i);
    if (OnlyCaptures(*node)) continue;
    std::optional<size_t> first;
    for (const Output& input : node->inputs()) {
      const auto found = position.find(input.node());
      if (found == position.end()) continue;
      if (first) groups.Unite(*first, found->second);
      first = found->second;
    }
  }
  // A slot is named after its variable: "w/Momentum".
  std::map<std::string, size_t> names;
  for (size_t i = 0; i < handles.size(); ++i) names[handles[i]->name()] = i;
  for (size_t i = 0; i < handles.size(); ++i) {
    std::string name = handles[i]->name();
    for (size_t end = name.rfind('/'); end != std::string::npos; end = name.rfind('/')) {
      name.resize(end);
      const auto found = names.find(name);
      if (found == names.end()) continue;
      groups.Unite(found->second, i);
      break;
    }
  }
  std::map<size_t, Group> by_root;
  for (size_t i = 0; i < handles.size(); ++i) {
    Group& group = by_root[groups.Find(i)];
    const std::string& name = handles[i]->name();
    if (group.handles.empty() || name < group.name) group.name = name;
    group.bytes += BytesOf(*handles[i]);
    group.scalars = group.scalars && IsScalar(*handles[i]);
    group.handles.push_back(handles[i]);
  }
  std::vector<Group> all;
  for (auto& [root, group] : by_root) all.push_back(std::move(group));
  return all;
}

bool IsAssignment(const Node& node) {
  return node.type().starts_with("Assign") && node.num_inputs() == 2;
}

bool IsScalarWork(const Node& node) {
  if (node.op().stateful() || !node.device().empty() || node.num_outputs() == 0) return false;
  const auto scalar = [](const Output& x) { return x.shape().rank() == 0; };
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!scalar(node.output(i))) return false;
  }
  return std::ranges::all_of(node.inputs(), scalar);
}

// What computes the new value of a scalar from scalars, and nothing else, goes to its server: the
// step is then counted, and powers of betas are updated, in the call that runs the updates.
void PlaceScalarUpdates(Graph& graph) {
  std::map<const Node*, int> readers;
  for (int i = 0; i < graph.num_nodes(); ++i) {
    for (const Output& input : graph.node(i)->inputs()) ++readers[input.node()];
  }
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node* assignment = graph.node(i);
    if (!IsAssignment(*assignment)) continue;
    const Node& handle = *assignment->input(0).node();
    if (!IsHandle(handle) || !IsScalar(handle) || handle.device().empty()) continue;
    std::vector<Node*> work = {assignment->input(1).node()};
    while (!work.empty()) {
      Node* node = work.back();
      work.pop_back();
      if (readers[node] != 1 || !IsScalarWork(*node)) continue;
      graph.SetDevice(node, handle.device());
      for (const Output& input : node->inputs()) work.push_back(input.node());
    }
  }
}

}  // namespace

std::vector<int64_t> PlaceVariables(Graph& graph, const PlacementOptions& options) {
  if (options.num_ps < 1) throw InvalidArgument("variables need at least 1 parameter server");
  std::vector<Group> groups = GroupHandles(graph, HandlesToPlace(graph));
  if (!options.round_robin) {
    std::ranges::sort(groups, [](const Group& a, const Group& b) {
      return std::tuple(!a.scalars, -a.bytes, a.name) < std::tuple(!b.scalars, -b.bytes, b.name);
    });
  }
  std::vector<int64_t> bytes(options.num_ps);
  size_t next = 0;
  for (const Group& group : groups) {
    const size_t server =
        options.round_robin ? next++ % bytes.size()
        : group.scalars     ? 0
                            : static_cast<size_t>(std::ranges::min_element(bytes) - bytes.begin());
    bytes[server] += group.bytes;
    for (Node* handle : group.handles) {
      const DeviceName task = DeviceName::Parse(fmt::format("/job:ps/task:{}", server));
      const DeviceName own =
          handle->device().empty() ? DeviceName() : DeviceName::Parse(handle->device());
      graph.SetDevice(handle, task.Override(own).ToString());
    }
  }
  PlaceScalarUpdates(graph);
  return bytes;
}

}  // namespace sextant::dist

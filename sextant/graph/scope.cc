#include "sextant/graph/scope.h"

#include <fmt/format.h>

#include "sextant/graph/attachment.h"
#include "sextant/graph/device_name.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/thread_scopes.h"
#include "sextant/graph/variable_scope_names.h"

namespace sextant {

// A DeviceScope with a function.
struct DeviceChooser {
  DeviceFunction function;
  std::string device;                          // of the DeviceScopes around it, up to "outer"
  std::shared_ptr<const DeviceChooser> outer;  // the next one
};

namespace {

thread_local ScopeState current;
thread_local std::string variable_scope;
thread_local Reuse variable_reuse = Reuse::kFalse;
thread_local std::vector<ScopeCounts> open_scopes;

// Outside of all scopes a name counts for the whole graph.
ScopeCounts& CurrentCounts() {
  if (!open_scopes.empty()) return open_scopes.back();
  const Graph* graph = &CurrentGraph();
  while (graph->outer() != nullptr) graph = graph->outer();
  return *AttachedTo<ScopeCounts>(*graph, "variable scopes");
}

}  // namespace

const ScopeState& CurrentScope() {
  if (!current.graph) {
    throw FailedPrecondition(
        "no GraphScope is open on this thread; open one before building nodes");
  }
  return current;
}

bool HasCurrentScope() { return current.graph != nullptr; }
Graph& CurrentGraph() { return *CurrentScope().graph; }

Scope::Scope() : previous_(current) {}
Scope::~Scope() { current = std::move(previous_); }
ScopeState& Scope::state() { return current; }

GraphScope::GraphScope(Graph& graph) {
  state() = ScopeState();
  state().graph = &graph;
}

NameScope::NameScope(std::string_view name) {
  if (name.empty()) {
    name_.clear();
  } else if (name.ends_with('/')) {
    name_ = name;
  } else {
    name_ = CurrentGraph().UniqueName(CurrentScope().name + std::string(name)) + "/";
  }
  state().name = name_;
}

DeviceScope::DeviceScope(std::string_view device) {
  if (device.empty()) {
    state().device.clear();
    state().chooser.reset();
    return;
  }
  const DeviceName inner = DeviceName::Parse(device);
  state().device = DeviceName::Parse(state().device).Override(inner).ToString();
}

DeviceScope::DeviceScope(DeviceFunction function) {
  if (!function) throw InvalidArgument("a DeviceScope needs a device or a function that gives one");
  state().chooser = std::make_shared<DeviceChooser>(
      DeviceChooser{std::move(function), state().device, state().chooser});
  state().device.clear();
}

void ApplyDeviceScopes(NodeSpec& node) {
  const ScopeState& scope = CurrentScope();
  node.device = scope.device;
  for (const DeviceChooser* next = scope.chooser.get(); next; next = next->outer.get()) {
    const DeviceName chosen = DeviceName::Parse(next->function(node));
    node.device = DeviceName::Parse(next->device).Override(chosen).ToString();
  }
}

ControlDependencies::ControlDependencies(const std::vector<Operation>& inputs) {
  if (inputs.empty()) state().control_inputs.clear();
  for (const Operation& input : inputs) state().control_inputs.push_back(input.node());
}

CollectionScope::CollectionScope(std::string_view collection) {
  state().collections.emplace_back(collection);
}

VariableScope::VariableScope(std::string_view name, Reuse reuse)
    : previous_name_(variable_scope),
      previous_reuse_(variable_reuse),
      name_scope_(name.empty() ? std::string_view(CurrentScope().name) : name) {
  if (!name.empty()) {
    variable_scope += std::string(name) + "/";
    ++CurrentCounts()[std::string(name)];
  }
  if (reuse != Reuse::kInherit) variable_reuse = reuse;
  open_scopes.emplace_back();
}

VariableScope::~VariableScope() {
  open_scopes.pop_back();
  variable_scope = std::move(previous_name_);
  variable_reuse = previous_reuse_;
}

const std::string& VariableScope::CurrentName() { return variable_scope; }
Reuse VariableScope::CurrentReuse() { return variable_reuse; }

ThreadScopes::ThreadScopes()
    : state(CurrentScope()),
      variable_scope(sextant::variable_scope),
      reuse(variable_reuse),
      counts(open_scopes) {
  if (counts.empty()) counts.push_back(CurrentCounts());
}

void OpenScopes(const ThreadScopes& scopes) {
  current = scopes.state;
  variable_scope = scopes.variable_scope;
  variable_reuse = scopes.reuse;
  open_scopes = scopes.counts;
}

std::string FreeVariableScopeName(std::string_view default_name) {
  const ScopeCounts& counts = CurrentCounts();
  std::string name(default_name);
  for (int i = 1; counts.contains(name); ++i) name = fmt::format("{}_{}", default_name, i);
  return name;
}

}  // namespace sextant

#include "sextant/graph/scope.h"

#include "sextant/graph/device_name.h"
#include "sextant/graph/graph.h"

namespace sextant {
namespace {

thread_local ScopeState current;
thread_local std::string variable_scope;
thread_local Reuse variable_reuse = Reuse::kFalse;

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
    return;
  }
  const DeviceName inner = DeviceName::Parse(device);
  state().device = DeviceName::Parse(state().device).Override(inner).ToString();
}

ControlDependencies::ControlDependencies(const std::vector<Operation>& inputs) {
  if (inputs.empty()) state().control_inputs.clear();
  for (const Operation& input : inputs) state().control_inputs.push_back(input.node());
}

CollectionScope::CollectionScope(std::string_view collection) {
  state().collections.emplace_back(collection);
}

VariableScope::VariableScope(std::string_view name, Reuse reuse)
    : previous_name_(variable_scope), previous_reuse_(variable_reuse), name_scope_(name) {
  variable_scope += std::string(name) + "/";
  if (reuse != Reuse::kInherit) variable_reuse = reuse;
}

VariableScope::~VariableScope() {
  variable_scope = std::move(previous_name_);
  variable_reuse = previous_reuse_;
}

const std::string& VariableScope::CurrentName() { return variable_scope; }
Reuse VariableScope::CurrentReuse() { return variable_reuse; }

}  // namespace sextant

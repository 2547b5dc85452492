// Scopes: RAII objects that stand for Python's `with`. Builders take graph, name, device and
// control inputs from the scopes that are open on their thread.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

class Graph;
struct NodeSpec;
struct DeviceChooser;

// The device of a node that is about to be made. The node (graph.h) is complete but for its device,
// which is what DeviceScopes inside that of the function ask for; usually it is put over the
// function's own choice (DeviceName::Override).
using DeviceFunction = std::function<std::string(const NodeSpec& node)>;

// What the open scopes of this thread add up to.
struct SEXTANT_API ScopeState {
  Graph* graph = nullptr;
  std::string name;                              // "a/b/" or ""
  std::string device;                            // merged device string, inside of "chooser"
  std::shared_ptr<const DeviceChooser> chooser;  // the innermost DeviceFunction
  std::vector<Node*> control_inputs;             // for new nodes
  std::vector<std::string> collections;          // every variable made here goes to these
};

// State of the innermost scopes. Throws FAILED_PRECONDITION when no GraphScope is open.
const ScopeState& CurrentScope();
bool HasCurrentScope();
Graph& CurrentGraph();

// Base: remembers the state before and puts it back. Scopes are destroyed in reverse order of
// creation.
class SEXTANT_API Scope {
 public:
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 protected:
  Scope();
  ~Scope();
  ScopeState& state();  // of the thread

 private:
  ScopeState previous_;
};

// Builders build in "graph": name, device and control scopes start afresh.
class SEXTANT_API GraphScope : public Scope {
 public:
  explicit GraphScope(Graph& graph);
};

// Prefixes names with "name/", made unique in the graph ("name_1/"). An empty name leaves all
// scopes; a name that ends in "/" re-enters that scope as it is.
class SEXTANT_API NameScope : public Scope {
 public:
  explicit NameScope(std::string_view name);
  const std::string& name() const { return name_; }  // "a/b/"

 private:
  std::string name_;
};

// "/gpu:1", "/job:ps/task:0", …; parts given inside override those outside; "" clears. A function
// chooses for each node; train/device_setter.h makes usual ones.
class SEXTANT_API DeviceScope : public Scope {
 public:
  explicit DeviceScope(std::string_view device);
  explicit DeviceScope(DeviceFunction function);
};
// Sets the node's device to what the open DeviceScopes say; the node is complete otherwise.
void ApplyDeviceScopes(NodeSpec& node);

// Nodes made inside run after these. An empty list clears the outer ones.
class SEXTANT_API ControlDependencies : public Scope {
 public:
  explicit ControlDependencies(const std::vector<Operation>& inputs);
};

// Variables made inside are added to the collection too.
class SEXTANT_API CollectionScope : public Scope {
 public:
  explicit CollectionScope(std::string_view collection);
};

// Variable names: "name/" in front, whatever the name scope; also opens a NameScope. With reuse,
// an existing variable of the graph is returned instead of making one (ops/state/variable.h). An
// empty name stays in the current variable scope and name scope, and only sets the reuse.
enum class Reuse { kInherit, kFalse, kTrue, kAuto };
class SEXTANT_API VariableScope {
 public:
  explicit VariableScope(std::string_view name, Reuse reuse = Reuse::kInherit);
  ~VariableScope();
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;

  static const std::string& CurrentName();  // "a/b/" or ""
  static Reuse CurrentReuse();              // of the innermost scope

 private:
  std::string previous_name_;
  Reuse previous_reuse_;
  NameScope name_scope_;
};

}  // namespace sextant

#pragma GCC visibility pop

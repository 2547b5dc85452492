// Functions: bodies that If, While and call nodes refer to by name.
//
// A Function exists as a FunctionDef (imported), as a body Graph (built here), or as both: each
// form is made from the other when first asked for. In a body the node for argument i is "_Arg"
// with attr index = i. Functions are immutable and thread-safe; a FunctionLibrary is as thread-safe
// as a std::vector.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/attr.h"
#include "sextant/graph/op_def.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class FunctionDef;
class OpDef;
}  // namespace sextant::proto

namespace sextant {

class FunctionLibrary;
class Graph;
class OpRegistry;

// The body of a function, ready to be inlined, run or differentiated.
struct SEXTANT_API FunctionBody {
  std::unique_ptr<Graph> graph;  // its body
  std::vector<Output> args;      // the _Arg nodes
  std::vector<Output> results;   // what the function returns
  // Nodes that must run though nobody reads them: those of control_ret and all stateful ones.
  std::vector<Operation> effects;
  FunctionBody();
  ~FunctionBody();
  FunctionBody(FunctionBody&&) noexcept;
  FunctionBody& operator=(FunctionBody&&) noexcept;
};

class SEXTANT_API Function {
 public:
  Function(std::unique_ptr<proto::FunctionDef> def);  // NOLINT
  Function(std::string name, std::shared_ptr<const FunctionBody> body);
  ~Function();

  const std::string& name() const { return name_; }
  // The signature as an op, for nodes whose op is the function's name.
  const OpDef& signature() const;
  // The body with the function's attributes set. "library" resolves calls inside it. Bodies made
  // without attributes are kept.
  // Throws INVALID_ARGUMENT on a malformed body, NOT_FOUND on an op type that is not registered,
  // naming function and node.
  std::shared_ptr<const FunctionBody> Instantiate(const FunctionLibrary& library,
                                                  const AttrMap& attrs = {}) const;
  const proto::FunctionDef& def() const;

 private:
  friend class FunctionLibrary;
  // Names of the functions and ops that the body uses.
  const std::vector<std::string>& callees() const;

  std::string name_;
  mutable std::mutex mutex_;  // guards those below, which never change once set
  mutable std::unique_ptr<proto::FunctionDef> def_;
  mutable std::unique_ptr<OpDef> signature_;
  mutable std::shared_ptr<const FunctionBody> body_;  // without attributes
  mutable std::unique_ptr<std::vector<std::string>> callees_;
};

// Copies are cheap: they share their content until one of them changes.
class SEXTANT_API FunctionLibrary {
 public:
  FunctionLibrary();
  // Replaces one of the same name only when "replace"; else throws ALREADY_EXISTS. One that was
  // replaced lives on for the nodes that call it.
  void Add(std::shared_ptr<const Function> function, bool replace = false);
  // A name that is free, starting from "base".
  std::string UniqueName(const std::string& base) const;
  const Function* Find(std::string_view name) const;
  // Throws NOT_FOUND.
  const Function& Get(std::string_view name) const;
  // In the order they were added.
  const std::vector<std::shared_ptr<const Function>>& all() const { return state_->functions; }
  bool empty() const { return state_->functions.empty(); }
  // All functions of "other" that are not here yet.
  void AddAll(const FunctionLibrary& other);
  // The part of the library that "function" needs, itself only if it is recursive.
  FunctionLibrary ReachableFrom(const Function& function) const;
  // The part that these nodes need.
  FunctionLibrary ReachableFrom(const std::vector<Node*>& nodes) const;

  // Function → name of its gradient function (GradientDef).
  void SetGradient(const std::string& function, const std::string& gradient);
  const std::string* FindGradient(std::string_view function) const;
  const std::vector<std::pair<std::string, std::string>>& gradients() const {
    return state_->gradients;
  }

 private:
  struct State {
    std::vector<std::shared_ptr<const Function>> functions, replaced;
    std::unordered_map<std::string_view, size_t> by_name;  // keys point into the functions
    std::vector<std::pair<std::string, std::string>> gradients;
  };
  State& Change();
  FunctionLibrary ReachableFrom(const std::vector<std::string>& names) const;

  std::shared_ptr<State> state_;
};

// Adds _Arg, _Retval and _Feed, the ends of function bodies and plans.
void RegisterFunctionOps(OpRegistry& registry);

// The signature of an imported function. Throws INVALID_ARGUMENT on a malformed one.
OpDef OpDefFromProto(const proto::OpDef& proto);

// Body of an imported function, and definition of a function built here; used by Function.
FunctionBody BodyFromDef(const proto::FunctionDef& def, const FunctionLibrary& library,
                         const AttrMap& attrs);
proto::FunctionDef DefFromBody(const std::string& name, const FunctionBody& body);

}  // namespace sextant

#pragma GCC visibility pop

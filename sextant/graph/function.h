// Functions: bodies that If, While and call nodes refer to by name.
//
// A Function exists as a FunctionDef (imported), as a body Graph (built here), or as both: each form is
// made from the other when first asked for. In a body the node for argument i is "_Arg" with attr index = i.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/graph/attr.h"
#include "sextant/graph/op_def.h"
#include "sextant/graph/output.h"

namespace tensorflow {
class FunctionDef;
class FunctionDefLibrary;
}  // namespace tensorflow

namespace sextant {

class FunctionLibrary;
class Graph;

// The body of a function, ready to be inlined, run or differentiated.
struct FunctionBody {
  std::unique_ptr<Graph> graph;
  std::vector<Output> args;          // the _Arg nodes
  std::vector<Output> results;       // what the function returns
  std::vector<Operation> effects;    // nodes that must run though nobody reads them (control_ret)
  FunctionBody();
  ~FunctionBody();
  FunctionBody(FunctionBody&&) noexcept;
  FunctionBody& operator=(FunctionBody&&) noexcept;
};

class Function {
 public:
  Function(std::unique_ptr<tensorflow::FunctionDef> def);              // NOLINT
  Function(std::string name, std::shared_ptr<const FunctionBody> body);
  ~Function();

  const std::string& name() const { return name_; }
  // The signature as an op, for nodes whose op is the function's name.
  const OpDef& signature() const;
  // The body with the function's attributes set. "library" resolves calls inside it.
  // Throws INVALID_ARGUMENT, naming function and node, on a malformed body.
  std::shared_ptr<const FunctionBody> Instantiate(const FunctionLibrary& library,
                                                  const AttrMap& attrs = {}) const;
  const tensorflow::FunctionDef& def() const;

 private:
  std::string name_;
  mutable std::mutex mutex_;
  mutable std::unique_ptr<tensorflow::FunctionDef> def_;
  mutable std::unique_ptr<OpDef> signature_;
  mutable std::shared_ptr<const FunctionBody> body_;  // without attributes
};

class FunctionLibrary {
 public:
  FunctionLibrary();
  ~FunctionLibrary();
  // Replaces one of the same name only when "replace"; else throws ALREADY_EXISTS.
  void Add(std::shared_ptr<const Function> function, bool replace = false);
  // A name that is free, starting from "base".
  std::string UniqueName(const std::string& base) const;
  const Function* Find(std::string_view name) const;
  // Throws NOT_FOUND.
  const Function& Get(std::string_view name) const;
  // In the order they were added.
  const std::vector<std::shared_ptr<const Function>>& all() const { return functions_; }
  bool empty() const { return functions_.empty(); }
  // All functions of "other" that are not here yet.
  void AddAll(const FunctionLibrary& other);

  // Function → name of its gradient function (GradientDef).
  void SetGradient(const std::string& function, const std::string& gradient);
  const std::string* FindGradient(std::string_view function) const;
  const std::vector<std::pair<std::string, std::string>>& gradients() const { return gradients_; }

 private:
  std::vector<std::shared_ptr<const Function>> functions_;
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<std::pair<std::string, std::string>> gradients_;
};

}  // namespace sextant

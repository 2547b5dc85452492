// VarHandleOp, ReadVariableOp, AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp:
// variables, values that live in the session from run to run.
//
//   Variable w("w", Tensor::Of<float>({1, 2}));      // or an Output, or a function that builds one
//   Output y = w + x;                                // reads it
//   Output step = w.AssignAdd(delta);
//   session.Run(GlobalVariablesInitializer());
//
// Nodes are named as TensorFlow names them: "w" is the handle, "w/Initializer/…" what makes the
// initial value, "w/Assign" stores it, "w/Read/ReadVariableOp" reads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/output.h"
#include "sextant/graph/scope.h"

#pragma GCC visibility push(default)

namespace sextant {

// Names of the collections that every variable, and every trainable one, is in.
inline constexpr const char* kGlobalVariables = "variables";
inline constexpr const char* kLocalVariables = "local_variables";
inline constexpr const char* kTrainableVariables = "trainable_variables";

struct SEXTANT_API VariableOptions {
  bool trainable = true;
  // Instead of kGlobalVariables; those of CollectionScopes come on top.
  std::vector<std::string> collections = {kGlobalVariables};
  // As declared; by default the static shape of the initial value. Values assigned later must fit.
  std::optional<PartialShape> shape = {};
};

class SEXTANT_API Variable {
 public:
  using Initializer = std::function<Output()>;  // adds the nodes of the first value

  Variable() = default;
  // Makes a variable in the current graph (the outermost one, inside a function body), named by the
  // name scope, "w_1" if "w" is taken. The initializer runs in the scope "w/Initializer", free of
  // control dependencies.
  Variable(std::string_view name, const Tensor& initial_value, const VariableOptions& options = {});
  Variable(std::string_view name, Output initial_value, const VariableOptions& options = {});
  Variable(std::string_view name, const Initializer& initializer,
           const VariableOptions& options = {});
  // The variable behind the output of a VarHandleOp, e.g. of an imported graph.
  static Variable FromHandle(Output handle);

  explicit operator bool() const { return static_cast<bool>(handle_); }
  const std::string& name() const { return handle_.node()->name(); }
  DType dtype() const { return info().dtype; }
  const PartialShape& shape() const { return info().shape; }
  Output handle() const { return handle_; }
  // Stores the initial value; none when a variable of an imported graph has none by the usual name.
  Operation initializer() const { return initializer_; }
  Output is_initialized() const;

  // A read made here and now: sees the assignments that the current control dependencies name.
  Output Read() const;
  // The read made with the variable; Read() under control dependencies and in function bodies.
  Output value() const;
  operator Output() const { return value(); }  // NOLINT: variables are used as tensors

  // Change the variable and give its value afterwards.
  Output Assign(Output value) const { return Update("AssignVariableOp", value); }
  Output AssignAdd(Output value) const { return Update("AssignAddVariableOp", value); }
  Output AssignSub(Output value) const { return Update("AssignSubVariableOp", value); }

 private:
  void Create(std::string_view name, const Initializer& initializer,
              const VariableOptions& options);
  const HandleShape& info() const { return *handle_.node()->output_handle(handle_.index()); }
  Output Update(const char* op, Output value) const;

  friend Variable GetVariable(std::string_view, const Initializer&, const VariableOptions&);
  Output handle_, read_;
  Operation initializer_;
};

// The variable called "name" in the current VariableScope, whatever the name scope is: made, or, as
// the scope's Reuse says, found. Throws INVALID_ARGUMENT when it exists and may not be reused, must
// be reused and does not exist, or has another shape than options.shape.
Variable GetVariable(std::string_view name, const Variable::Initializer& initializer,
                     const VariableOptions& options = {});

// The variables in a collection of the current graph, in the order they were made; with a scope,
// those whose names begin with it.
std::vector<Variable> CollectedVariables(std::string_view collection = kGlobalVariables,
                                         std::string_view scope = "");
// One operation that initialises all of them.
Operation VariablesInitializer(const std::vector<Variable>& variables,
                               std::string_view name = "init");
inline Operation GlobalVariablesInitializer() { return VariablesInitializer(CollectedVariables()); }

// The single ops, on handles. ReadVariable's type is the handle's.
Output VarHandle(DType dtype, const PartialShape& shape, std::string_view name = "VarHandleOp");
Output ReadVariable(Output handle);
Operation AssignVariable(Output handle, Output value);
Output VariableShape(Output handle, DType out_type = DType::kInt32);

}  // namespace sextant

#pragma GCC visibility pop

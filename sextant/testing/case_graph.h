// A case of the tables as a graph that can be run and differentiated.
#pragma once

#include <memory>
#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/graph/output.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/op_case.h"

namespace sextant::testing {

// What the placeholders say of their shapes.
enum class StaticShapes { kFull, kFirstUnknown, kNone };
inline constexpr StaticShapes kAllStaticShapes[] = {
    StaticShapes::kFull, StaticShapes::kFirstUnknown, StaticShapes::kNone};
const char* StaticShapesName(StaticShapes shapes);

class CaseGraph {
 public:
  // An input that can be varied: fed through "feed", and what a gradient is taken with respect to
  // ("x": the same tensor, or the variable that is given the value).
  struct Input {
    Output feed;
    Output x;
    Tensor value;
  };

  // With "constants", inputs that would be placeholders are Const nodes. Throws what the builders
  // throw.
  CaseGraph(const OpCase& op_case, StaticShapes shapes, bool constants = false);

  Graph& graph() { return graph_; }
  // The op under test.
  Node* node() const { return node_; }
  // Its outputs that hold numbers, bools or strings.
  const std::vector<Output>& outputs() const { return outputs_; }
  const std::vector<Input>& inputs() const { return inputs_; }
  // What gives the variables their values.
  const std::vector<Operation>& initializers() const { return initializers_; }

  // Gives the variables their values, then computes the fetches and runs the op.
  std::vector<Tensor> Run(Session& session, const std::vector<Output>& fetches) const {
    return Run(session, inputs_, fetches);
  }
  // The same with other values of the inputs.
  std::vector<Tensor> Run(Session& session, const std::vector<Input>& inputs,
                          const std::vector<Output>& fetches) const;

 private:
  Node* Build(const CaseCall& call);
  Output Build(const CaseInput& input);
  Output BuildPlaceholder(const Tensor& value, StaticShapes shapes);
  Output BuildVariable(const Tensor& value);
  Output BuildRefVariable(const Tensor& value);

  Graph graph_;
  StaticShapes shapes_;
  bool constants_;
  std::vector<Input> inputs_;
  std::vector<Operation> initializers_;
  Node* node_;
  std::vector<Output> outputs_;
};

}  // namespace sextant::testing

// Rewriting a large graph ends soon after its planning is cancelled.
#include <gtest/gtest.h>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/inline_functions.h"
#include "sextant/graph/passes/resolve_references.h"
#include "sextant/graph/passes/structure_loops.h"

namespace sextant {
namespace {

const std::string kFloatType = "attr { key: 'T' value { type: DT_FLOAT } } ";
const std::string kFloatInput =
    "node { name: 'a' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }";

template <typename Pass>
Code Cancelled(const std::string& text, const Pass& pass) {
  Graph graph;
  ImportGraphDefText(text, graph);
  CancellationToken token;
  token.Cancel(Status(Code::kDeadlineExceeded, "too late"));
  const CancellationScope scope(&token);
  try {
    pass(graph);
  } catch (const Error& e) {
    return e.code();
  }
  return Code::kOk;
}

TEST(PassesCancellationTest, EveryPassAsks) {
  EXPECT_EQ(
      Cancelled(kFloatInput,
                [](Graph& graph) { CopySubgraph(graph, {}, {graph.FindOutput("a:0")}, {}, ""); }),
      Code::kDeadlineExceeded);
  const std::string call =
      kFloatInput +
      "node { name: 'call' op: 'f' input: 'a' } library { function { signature { name: 'f' "
      "input_arg { name: 'x' type: DT_FLOAT } output_arg { name: 'y' type: DT_FLOAT } } "
      "node_def { name: 'n' op: 'Neg' input: 'x' " +
      kFloatType + "} ret { key: 'y' value: 'n:y:0' } } }";
  EXPECT_EQ(Cancelled(call, InlineFunctions), Code::kDeadlineExceeded);
  const std::string variable =
      "node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } } "
      "attr { key: 'shape' value { shape { } } } }";
  EXPECT_EQ(Cancelled(variable, ResolveReferences), Code::kDeadlineExceeded);
  const std::string loop =
      kFloatInput + "node { name: 'enter' op: 'Enter' input: 'a' " + kFloatType +
      "attr { key: 'frame_name' value { s: 'f' } } } node { name: 'exit' op: 'Exit' "
      "input: 'enter' " +
      kFloatType + "}";
  EXPECT_EQ(Cancelled(loop, StructureLoops), Code::kDeadlineExceeded);
}

}  // namespace
}  // namespace sextant

// The expected values are TensorFlow's, for graphs of tf.cond with control flow v2 and of raw If.
#include "sextant/runtime/lowered_branches.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph_def.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

const char* const kFloat = "attr { key: 'dtype' value { type: DT_FLOAT } } ";

std::string FloatConst(const char* kind, const std::string& name, float value) {
  return std::string(kind) + " { name: '" + name + "' op: 'Const' " + kFloat +
         "attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: " +
         std::to_string(value) + " } } } }\n";
}

// if (p) { v += 5; return (2, 4 after the change); } else return (3, 3).
std::string Branch(const std::string& name, const std::string& nodes, const std::string& first,
                   const std::string& second, const std::string& more = "",
                   const std::string& signature = "") {
  return "function { signature { name: '" + name +
         "' input_arg { name: 'h' type: DT_RESOURCE } output_arg { name: 'a' type: DT_FLOAT } "
         "output_arg { name: 'b' type: DT_FLOAT } is_stateful: true " +
         signature + "} " + nodes + "ret { key: 'a' value: '" + first +
         "' } ret { key: 'b' value: '" + second + "' } " + more + " }\n";
}

struct Case {
  bool lowered, control_result;
};

class LoweredBranchesTest : public testing::Test {
 protected:
  // v after running the fetches, which starts as 1.
  float After(const Case& c, const std::vector<std::string>& fetches,
              const std::vector<std::string>& targets = {}) {
    const std::string then_nodes =
        FloatConst("node_def", "two", 2) + FloatConst("node_def", "four", 4) +
        FloatConst("node_def", "five", 5) +
        "node_def { name: 'add' op: 'AssignAddVariableOp' input: 'h' input: 'five:output:0' " +
        kFloat +
        "}\n node_def { name: 'late' op: 'Identity' input: 'four:output:0' input: '^add' attr { "
        "key: 'T' value { type: DT_FLOAT } } }\n";
    const std::string listed = "control_ret { key: 'add' value: 'add' }";
    const std::string functions =
        Branch("then", then_nodes, "two:output:0", "late:output:0", c.control_result ? listed : "",
               c.control_result ? "control_output: 'add' " : "") +
        Branch("else", FloatConst("node_def", "three", 3), "three:output:0", "three:output:0");
    const std::string text =
        "node { name: 'v' op: 'VarHandleOp' attr { key: 'shared_name' value { s: 'v' } } " +
        std::string(kFloat) + "attr { key: 'shape' value { shape { } } } }\n" +
        FloatConst("node", "one", 1) +
        "node { name: 'init' op: 'AssignVariableOp' input: 'v' input: 'one' " + kFloat +
        "}\n node { name: 'read' op: 'ReadVariableOp' input: 'v' " + kFloat +
        "}\n node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } attr "
        "{ key: 'shape' value { shape { } } } }\n node { name: 'y' op: 'If' input: 'p' input: 'v' "
        "attr { key: 'Tcond' value { type: DT_BOOL } } attr { key: 'Tin' value { list { type: "
        "DT_RESOURCE } } } attr { key: 'Tout' value { list { type: DT_FLOAT type: DT_FLOAT } } } "
        "attr { key: 'then_branch' value { func { name: 'then' } } } attr { key: 'else_branch' "
        "value { func { name: 'else' } } } " +
        (c.lowered ? "attr { key: '_lower_using_switch_merge' value { b: true } } " : "") +
        "} library { " + functions + " }";
    Graph graph;
    ImportGraphDefText(text, graph);
    Session session(graph);
    session.Run(graph.FindOperation("init"));
    values_.clear();
    for (const Tensor& t : session.Run(NamedFeeds{{"p:0", Tensor(true)}}, fetches, targets)) {
      values_.push_back(t.scalar<float>());
    }
    return session.Run(graph.FindOutput("read:0")).scalar<float>();
  }

  std::vector<float> values_;
};

TEST_F(LoweredBranchesTest, OnlyWhatIsNeededRunsInTheGraphItself) {
  const Case lowered{.lowered = true, .control_result = false};
  EXPECT_EQ(After(lowered, {"y:0"}), 1);
  EXPECT_EQ(values_, std::vector<float>{2});
  EXPECT_EQ(After(lowered, {"y:1"}), 6);
  EXPECT_EQ(values_, std::vector<float>{4});
  EXPECT_EQ(After(lowered, {"y:0", "y:1"}), 6);
  EXPECT_EQ(values_, (std::vector<float>{2, 4}));
  EXPECT_EQ(After(lowered, {}, {"y"}), 1);
}

TEST_F(LoweredBranchesTest, ControlResultsAndCalledFunctionsRunTheirEffects) {
  EXPECT_EQ(After({.lowered = true, .control_result = true}, {"y:0"}), 6);
  EXPECT_EQ(After({.lowered = true, .control_result = true}, {}, {"y"}), 6);
  EXPECT_EQ(After({.lowered = false, .control_result = false}, {"y:0"}), 6);
  EXPECT_EQ(After({.lowered = false, .control_result = true}, {}, {"y"}), 6);
}

}  // namespace
}  // namespace sextant

// The expected values are TensorFlow 2.15's for the same graphs. Nested branches and loops, and
// inputs that are not needed: testdata/golden/ops/lowered.tfrecord.
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

const char* const kVariable =
    "node { name: 'v' op: 'VarHandleOp' attr { key: 'shared_name' value { s: 'v' } } attr { key: "
    "'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape { } } } }\n";

// The functions 'then' and 'else' of Branch.
std::string Branches(const Case& c) {
  const std::string then_nodes =
      FloatConst("node_def", "two", 2) + FloatConst("node_def", "four", 4) +
      FloatConst("node_def", "five", 5) +
      "node_def { name: 'add' op: 'AssignAddVariableOp' input: 'h' input: 'five:output:0' " +
      kFloat +
      "}\n node_def { name: 'late' op: 'Identity' input: 'four:output:0' input: '^add' attr { "
      "key: 'T' value { type: DT_FLOAT } } }\n";
  const std::string listed = "control_ret { key: 'add' value: 'add' }";
  return Branch("then", then_nodes, "two:output:0", "late:output:0", c.control_result ? listed : "",
                c.control_result ? "control_output: 'add' " : "") +
         Branch("else", FloatConst("node_def", "three", 3), "three:output:0", "three:output:0");
}

// Readers of both outputs, and one that only waits.
std::string Readers(const std::string& first_type = "DT_FLOAT") {
  return "node { name: 'i0' op: 'Identity' input: 'y:0' attr { key: 'T' value { type: " +
         first_type +
         " } } }\nnode { name: 'i1' op: 'Identity' input: 'y:1' attr { key: 'T' value { type: "
         "DT_FLOAT } } }\n"
         "node { name: 'after' op: 'Identity' input: 'one' input: '^y' attr { key: 'T' value { "
         "type: "
         "DT_FLOAT } } }\n";
}

std::string Lowered(const Case& c) {
  return c.lowered ? "attr { key: '_lower_using_switch_merge' value { b: true } } " : "";
}

std::string IfGraph(const Case& c, const std::string& op) {
  return "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_BOOL } } attr { "
         "key: 'shape' value { shape { } } } }\n node { name: 'y' op: '" +
         op +
         "' input: 'p' input: 'v' "
         "attr { key: 'Tcond' value { type: DT_BOOL } } attr { key: 'Tin' value { list { type: "
         "DT_RESOURCE } } } attr { key: 'Tout' value { list { type: DT_FLOAT type: DT_FLOAT } } } "
         "attr { key: 'then_branch' value { func { name: 'then' } } } attr { key: 'else_branch' "
         "value { func { name: 'else' } } } " +
         Lowered(c) + "} " + Readers() + "library { " + Branches(c) + " }";
}

std::string CaseGraph(const Case& c, const std::string& op) {
  return "node { name: 'p' op: 'Placeholder' attr { key: 'dtype' value { type: DT_INT32 } } attr { "
         "key: 'shape' value { shape { } } } }\n node { name: 'y' op: '" +
         op +
         "' input: 'p' input: 'v' "
         "attr { key: 'Tin' value { list { type: DT_RESOURCE } } } attr { key: 'Tout' value { list "
         "{ type: DT_FLOAT type: DT_FLOAT } } } attr { key: 'branches' value { list { func { name: "
         "'else' } func { name: 'then' } } } } " +
         Lowered(c) + "} " + Readers() + "library { " + Branches(c) + " }";
}

std::string IntConst(const char* kind, const std::string& name, int value) {
  return std::string(kind) + " { name: '" + name +
         "' op: 'Const' attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { "
         "tensor { dtype: DT_INT32 tensor_shape { } int_val: " +
         std::to_string(value) + " } } } }\n";
}

// for (i = 0, x = 1; i < 3; ++i) { v += 5; x *= 2; }, where x waits for v if "waits".
std::string WhileGraph(const Case& c, bool waits = false) {
  const std::string arguments =
      "input_arg { name: 'i' type: DT_INT32 } input_arg { name: 'x' type: DT_FLOAT } input_arg { "
      "name: 'h' type: DT_RESOURCE } is_stateful: true ";
  const std::string integers = "attr { key: 'T' value { type: DT_INT32 } } ";
  const std::string cond =
      "function { signature { name: 'cond' " + arguments +
      "output_arg { name: 'c' type: DT_BOOL } } " + IntConst("node_def", "three", 3) +
      "node_def { name: 'less' op: 'Less' input: 'i' input: 'three:output:0' " + integers +
      "} ret { key: 'c' value: 'less:z:0' } }\n";
  const std::string body =
      "function { signature { name: 'body' " + arguments +
      "output_arg { name: 'ni' type: DT_INT32 } output_arg { name: 'nx' type: DT_FLOAT } "
      "output_arg { name: 'nh' type: DT_RESOURCE } " +
      (c.control_result ? "control_output: 'add' " : "") + "} " + IntConst("node_def", "one", 1) +
      FloatConst("node_def", "two", 2) + FloatConst("node_def", "five", 5) +
      "node_def { name: 'add' op: 'AssignAddVariableOp' input: 'h' input: 'five:output:0' " +
      kFloat + "}\n node_def { name: 'next' op: 'AddV2' input: 'i' input: 'one:output:0' " +
      integers + "}\n node_def { name: 'twice' op: 'Mul' input: 'x' input: 'two:output:0' " +
      (waits ? "input: '^add' " : "") +
      "attr { key: 'T' value { type: DT_FLOAT } } }\n ret { key: 'ni' value: 'next:z:0' } ret { "
      "key: 'nx' value: "
      "'twice:z:0' } ret { key: 'nh' value: 'h' } " +
      (c.control_result ? "control_ret { key: 'add' value: 'add' } " : "") + "}\n";
  return IntConst("node", "zero", 0) +
         "node { name: 'y' op: 'While' input: 'zero' input: 'one' input: 'v' attr { key: 'T' value "
         "{ list { type: DT_INT32 type: DT_FLOAT type: DT_RESOURCE } } } attr { key: 'cond' value "
         "{ "
         "func { name: 'cond' } } } attr { key: 'body' value { func { name: 'body' } } } " +
         Lowered(c) + "} " + Readers("DT_INT32") + "library { " + cond + body + " }";
}

class LoweredBranchesTest : public testing::Test {
 protected:
  // v after running the fetches, which starts as 1. The float ones are left in values_.
  float Run(const std::string& nodes, const NamedFeeds& feeds,
            const std::vector<std::string>& fetches, const std::vector<std::string>& targets) {
    Graph graph;
    ImportGraphDefText(kVariable + FloatConst("node", "one", 1) +
                           "node { name: 'init' op: 'AssignVariableOp' input: 'v' input: 'one' " +
                           kFloat + "}\n node { name: 'read' op: 'ReadVariableOp' input: 'v' " +
                           kFloat + "}\n" + nodes,
                       graph);
    Session session(graph);
    session.Run(graph.FindOperation("init"));
    values_.clear();
    for (const Tensor& t : session.Run(feeds, fetches, targets)) {
      if (t.dtype() == DType::kFloat) values_.push_back(t.scalar<float>());
    }
    return session.Run(graph.FindOutput("read:0")).scalar<float>();
  }
  // The same when 'then' is taken.
  float After(const std::string& op, const Case& c, const std::vector<std::string>& fetches,
              const std::vector<std::string>& targets = {}) {
    if (op.ends_with("If")) return Run(IfGraph(c, op), {{"p:0", Tensor(true)}}, fetches, targets);
    return Run(CaseGraph(c, op), {{"p:0", Tensor(1)}}, fetches, targets);
  }

  std::vector<float> values_;
};

const char* const kConditionals[] = {"If", "StatelessIf", "Case", "StatelessCase"};

TEST_F(LoweredBranchesTest, OnlyOutputsThatAreReadRun) {
  for (const char* op : kConditionals) {
    for (const bool control_result : {false, true}) {
      SCOPED_TRACE(op);
      const Case c{.lowered = true, .control_result = control_result};
      EXPECT_EQ(After(op, c, {"i0:0"}), 1);
      EXPECT_EQ(values_, std::vector<float>{2});
      EXPECT_EQ(After(op, c, {"i1:0"}), 6);
      EXPECT_EQ(values_, std::vector<float>{4});
      EXPECT_EQ(After(op, c, {"i0:0", "i1:0"}), 6);
      EXPECT_EQ(values_, (std::vector<float>{2, 4}));
    }
  }
}

TEST_F(LoweredBranchesTest, ControlResultsRunForNodesThatWait) {
  for (const char* op : kConditionals) {
    SCOPED_TRACE(op);
    const Case unlisted{.lowered = true, .control_result = false};
    EXPECT_EQ(After(op, unlisted, {"after:0"}), 1);
    EXPECT_EQ(After(op, unlisted, {"i0:0", "after:0"}), 1);
    const Case listed{.lowered = true, .control_result = true};
    EXPECT_EQ(After(op, listed, {"after:0"}), 6);
    EXPECT_EQ(After(op, listed, {"i0:0", "after:0"}), 6);
    EXPECT_EQ(values_, (std::vector<float>{2, 1}));
  }
}

TEST_F(LoweredBranchesTest, AllOutputsRunWhereTheNodeItselfIsFetched) {
  for (const char* op : kConditionals) {
    for (const bool control_result : {false, true}) {
      SCOPED_TRACE(op);
      const Case c{.lowered = true, .control_result = control_result};
      EXPECT_EQ(After(op, c, {"y:0"}), 6);
      EXPECT_EQ(values_, std::vector<float>{2});
      EXPECT_EQ(After(op, c, {"y:1"}), 6);
      EXPECT_EQ(After(op, c, {}, {"y"}), 6);
    }
  }
}

TEST_F(LoweredBranchesTest, CalledBranchesRunAllTheirEffects) {
  for (const char* op : kConditionals) {
    for (const bool control_result : {false, true}) {
      SCOPED_TRACE(op);
      const Case c{.lowered = false, .control_result = control_result};
      EXPECT_EQ(After(op, c, {"y:0"}), 6);
      EXPECT_EQ(After(op, c, {"i0:0"}), 6);
      EXPECT_EQ(After(op, c, {"after:0"}), 6);
      EXPECT_EQ(After(op, c, {}, {"y"}), 6);
    }
  }
}

TEST_F(LoweredBranchesTest, OnlyControlResultsOfALoweredLoopRun) {
  for (const bool lowered : {true, false}) {
    for (const bool control_result : {true, false}) {
      const std::string nodes = WhileGraph({.lowered = lowered, .control_result = control_result});
      const float changed = lowered && !control_result ? 1 : 16;
      EXPECT_EQ(Run(nodes, {}, {"y:0"}, {}), changed);
      EXPECT_EQ(Run(nodes, {}, {"y:1"}, {}), changed);
      EXPECT_EQ(values_, std::vector<float>{8});
      EXPECT_EQ(Run(nodes, {}, {}, {"y"}), changed);
    }
  }
}

// i0 reads the counter, i1 the variable that waits for the effect.
TEST_F(LoweredBranchesTest, OnlyVariablesOfALoopThatAreNeededRun) {
  const std::string nodes = WhileGraph({.lowered = true, .control_result = false}, true);
  EXPECT_EQ(Run(nodes, {}, {"i0:0"}, {}), 1);
  EXPECT_EQ(Run(nodes, {}, {"i1:0"}, {}), 16);
  EXPECT_EQ(values_, std::vector<float>{8});
  EXPECT_EQ(Run(nodes, {}, {"after:0"}, {}), 16);
  EXPECT_EQ(Run(nodes, {}, {"y:0"}, {}), 16);
  EXPECT_EQ(Run(nodes, {}, {}, {"y"}), 16);
  const std::string listed = WhileGraph({.lowered = true, .control_result = true}, true);
  EXPECT_EQ(Run(listed, {}, {"i0:0"}, {}), 16);
  const std::string called = WhileGraph({.lowered = false, .control_result = false}, true);
  EXPECT_EQ(Run(called, {}, {"i0:0"}, {}), 16);
}

}  // namespace
}  // namespace sextant

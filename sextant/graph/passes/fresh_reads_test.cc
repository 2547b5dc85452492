#include "sextant/graph/passes/fresh_reads.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph_def.h"

namespace sextant {
namespace {

// v, "v/read", a fed value, and an AssignAdd of v and one of w by it; then the readers.
class FreshReadsTest : public testing::Test {
 protected:
  static std::string Node(const std::string& name, const std::string& op,
                          const std::vector<std::string>& inputs, const std::string& attrs) {
    std::string text = "node { name: '" + name + "' op: '" + op + "' ";
    for (const std::string& input : inputs) text += "input: '" + input + "' ";
    return text + attrs + " }\n";
  }
  static std::string Floats(const std::string& name, const std::string& op,
                            const std::vector<std::string>& inputs) {
    return Node(name, op, inputs, "attr { key: 'T' value { type: DT_FLOAT } }");
  }
  static std::string WithShape(const std::string& name, const std::string& op) {
    return Node(name, op, {},
                "attr { key: 'dtype' value { type: DT_FLOAT } } attr { key: 'shape' value { shape "
                "{ dim { size: 2 } } } }");
  }

  void Rewrite(const std::string& readers) {
    ImportGraphDefText(WithShape("v", "VariableV2") + WithShape("w", "VariableV2") +
                           WithShape("x", "Placeholder") + Floats("v/read", "Identity", {"v"}) +
                           Floats("add", "AssignAdd", {"v", "x"}) +
                           Floats("add_w", "AssignAdd", {"w", "x"}) + readers,
                       graph_);
    AddFreshReads(graph_);
  }
  const sextant::Node& Find(const std::string& name) const { return *graph_.FindNode(name); }
  static bool WaitsFor(const sextant::Node& node, const std::string& name) {
    return std::ranges::any_of(node.control_inputs(),
                               [&](const auto* input) { return input->name() == name; });
  }
  // What the reader's first input is read from by a read of its own that waits for "add".
  std::string FreshFrom(const std::string& reader) const {
    const sextant::Node& read = *Find(reader).input(0).node();
    EXPECT_EQ(read.type(), "Identity") << reader;
    EXPECT_TRUE(WaitsFor(read, "add")) << reader;
    return read.input(0).name();
  }

  Graph graph_;
};

TEST_F(FreshReadsTest, AReaderBehindAChangeReadsForItself) {
  Rewrite(Floats("control", "Neg", {"v/read", "^add"}) +
          Floats("data", "AddV2", {"v/read", "late"}) + Floats("late", "Neg", {"x", "^add"}));
  EXPECT_EQ(FreshFrom("control"), "v:0");
  // It waits for its other input, which waits for the change.
  const sextant::Node& read = *Find("data").input(0).node();
  EXPECT_EQ(read.input(0).name(), "v:0");
  EXPECT_TRUE(WaitsFor(read, "late"));
  EXPECT_EQ(Find("data").input(1).name(), "late:0");
}

TEST_F(FreshReadsTest, OtherReadersKeepTheTensorTheyHave) {
  Rewrite(Floats("free", "Neg", {"v/read"}) + Floats("before", "Neg", {"v/read"}) +
          Floats("other", "Neg", {"v/read", "^add_w"}) +
          Floats("read_late", "Identity", {"v", "^add"}) +
          Floats("late", "Neg", {"read_late", "^add"}));
  const int nodes = graph_.num_nodes();
  EXPECT_EQ(nodes, 11);
  for (const char* reader : {"free", "before", "other"}) {
    EXPECT_EQ(Find(reader).input(0).name(), "v/read:0") << reader;
  }
  EXPECT_EQ(Find("late").input(0).name(), "read_late:0");
}

TEST_F(FreshReadsTest, CopiesAndReshapesShareTheBufferToo) {
  Rewrite(Floats("copy", "StopGradient", {"v/read"}) + Floats("reader", "Neg", {"copy", "^add"}) +
          Node("shape", "Const", {},
               "attr { key: 'dtype' value { type: DT_INT32 } } attr { key: 'value' value { tensor "
               "{ dtype: DT_INT32 tensor_shape { dim { size: 1 } } int_val: 2 } } }") +
          Node("view", "Reshape", {"v/read", "shape"},
               "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'Tshape' value { type: "
               "DT_INT32 } }") +
          Floats("behind_view", "Neg", {"view", "^add"}) + Floats("sum", "AddV2", {"v/read", "x"}) +
          Floats("of_sum", "Neg", {"sum", "^add"}));
  EXPECT_EQ(FreshFrom("reader"), "v:0");
  const sextant::Node& view = *Find("behind_view").input(0).node();
  EXPECT_EQ(view.type(), "Reshape");
  EXPECT_NE(view.name(), "view");
  EXPECT_EQ(view.input(0).node()->input(0).name(), "v:0");
  EXPECT_TRUE(WaitsFor(*view.input(0).node(), "add"));
  // A sum is a tensor of its own.
  EXPECT_EQ(Find("of_sum").input(0).name(), "sum:0");
}

TEST_F(FreshReadsTest, InABranchTheReadIsOfTheReferenceTaken) {
  Rewrite(Node("p", "Placeholder", {},
               "attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'shape' value { shape { "
               "} } }") +
          Floats("side", "Switch", {"v/read", "p"}) + Floats("taken", "Neg", {"side:1", "^add"}));
  const sextant::Node& read = *Find("taken").input(0).node();
  EXPECT_TRUE(WaitsFor(read, "add"));
  const sextant::Node& side = *read.input(0).node();
  EXPECT_EQ(side.type(), "RefSwitch");
  EXPECT_EQ(read.input(0).index(), 1);
  EXPECT_EQ(side.input(0).name(), "v:0");
  EXPECT_EQ(side.input(1).name(), "p:0");
}

TEST_F(FreshReadsTest, BehindAConditionalTheReaderGetsAMergeOfItsOwn) {
  Rewrite(Node("p", "Placeholder", {},
               "attr { key: 'dtype' value { type: DT_BOOL } } attr { key: 'shape' value { shape { "
               "} } }") +
          Floats("x_side", "Switch", {"x", "p"}) + Floats("v_side", "Switch", {"v/read", "p"}) +
          Node("joined", "Merge", {"x_side", "v_side:1"},
               "attr { key: 'T' value { type: DT_FLOAT } } attr { key: 'N' value { i: 2 } }") +
          Floats("before", "Neg", {"joined"}) + Floats("late", "Neg", {"joined", "^add"}));
  EXPECT_EQ(Find("before").input(0).name(), "joined:0");
  const sextant::Node& merge = *Find("late").input(0).node();
  EXPECT_EQ(merge.type(), "Merge");
  EXPECT_EQ(merge.input(0).name(), "x_side:0");
  const sextant::Node& read = *merge.input(1).node();
  EXPECT_EQ(read.type(), "Identity");
  EXPECT_TRUE(WaitsFor(read, "add"));
  EXPECT_EQ(read.input(0).node()->type(), "RefSwitch");
  EXPECT_EQ(read.input(0).index(), 1);
}

}  // namespace
}  // namespace sextant

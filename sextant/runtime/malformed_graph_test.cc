// Graphs that import but make no sense to run: each ends in an Error, not in a crash.
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph_def.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

constexpr char kConstants[] = R"(
  node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
         attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 3 } } } }
  node { name: "yes" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
         attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } } } }
)";

// f: float → float calls itself through both branches of an If; two: float → float, float; test:
// float → bool, float.
constexpr char kFunctions[] = R"(
  library {
    function {
      signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
      node_def { name: "c" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
                 attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape { } bool_val: true } } } }
      node_def { name: "i" op: "If" input: "c:output:0" input: "x"
                 attr { key: "Tcond" value { type: DT_BOOL } }
                 attr { key: "Tin" value { list { type: DT_FLOAT } } }
                 attr { key: "Tout" value { list { type: DT_FLOAT } } }
                 attr { key: "then_branch" value { func { name: "f" } } }
                 attr { key: "else_branch" value { func { name: "f" } } } }
      ret { key: "y" value: "i:output:0" }
    }
    function {
      signature { name: "two" input_arg { name: "x" type: DT_FLOAT }
                  output_arg { name: "y" type: DT_FLOAT } output_arg { name: "z" type: DT_FLOAT } }
      ret { key: "y" value: "x" } ret { key: "z" value: "x" }
    }
    function {
      signature { name: "none" input_arg { name: "x" type: DT_FLOAT } }
    }
    function {
      signature { name: "one" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
      ret { key: "y" value: "x" }
    }
  }
)";

std::string BranchNode(const std::string& op, const std::string& functions) {
  return "node { name: \"y\" op: \"" + op + "\" " + functions +
         R"( attr { key: "Tin" value { list { type: DT_FLOAT } } }
             attr { key: "Tout" value { list { type: DT_FLOAT } } } })";
}

std::string IfNode(const std::string& function) {
  const std::string func = " value { func { name: \"" + function + "\" } } } ";
  return BranchNode("If", R"(input: "yes" input: "a" attr { key: "Tcond" value { type: DT_BOOL } }
                             attr { key: "then_branch" )" +
                              func + R"(attr { key: "else_branch" )" + func);
}

std::string WhileNode(const std::string& cond, const std::string& body) {
  return R"(node { name: "y" op: "While" input: "a" attr { key: "T" value { list { type: DT_FLOAT } } }
            attr { key: "cond" value { func { name: ")" +
         cond + R"(" } } }
            attr { key: "body" value { func { name: ")" +
         body + R"(" } } } })";
}

// The code of importing the text and running "y"; kOk when both work.
Code RunText(const std::string& text) {
  try {
    Graph graph;
    ImportGraphDefText(kConstants + text, graph);
    Session session(graph);
    session.Run(NamedFeeds{}, {"y:0"});
    return Code::kOk;
  } catch (const Error& e) {
    return e.code();
  }
}

TEST(MalformedGraphTest, MergeNeedsNoSwitch) {
  EXPECT_EQ(
      RunText(R"(node { name: "y" op: "Merge" input: "a" input: "a" attr { key: "N" value { i: 2 } }
                              attr { key: "T" value { type: DT_FLOAT } } })"),
      Code::kOk);
}

TEST(MalformedGraphTest, LoopsNeedAnEnter) {
  EXPECT_EQ(
      RunText(
          R"(node { name: "y" op: "Merge" input: "next" input: "a" attr { key: "N" value { i: 2 } }
                              attr { key: "T" value { type: DT_FLOAT } } }
                       node { name: "next" op: "NextIteration" input: "y" attr { key: "T" value { type: DT_FLOAT } } })"),
      Code::kInvalidArgument);
}

TEST(MalformedGraphTest, FeedsOfTheRuntimeAreItsOwn) {
  EXPECT_EQ(RunText(R"(node { name: "y" op: "_Feed" attr { key: "dtype" value { type: DT_FLOAT } }
                              attr { key: "shape" value { shape { } } } })"),
            Code::kInvalidArgument);
}

TEST(MalformedGraphTest, BranchesReturnWhatTheNodeGives) {
  EXPECT_EQ(RunText(kFunctions + IfNode("one")), Code::kOk);
  EXPECT_EQ(RunText(kFunctions + IfNode("two")), Code::kInvalidArgument);
  EXPECT_EQ(RunText(kFunctions + IfNode("none")), Code::kInvalidArgument);
  EXPECT_EQ(RunText(kFunctions + WhileNode("none", "one")), Code::kInvalidArgument);
  EXPECT_EQ(RunText(kFunctions + WhileNode("two", "one")), Code::kInvalidArgument);
  EXPECT_EQ(RunText(kFunctions + WhileNode("one", "two")), Code::kInvalidArgument);
}

TEST(MalformedGraphTest, CaseHasBranches) {
  EXPECT_EQ(
      RunText(kFunctions +
              BranchNode("Case", R"(input: "a" attr { key: "branches" value { list { } } })")),
      Code::kInvalidArgument);
}

TEST(MalformedGraphTest, EndlessRecursionIsNotPlanned) {
  const Code code = RunText(kFunctions + IfNode("f"));
  EXPECT_TRUE(code == Code::kInvalidArgument || code == Code::kResourceExhausted);
}

TEST(MalformedGraphTest, FunctionsAreNotNamedLikeOps) {
  EXPECT_EQ(RunText(R"(library { function { signature { name: "Const" } } })"),
            Code::kInvalidArgument);
}

// "y" does not depend on them.
TEST(MalformedGraphTest, NodesThatNeverRunMayBeMalformed) {
  const std::string good = R"(
    node { name: "y" op: "Neg" input: "a" attr { key: "T" value { type: DT_FLOAT } } })";
  for (const char* bad : {
           R"(node { name: "z" op: "Neg" attr { key: "T" value { type: DT_FLOAT } } })",
           R"(node { name: "z" op: "Neg" input: "yes" attr { key: "T" value { type: DT_FLOAT } } }
              node { name: "t" op: "Neg" input: "z" attr { key: "T" value { type: DT_FLOAT } } })",
           R"(node { name: "z" op: "MatMul" input: "a" input: "a"
                     attr { key: "T" value { type: DT_FLOAT } }
                     attr { key: "transpose_a" value { b: false } }
                     attr { key: "transpose_b" value { b: false } } })",
           R"(node { name: "z" op: "Identity" })",
       }) {
    EXPECT_EQ(RunText(good + bad), Code::kOk) << bad;
    std::string asked(bad);
    asked.replace(asked.find("\"z\""), 3, "\"y\"");
    if (const auto user = asked.find("\"z\""); user != asked.npos) asked.replace(user, 3, "\"y\"");
    EXPECT_EQ(RunText(asked), Code::kInvalidArgument) << bad;
  }
}

// One value and a shape of "bytes" bytes.
std::string LargeConstant(const std::string& bytes) {
  return R"(node { name: "c" op: "Const" attr { key: "dtype" value { type: DT_INT8 } }
                   attr { key: "value" value { tensor { dtype: DT_INT8 tensor_shape { dim { size: )" +
         bytes + R"( } } int_val: 7 } } } }
            node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
                   attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { } int_val: 0 } } } }
            node { name: "y" op: "Max" input: "c" input: "zero" attr { key: "T" value { type: DT_INT8 } }
                   attr { key: "Tidx" value { type: DT_INT32 } }
                   attr { key: "keep_dims" value { b: false } } })";
}

TEST(MalformedGraphTest, LargeConstantsAreLimitedByTheMemoryOfTheSession) {
  Graph graph;
  ImportGraphDefText(kConstants + LargeConstant("100000000"), graph);
  EXPECT_EQ(Session(graph).Run(NamedFeeds{}, {"y:0"})[0].scalar<int8_t>(), 7);
  SessionOptions options;
  options.memory_limit = 50 << 20;
  Session limited(graph, options);
  EXPECT_EQ(limited.Run(NamedFeeds{}, {"a:0"})[0].scalar<float>(), 3);
  try {
    limited.Run(NamedFeeds{}, {"y:0"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
    EXPECT_TRUE(e.message().starts_with("[Const c] ")) << e.message();
  }
  EXPECT_EQ(RunText(LargeConstant("20000000000000000")), Code::kResourceExhausted);
}

// Each of the constants is within what is decoded when a graph is imported, all of them are not.
TEST(MalformedGraphTest, ManyConstantsAreLimitedByTheMemoryOfTheSession) {
  constexpr int kCount = 9;
  std::string text, inputs;
  for (int i = 0; i < kCount; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += "node { name: '" + name + R"(' op: "Const" attr { key: "dtype" value { type: DT_INT8 } }
      attr { key: "value" value { tensor { dtype: DT_INT8 tensor_shape { dim { size: 64000000 } }
             int_val: )" +
            std::to_string(i + 1) + R"( } } } })" + "node { name: 'first" + name +
            R"(' op: "Slice" input: ")" + name + R"(" input: "zero" input: "one"
      attr { key: "T" value { type: DT_INT8 } } attr { key: "Index" value { type: DT_INT32 } } })";
    inputs += " input: 'first" + name + "'";
  }
  for (const char* number : {"0", "1"}) {
    text += std::string("node { name: '") + (*number == '0' ? "zero" : "one") +
            R"(' op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
      attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape { dim { size: 1 } }
             int_val: )" +
            number + " } } } }";
  }
  text += "node { name: 'y' op: 'AddN'" + inputs + R"( attr { key: "T" value { type: DT_INT8 } }
           attr { key: "N" value { i: 9 } } })";
  Graph graph;
  ImportGraphDefText(text, graph);
  EXPECT_EQ(Session(graph).Run(NamedFeeds{}, {"y:0"})[0].flat<int8_t>()[0], 45);
  Session limited(graph, {.memory_limit = 50 << 20});
  try {
    limited.Run(NamedFeeds{}, {"y:0"});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted) << e.what();
    EXPECT_TRUE(e.message().starts_with("[Const c8] ")) << e.message();
  }
}

TEST(MalformedGraphTest, SizesBeyondAllMemory) {
  for (const char* size :
       {"2305843009213693952", "1152921504606846976", "4611686018427387904", "1099511627776"}) {
    EXPECT_EQ(RunText(std::string(R"(
      node { name: "dims" op: "Const" attr { key: "dtype" value { type: DT_INT64 } }
             attr { key: "value" value { tensor { dtype: DT_INT64 tensor_shape { dim { size: 1 } } int64_val: )") +
                      size + R"( } } } }
      node { name: "fill" op: "Fill" input: "dims" input: "a" attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "index_type" value { type: DT_INT64 } } }
      node { name: "y" op: "Neg" input: "fill" attr { key: "T" value { type: DT_FLOAT } } })"),
              Code::kResourceExhausted)
        << size;
  }
}

}  // namespace
}  // namespace sextant

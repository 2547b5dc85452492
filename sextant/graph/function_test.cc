#include "sextant/graph/function.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

std::shared_ptr<Function> ParseFunction(const std::string& text) {
  auto def = std::make_unique<proto::FunctionDef>();
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, def.get())) << text;
  return std::make_shared<Function>(std::move(def));
}

const char* const kTwice = R"(
  signature { name: 'twice' input_arg { name: 'x' type_attr: 'T' }
              output_arg { name: 'y' type_attr: 'T' } attr { name: 'T' type: 'type' } }
  node_def { name: 'sum' op: 'AddV2' input: 'x' input: 'x'
             attr { key: 'T' value { placeholder: 'T' } } }
  arg_attr { key: 0 value { attr { key: '_output_shapes'
                                   value { list { shape { dim { size: 3 } } } } } } }
  ret { key: 'y' value: 'sum:z:0' })";

TEST(FunctionTest, BodyHasTheAttributesOfTheCall) {
  const auto function = ParseFunction(kTwice);
  const auto body = function->Instantiate({}, {{"T", DType::kDouble}});
  ASSERT_EQ(body->args.size(), 1u);
  EXPECT_EQ(body->args[0].dtype(), DType::kDouble);
  EXPECT_EQ(body->args[0].shape(), PartialShape({3}));
  EXPECT_EQ(body->results[0].name(), "sum:0");
  EXPECT_EQ(body->results[0].dtype(), DType::kDouble);
  EXPECT_EQ(body->results[0].node()->input(1), body->args[0]);
  EXPECT_TRUE(body->effects.empty());
}

TEST(FunctionTest, AttributesMustBeGiven) {
  try {
    ParseFunction(kTwice)->Instantiate({});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "function twice: attribute 'T' is missing");
  }
}

TEST(FunctionTest, ListsAreNamedByPosition) {
  const auto body = ParseFunction(R"(
    signature { name: 'f' input_arg { name: 'xs' type: DT_FLOAT number_attr: 'N' }
                output_arg { name: 'all' type: DT_FLOAT number_attr: 'N' }
                output_arg { name: 'last' type: DT_FLOAT }
                attr { name: 'N' type: 'int' default_value { i: 2 } } }
    node_def { name: 'pack' op: 'Pack' input: 'xs' attr { key: 'N' value { placeholder: 'N' } }
               attr { key: 'T' value { type: DT_FLOAT } } }
    node_def { name: 'unpack' op: 'Unpack' input: 'pack:output:0' attr { key: 'num' value { i: 2 } }
               attr { key: 'T' value { type: DT_FLOAT } } }
    node_def { name: 'neg' op: 'Neg' input: 'xs:1' input: '^pack'
               attr { key: 'T' value { type: DT_FLOAT } } }
    ret { key: 'all' value: 'unpack:output' } ret { key: 'last' value: 'neg:y' })")
                        ->Instantiate({});
  ASSERT_EQ(body->args.size(), 2u);
  EXPECT_EQ(body->results[1].name(), "unpack:1");
  EXPECT_EQ(body->results[2].node()->input(0), body->args[1]);
  EXPECT_EQ(body->results[2].node()->control_inputs()[0]->name(), "pack");
}

TEST(FunctionTest, MalformedBodiesNameFunctionAndNode) {
  const auto instantiate = [](const std::string& body) {
    try {
      ParseFunction(
          "signature { name: 'f' input_arg { name: 'x' type: DT_FLOAT } "
          "output_arg { name: 'y' type: DT_FLOAT } } " +
          body)
          ->Instantiate({});
      return std::string("accepted");
    } catch (const Error& e) {
      return e.message();
    }
  };
  const std::string type = " attr { key: 'T' value { type: DT_FLOAT } } }";
  EXPECT_EQ(instantiate(""), "function f: result 'y' is not given");
  EXPECT_EQ(instantiate("ret { key: 'y' value: 'z' }"), "function f: input 'z' does not exist");
  EXPECT_EQ(instantiate("node_def { name: 'n' op: 'Neg' input: 'q:y:0'" + type),
            "function f: [Neg n] input 'q:y:0' does not exist");
  EXPECT_EQ(instantiate("node_def { name: 'n' op: 'Neg' input: 'x'" + type +
                        " ret { key: 'y' value: 'n:zz:0' }"),
            "function f: [Neg n] has no output 'zz'");
  EXPECT_EQ(instantiate("node_def { name: 'n' op: 'Nobody' input: 'x' }"),
            "function f: [Nobody n] op type 'Nobody' is not registered");
  EXPECT_NE(instantiate("node_def { name: 'x' op: 'Neg' input: 'x'" + type).find("'x'"),
            std::string::npos);
}

TEST(FunctionTest, AnUnregisteredOpIsNotFound) {
  try {
    ParseFunction("signature { name: 'f' } node_def { name: 'n' op: 'Nobody' }")->Instantiate({});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kNotFound);
    EXPECT_EQ(e.message(), "function f: [Nobody n] op type 'Nobody' is not registered");
  }
}

TEST(FunctionTest, ABuiltBodyBecomesADefinitionAndBack) {
  auto body = std::make_shared<FunctionBody>();
  body->graph = std::make_unique<Graph>();
  {
    const GraphScope use(*body->graph);
    const Output a =
        OpBuilder("_Arg").Attr("T", DType::kFloat).Attr("index", 0).Name("scope/A").Build();
    const Output b = OpBuilder("_Arg").Attr("T", DType::kFloat).Attr("index", 1).Name("b").Build();
    const auto parts = OpBuilder("Unpack").Input(a).Attr("num", 2).BuildAll();
    const Output sum = OpBuilder("AddV2").Input(parts[1]).Input(b).ControlInput(parts[0]).Build();
    body->args = {a, b};
    body->results = {sum, sum, a};
    body->effects = {sum.node()};
  }
  const Function built("f", body);
  const proto::FunctionDef& def = built.def();
  EXPECT_EQ(def.signature().input_arg(0).name(), "scope_a");
  EXPECT_EQ(def.node_def(1).input(0), "Unpack:output:1");
  EXPECT_EQ(def.node_def(1).input(1), "b");
  EXPECT_EQ(def.node_def(1).input(2), "^Unpack");
  EXPECT_EQ(def.ret().at("addv2"), "AddV2:z:0");
  EXPECT_EQ(def.ret().at("addv2_1"), "AddV2:z:0");
  EXPECT_EQ(def.ret().at("scope_a"), "scope_a");
  const Function again(std::make_unique<proto::FunctionDef>(def));
  const auto copy = again.Instantiate({});
  ASSERT_EQ(copy->results.size(), 3u);
  EXPECT_EQ(copy->results[0].node()->input(0).name(), "Unpack:1");
  EXPECT_EQ(copy->results[2], copy->args[0]);
  EXPECT_EQ(copy->effects[0].name(), "AddV2");
}

TEST(FunctionLibraryTest, CopiesShareUntilOneChanges) {
  FunctionLibrary library;
  library.Add(ParseFunction(kTwice));
  FunctionLibrary copy = library;
  copy.Add(ParseFunction("signature { name: 'g' }"));
  EXPECT_EQ(library.all().size(), 1u);
  EXPECT_EQ(copy.all().size(), 2u);
  EXPECT_THROW(copy.Add(ParseFunction(kTwice)), Error);
  EXPECT_EQ(copy.UniqueName("twice"), "twice_1");
  const OpDef* before = &copy.Get("twice").signature();
  copy.Add(ParseFunction(kTwice), true);
  EXPECT_NE(&copy.Get("twice").signature(), before);
  EXPECT_EQ(before->name(), "twice");
}

TEST(FunctionLibraryTest, ABodyHoldsTheFunctionsItNeeds) {
  FunctionLibrary library;
  library.Add(ParseFunction("signature { name: 'leaf' }"));
  library.Add(ParseFunction("signature { name: 'other' }"));
  library.Add(ParseFunction(
      "signature { name: 'top' } node_def { name: 'n' op: 'PartitionedCall' "
      "attr { key: 'Tin' value { list { } } } attr { key: 'Tout' value { list { } } } "
      "attr { key: 'f' value { func { name: 'leaf' } } } }"));
  library.Add(ParseFunction("signature { name: 'endless' } node_def { name: 'n' op: 'endless' }"));
  EXPECT_EQ(library.ReachableFrom(library.Get("top")).all().size(), 1u);
  const auto body = library.Get("top").Instantiate(library);
  EXPECT_NE(body->graph->functions().Find("leaf"), nullptr);
  EXPECT_EQ(body->graph->functions().Find("other"), nullptr);
  EXPECT_EQ(library.Get("top").Instantiate(library), body);
  EXPECT_NE(library.Get("endless").Instantiate(library)->graph->functions().Find("endless"),
            nullptr);
}

}  // namespace
}  // namespace sextant

#include "sextant/graph/meta_graph.h"

#include <google/protobuf/stubs/logging.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/proto/meta_graph.pb.h"
#include "sextant/proto/variable.pb.h"

namespace sextant {
namespace {

proto::MetaGraphDef Imported() {
  proto::MetaGraphDef def;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      meta_info_def { tags: "serve" tensorflow_version: "1.4.0" }
      graph_def {
        node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
               attr { key: "shape" value { shape { dim { size: 2 } } } } }
        node { name: "init" op: "NoOp" }
        versions { producer: 24 }
      }
      saver_def { restore_op_name: "save/restore_all" version: V2 }
      collection_def { key: "init_op" value { node_list { value: "init" } } }
      collection_def { key: "loss" value { node_list { value: "v:0" } } }
      collection_def { key: "gone" value { node_list { value: "nowhere:0" } } }
      collection_def { key: "epochs" value { int64_list { value: 3 } } }
      signature_def { key: "s" value { method_name: "m" } })",
                                                            &def));
  proto::VariableDef variable;
  variable.set_variable_name("v:0");
  variable.set_initializer_name("v/SomeOtherName");
  for (const char* name : {"variables", "queue_runners"}) {
    (*def.mutable_collection_def())[name].mutable_bytes_list()->add_value(
        variable.SerializeAsString());
  }
  return def;
}

TEST(MetaGraphTest, KeepsCollectionsOfTensorsOperationsAndVariables) {
  Graph graph;
  ImportMetaGraphDef(Imported(), graph);
  EXPECT_EQ(graph.CollectionNames(), (std::vector<std::string>{"init_op", "loss", "variables"}));
  EXPECT_EQ(graph.Collection("variables")[0].name(), "v:0");
  EXPECT_EQ(graph.Collection("init_op")[0].node()->type(), "NoOp");
}

TEST(MetaGraphTest, GivesBackWhatWasImported) {
  const proto::MetaGraphDef imported = Imported();
  Graph graph;
  ImportMetaGraphDef(imported, graph);
  proto::MetaGraphDef exported = ExportMetaGraphDef(graph, {.imported = &imported});
  EXPECT_EQ(exported.meta_info_def().stripped_op_list().op_size(), 2);
  *exported.mutable_meta_info_def() = imported.meta_info_def();
  std::string a, b;
  google::protobuf::TextFormat::PrintToString(imported, &a);
  google::protobuf::TextFormat::PrintToString(exported, &b);
  EXPECT_EQ(a, b);
}

TEST(MetaGraphTest, SurvivesEveryCutAndEveryFlippedBit) {
  const std::string bytes = Imported().SerializeAsString();
  const google::protobuf::LogSilencer quiet;
  const auto import = [](const std::string& damaged) {
    proto::MetaGraphDef def;
    if (!def.ParseFromString(damaged)) return;
    try {
      Graph graph;
      ImportMetaGraphDef(def, graph);
      ExportMetaGraphDef(graph, {.imported = &def});
    } catch (const Error& e) {
      EXPECT_NE(e.code(), Code::kInternal) << e.what();
    }
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    import(bytes.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      import(flipped);
    }
  }
}

TEST(MetaGraphTest, WritesCollectionsThatChanged) {
  const proto::MetaGraphDef imported = Imported();
  Graph graph;
  ImportMetaGraphDef(imported, graph);
  graph.AddToCollection("loss", graph.FindOutput("v:0"));
  graph.AddToCollection("mine", Output(graph.FindNode("init"), 0));
  const proto::MetaGraphDef exported = ExportMetaGraphDef(graph, {.imported = &imported});
  EXPECT_EQ(exported.collection_def().at("loss").node_list().value_size(), 2);
  EXPECT_EQ(exported.collection_def().at("mine").node_list().value(0), "init");
  EXPECT_EQ(exported.collection_def().at("epochs").int64_list().value(0), 3);
}

TEST(MetaGraphTest, DescribesVariablesByTheirUsualNodes) {
  Graph graph;
  const GraphScope scope(graph);
  const Output w = OpBuilder("VarHandleOp")
                       .Attr("dtype", DType::kFloat)
                       .Attr("shape", PartialShape{2})
                       .Name("w")
                       .Build();
  const Output initial = Const(Tensor::Of<float>({1, 2}), "w/Initializer/Const");
  OpBuilder("AssignVariableOp").Input(w).Input(initial).Name("w/Assign").BuildNode();
  OpBuilder("ReadVariableOp")
      .Input(w)
      .Attr("dtype", DType::kFloat)
      .Name("w/Read/ReadVariableOp")
      .Build();
  graph.AddToCollection("variables", w);
  graph.AddToCollection("trainable_variables", w);
  const proto::MetaGraphDef exported = ExportMetaGraphDef(graph);
  proto::VariableDef def;
  ASSERT_TRUE(def.ParseFromString(exported.collection_def().at("variables").bytes_list().value(0)));
  EXPECT_EQ(def.variable_name(), "w:0");
  EXPECT_EQ(def.initializer_name(), "w/Assign");
  EXPECT_EQ(def.initial_value_name(), "w/Initializer/Const:0");
  EXPECT_EQ(def.snapshot_name(), "w/Read/ReadVariableOp:0");
  EXPECT_TRUE(def.is_resource());
  EXPECT_TRUE(def.trainable());
}

TEST(MetaGraphTest, ListsTheOpsOfFunctionsThatAreCalled) {
  proto::GraphDef def;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
      node { name: "a" op: "PartitionedCall" attr { key: "f" value { func { name: "f" } } } }
      node { name: "b" op: "StatelessIf" attr { key: "then_branch" value { func { name: "g" } } } }
      library {
        function { signature { name: "f" } node_def { name: "n" op: "h" } }
        function { signature { name: "g" } node_def { name: "n" op: "Sin" } }
        function { signature { name: "h" } node_def { name: "n" op: "Cos" } }
      })",
                                                            &def));
  EXPECT_EQ(OpsUsed(def), (std::set<std::string>{"Cos", "PartitionedCall", "StatelessIf"}));
}

}  // namespace
}  // namespace sextant

#include "sextant/train/saved_model_builder.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/lookup/hash_table.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/runtime/saved_model.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class SavedModelBuilderTest : public testing::Test {
 protected:
  SavedModelBuilderTest() : scope_(graph_) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    directory_ = JoinPath(testing::TempDir(), std::string("builder_test_") + test->name());
    if (files().Exists(directory_)) files().DeleteRecursively(directory_);
    files().CreateDirectories(directory_);
  }
  static FileSystem& files() { return FileSystem::ForPath("/"); }
  std::string Path(const std::string& name) const { return JoinPath(directory_, name); }
  std::string NewFile(const std::string& name, const std::string& contents) const {
    files().CreateDirectories(std::string(DirectoryName(Path(name))));
    files().WriteFileAtomically(Path(name), contents);
    return Path(name);
  }

  Graph graph_;
  const GraphScope scope_;
  std::string directory_;
};

TEST_F(SavedModelBuilderTest, RunsAfterLoading) {
  const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown}, "x");
  const Variable w("w", Tensor(3.0f));
  const Output y = w * x;
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  session.Run(w.Assign(Const(Tensor(5.0f))));
  SavedModelBuilder builder(Path("export/1"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  EXPECT_FALSE(files().Exists(Path("export/1")));
  EXPECT_EQ(builder.Save(), Path("export/1"));
  EXPECT_EQ(files().ListDirectory(Path("export")), std::vector<std::string>{"1"});

  const SavedModel model = SavedModel::Load(Path("export/1"));
  EXPECT_EQ(model.signature_keys(), std::vector<std::string>{"serving_default"});
  const Signature& signature = model.signature();
  EXPECT_EQ(signature.inputs().at("x").dtype, DType::kFloat);
  EXPECT_TRUE(signature.Run({{"x", Tensor::Of<float>({1, 2})}})
                  .at("y")
                  .Identical(Tensor::Of<float>({5, 10})));
}

TEST_F(SavedModelBuilderTest, DoesNotLoadWithoutTheValuesOfVariables) {
  const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown}, "x");
  const Variable w("w", Tensor(3.0f));
  const Variable b("b", Tensor(1.0f));
  const Output y = w * x + b;
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  SavedModelBuilder builder(Path("export"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  builder.Save();
  const auto status = [&] {
    try {
      SavedModel::Load(Path("export"));
    } catch (const Error& e) {
      return e.status();
    }
    return Status();
  };
  EXPECT_TRUE(status().ok());
  const std::string data = Path("export/variables/variables.data-00000-of-00001");
  files().Delete(data);
  EXPECT_EQ(status().code(), Code::kNotFound);
  EXPECT_NE(status().message().find(data), std::string::npos) << status().message();
  const auto lacks_index = [&] {
    EXPECT_EQ(status().code(), Code::kNotFound);
    EXPECT_EQ(status().message(),
              Path("export") +
                  ": the values of its variables ('b', ...) are missing, there is "
                  "no " +
                  Path("export/variables/variables.index") +
                  ": copy the export as a whole, or export the model again");
  };
  files().Delete(Path("export/variables/variables.index"));
  lacks_index();
  files().DeleteRecursively(Path("export/variables"));
  lacks_index();
}

TEST_F(SavedModelBuilderTest, LoadsAGraphWithoutVariablesFromTheGraphAlone) {
  const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown}, "x");
  Session session(graph_);
  SavedModelBuilder builder(Path("export"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", x + x}}}}}});
  builder.Save();
  if (files().Exists(Path("export/variables"))) {
    files().DeleteRecursively(Path("export/variables"));
  }
  const SavedModel model = SavedModel::Load(Path("export"));
  EXPECT_TRUE(model.signature()
                  .Run({{"x", Tensor::Of<float>({1, 2})}})
                  .at("y")
                  .Identical(Tensor::Of<float>({2, 4})));
}

TEST_F(SavedModelBuilderTest, SaysWhatSignaturesAndInputsThereAre) {
  const Output x = Placeholder(DType::kFloat, {2}, "x");
  Session session(graph_);
  SavedModelBuilder builder(Path("export"));
  builder.AddMetaGraphAndVariables(
      session, {"serve", "test"},
      {.signatures = {{"s", {.inputs = {{"x", x}}, .outputs = {{"y", x + x}}}}}});
  builder.Save(SavedModelForm::kText);
  const auto message = [](auto f) {
    try {
      f();
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { SavedModel::Load(Path("export")); }),
            Path("export") +
                ": the SavedModel has no graph with the tags 'serve'; there are: 'serve,test'");
  const SavedModel model = SavedModel::Load(Path("export"), {"test", "serve"});
  EXPECT_EQ(message([&] { model.signature("t"); }),
            Path("export") + " has no signature 't'; there are: s");
  const Signature& signature = model.signature("s");
  EXPECT_EQ(message([&] {
              signature.Run({{"z", Tensor(1.0f)}});
            }),
            "signature 's' has no input 'z'; it takes: x");
  EXPECT_EQ(message([&] { signature.Run({}); }), "input 'x' of signature 's' is missing");
  EXPECT_EQ(message([&] {
              signature.Run({{"x", Tensor::Of<float>({1, 2, 3})}});
            }),
            "input 'x' of signature 's' is float[2], but float[3] was given");
}

TEST_F(SavedModelBuilderTest, CopiesAssetsUnderUniqueNames) {
  const Output words = Placeholder(DType::kString, {PartialShape::kUnknown}, "words");
  std::vector<Operation> fills;
  SignatureSpec signature{.inputs = {{"words", words}}, .outputs = {}};
  const std::pair<std::string, std::string> sources[] = {
      {"a/v.txt", "x\ny\n"}, {"b/v.txt", "y\nx\n"}, {"c/v.txt", "x\ny\n"}};
  for (const auto& [name, contents] : sources) {
    const Output table = HashTable(DType::kString, DType::kInt64, {.name = "table"});
    const Output path = Const(Tensor(NewFile(name, contents)), "path");
    graph_.AddToCollection("asset_filepaths", path);
    fills.push_back(InitializeTableFromTextFile(table, path));
    signature.outputs[name.substr(0, 1)] =
        LookupTableFind(table, words, Const(Tensor(int64_t{-1})));
  }
  const Operation main_op = OpBuilder("NoOp").ControlInputs(fills).BuildOperation();
  Session session(graph_);
  {
    SavedModelBuilder builder(Path("export"));
    builder.AddMetaGraphAndVariables(session, {"serve"},
                                     {.signatures = {{"s", signature}}, .main_op = main_op});
    builder.Save();
  }
  EXPECT_EQ(files().ListDirectory(Path("export/assets")),
            (std::vector<std::string>{"v.txt", "v.txt_1"}));
  for (const auto& [name, contents] : sources) files().Delete(Path(name));
  const SavedModel model = SavedModel::Load(Path("export"));
  const NamedTensors ids = model.signature("s").Run({{"words", Tensor::Of<std::string>({"y"})}});
  EXPECT_EQ(ids.at("a").scalar<int64_t>(), 1);
  EXPECT_EQ(ids.at("b").scalar<int64_t>(), 0);
  EXPECT_EQ(ids.at("c").scalar<int64_t>(), 1);
}

TEST_F(SavedModelBuilderTest, LeavesInputsWithDefaultsOut) {
  const Output x = PlaceholderWithDefault(Const(Tensor(2.0f)), Shape(), "x");
  const Output y = Placeholder(DType::kFloat, Shape(), "y");
  Session session(graph_);
  SavedModelBuilder builder(Path("export"));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{"s", {.inputs = {{"x", x}, {"y", y}}, .outputs = {{"z", x * y}}}}}});
  builder.Save();
  const SavedModel model = SavedModel::Load(Path("export"));
  EXPECT_EQ(model.signature("s").Run({{"y", Tensor(4.0f)}}).at("z").scalar<float>(), 8);
  EXPECT_EQ(
      model.signature("s").Run({{"x", Tensor(1.0f)}, {"y", Tensor(4.0f)}}).at("z").scalar<float>(),
      4);
}

TEST_F(SavedModelBuilderTest, LeavesNothingBehindUnlessSaved) {
  const Variable w("w", Tensor(3.0f));
  Session session(graph_);
  {
    SavedModelBuilder builder(Path("export"));
    EXPECT_THROW(builder.AddMetaGraphAndVariables(session, {"serve"}), Error);  // no value yet
    EXPECT_THROW(builder.Save(), Error);
  }
  EXPECT_TRUE(files().ListDirectory(directory_).empty());
  NewFile("full/file", "");
  EXPECT_THROW(SavedModelBuilder(Path("full")), Error);
}

TEST_F(SavedModelBuilderTest, StoresSeveralGraphsOfTheSameVariables) {
  const Variable w("w", Tensor(3.0f));
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  SavedModelBuilder builder(Path("export"));
  builder.AddMetaGraphAndVariables(session, {"serve"}, {.strip_default_attrs = true});
  builder.AddMetaGraph(graph_, {"train"});
  EXPECT_THROW(builder.AddMetaGraphAndVariables(session, {"x"}), Error);
  builder.Save();
  const proto::SavedModel proto = ReadSavedModel(Path("export"));
  EXPECT_TRUE(proto.meta_graphs(0).meta_info_def().stripped_default_attrs());
  EXPECT_EQ(proto.meta_graphs(0).saver_def().restore_op_name(), "save/restore_all");
  const SavedModel train = SavedModel::Load(Path("export"), {"train"});
  EXPECT_EQ(
      train.session().Run(train.graph().FindOutput("w/Read/ReadVariableOp:0")).scalar<float>(), 3);
}

}  // namespace
}  // namespace sextant

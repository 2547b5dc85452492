#include "sextant/formats/saved_model_dir.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/message_text.h"
#include "sextant/proto/saved_model.pb.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

std::string NewDirectory(const std::string& name) {
  std::string path = JoinPath(testing::TempDir(), "saved_model_dir_test_" + name);
  FileSystem& files = FileSystem::ForPath(path);
  if (files.Exists(path)) files.DeleteRecursively(path);
  files.CreateDirectories(path);
  return path;
}

proto::SavedModel SmallModel() {
  proto::SavedModel model;
  ParseMessageText(R"(
      saved_model_schema_version: 1
      meta_graphs {
        meta_info_def { tags: "serve" tags: "gpu" }
        graph_def { node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } } }
        signature_def { key: "s" value { inputs { key: "a" value { name: "x:0" dtype: DT_FLOAT } } } }
        asset_file_def { tensor_info { name: "path:0" } filename: "words.txt" }
      }
      meta_graphs { meta_info_def { tags: "train" } })",
                   "test", &model);
  return model;
}

TEST(SavedModelDirTest, ReadsWhatItWrote) {
  for (const SavedModelForm form : {SavedModelForm::kBinary, SavedModelForm::kText}) {
    const std::string directory = NewDirectory("round_trip");
    EXPECT_FALSE(IsSavedModelDir(directory));
    WriteSavedModel(directory, SmallModel(), form);
    EXPECT_TRUE(IsSavedModelDir(directory));
    EXPECT_EQ(MessageText(ReadSavedModel(directory)), MessageText(SmallModel()));
  }
}

TEST(SavedModelDirTest, PrefersTheBinaryFile) {
  const std::string directory = NewDirectory("both");
  FileSystem::ForPath(directory).WriteFileAtomically(directory + "/saved_model.pbtxt", "junk");
  WriteSavedModel(directory, SmallModel());
  EXPECT_EQ(ReadSavedModel(directory).meta_graphs_size(), 2);
}

TEST(SavedModelDirTest, SaysWhatIsMissingOrDamaged) {
  const std::string directory = NewDirectory("damaged");
  EXPECT_EQ(StatusOf([&] { ReadSavedModel(directory); }).code(), Code::kNotFound);
  FileSystem& files = FileSystem::ForPath(directory);
  files.WriteFileAtomically(directory + "/saved_model.pbtxt", "meta_graphs {\n  tags }");
  const Status text = StatusOf([&] { ReadSavedModel(directory); });
  EXPECT_EQ(text.code(), Code::kInvalidArgument);
  EXPECT_NE(text.message().find("saved_model.pbtxt: the text is not a SavedModel: line 2"),
            std::string::npos)
      << text.message();
  files.WriteFileAtomically(directory + "/saved_model.pb", "\x12\xff");
  const Status bytes = StatusOf([&] { ReadSavedModel(directory); });
  EXPECT_EQ(bytes.code(), Code::kDataLoss);
  EXPECT_NE(bytes.message().find(directory + "/saved_model.pb"), std::string::npos);
}

TEST(SavedModelDirTest, SurvivesEveryCutAndEveryFlippedBit) {
  const std::string bytes = SerializeSorted(SmallModel());
  const auto parse = [](const std::string& damaged) {
    try {
      proto::SavedModel model;
      ParseMessage(damaged, "damaged", &model);
      for (const auto& meta_graph : model.meta_graphs()) AssetsOf(meta_graph);
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == Code::kDataLoss || e.code() == Code::kInvalidArgument) << e.what();
    }
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    parse(bytes.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      parse(flipped);
    }
  }
}

TEST(SavedModelDirTest, ChoosesTheGraphByAllItsTags) {
  const proto::SavedModel model = SmallModel();
  EXPECT_EQ(FindMetaGraph(model, {"gpu", "serve"}), 0);
  EXPECT_EQ(FindMetaGraph(model, {"train"}), 1);
  const Status error = StatusOf([&] { FindMetaGraph(model, {"serve"}); });
  EXPECT_EQ(error.code(), Code::kNotFound);
  EXPECT_EQ(error.message(),
            "the SavedModel has no graph with the tags 'serve'; there are: 'serve,gpu', 'train'");
  EXPECT_EQ(ParseTags("a,,b,"), (std::set<std::string>{"a", "b"}));
  EXPECT_EQ(ParseTags(""), std::set<std::string>());
}

TEST(SavedModelDirTest, FindsAssetsInFieldAndCollection) {
  proto::SavedModel model = SmallModel();
  proto::MetaGraphDef& meta_graph = *model.mutable_meta_graphs(0);
  ASSERT_EQ(AssetsOf(meta_graph).size(), 1);
  EXPECT_EQ(AssetsOf(meta_graph)[0].tensor, "path:0");
  proto::AssetFileDef def = meta_graph.asset_file_def(0);
  meta_graph.clear_asset_file_def();
  auto* any = (*meta_graph.mutable_collection_def())["saved_model_assets"].mutable_any_list();
  any->add_value()->set_value(def.SerializeAsString());
  ASSERT_EQ(AssetsOf(meta_graph).size(), 1);
  EXPECT_EQ(AssetsOf(meta_graph)[0].filename, "words.txt");
  EXPECT_EQ(SavedAssetPath("d", "words.txt"), "d/assets/words.txt");
  for (const char* name : {"../x", "/etc/passwd", "a/../../x", "..", "gs://b/x", ""}) {
    def.set_filename(name);
    any->mutable_value(0)->set_value(def.SerializeAsString());
    EXPECT_EQ(StatusOf([&] { AssetsOf(meta_graph); }).code(), Code::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace sextant

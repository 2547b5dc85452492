#include "sextant/formats/saved_model_dir.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/message_text.h"
#include "sextant/proto/saved_model.pb.h"

namespace sextant {
namespace {

constexpr const char* kBinaryName = "saved_model.pb";
constexpr const char* kTextName = "saved_model.pbtxt";

SavedAsset AssetFromDef(const proto::AssetFileDef& def) {
  const std::string& name = def.filename();
  const bool leaves = name.empty() || name.starts_with('/') || name == ".." ||
                      name.starts_with("../") || name.ends_with("/..") ||
                      name.find("/../") != std::string::npos || !PathScheme(name).empty();
  if (leaves) throw InvalidArgument("the asset file '{}' is not inside the directory", name);
  return {def.tensor_info().name(), name};
}

}  // namespace

bool IsSavedModelDir(const std::string& directory) {
  FileSystem& files = FileSystem::ForPath(directory);
  return files.Exists(JoinPath(directory, kBinaryName)) ||
         files.Exists(JoinPath(directory, kTextName));
}

proto::SavedModel ReadSavedModel(const std::string& directory) {
  FileSystem& files = FileSystem::ForPath(directory);
  proto::SavedModel model;
  if (const std::string binary = JoinPath(directory, kBinaryName); files.Exists(binary)) {
    ParseMessage(files.ReadFile(binary), binary, &model);
  } else if (const std::string text = JoinPath(directory, kTextName); files.Exists(text)) {
    ParseMessageText(files.ReadFile(text), text, &model);
  } else {
    throw NotFound("{} holds neither {} nor {}", directory, kBinaryName, kTextName);
  }
  return model;
}

void WriteSavedModel(const std::string& directory, const proto::SavedModel& model,
                     SavedModelForm form, FileSystem* files) {
  if (files == nullptr) files = &FileSystem::ForPath(directory);
  if (form == SavedModelForm::kText) {
    files->WriteFileAtomically(JoinPath(directory, kTextName), MessageText(model));
  } else {
    files->WriteFileAtomically(JoinPath(directory, kBinaryName), SerializeSorted(model));
  }
}

int FindMetaGraph(const proto::SavedModel& model, const std::set<std::string>& tags) {
  std::vector<std::string> known;
  for (int i = 0; i < model.meta_graphs_size(); ++i) {
    const auto& stored = model.meta_graphs(i).meta_info_def().tags();
    if (std::set<std::string>(stored.begin(), stored.end()) == tags) return i;
    known.push_back(fmt::format("'{}'", fmt::join(stored, ",")));
  }
  if (known.empty()) known.emplace_back("none");
  throw NotFound("the SavedModel has no graph with the tags '{}'; there are: {}",
                 fmt::join(tags, ","), fmt::join(known, ", "));
}

std::set<std::string> ParseTags(std::string_view text) {
  std::set<std::string> tags;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) tags.emplace(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return tags;
}

std::vector<SavedAsset> AssetsOf(const proto::MetaGraphDef& meta_graph) {
  std::vector<SavedAsset> assets;
  for (const auto& def : meta_graph.asset_file_def()) assets.push_back(AssetFromDef(def));
  if (!assets.empty()) return assets;
  const auto collection = meta_graph.collection_def().find("saved_model_assets");
  if (collection == meta_graph.collection_def().end()) return assets;
  for (const google::protobuf::Any& any : collection->second.any_list().value()) {
    proto::AssetFileDef def;
    ParseMessage(any.value(), "collection 'saved_model_assets'", &def);
    assets.push_back(AssetFromDef(def));
  }
  return assets;
}

std::string SavedVariablesPrefix(std::string_view directory) {
  return JoinPath(directory, "variables/variables");
}

std::string SavedAssetPath(std::string_view directory, std::string_view filename) {
  return JoinPath(JoinPath(directory, "assets"), filename);
}

std::string SavedExtraAssetPath(std::string_view directory, std::string_view filename) {
  return JoinPath(JoinPath(directory, "assets.extra"), filename);
}

}  // namespace sextant

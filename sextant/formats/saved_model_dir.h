// The directory of a SavedModel: saved_model.pb (or saved_model.pbtxt), variables/ and assets/.
//
// Bytes and messages only: runtime/saved_model.h runs what is read here,
// train/saved_model_builder.h makes what is written here.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class MetaGraphDef;
class SavedModel;
}  // namespace sextant::proto

namespace sextant {

class FileSystem;

// Signatures that mean something to the loader.
inline constexpr const char* kDefaultSignature = "serving_default";
inline constexpr const char* kInitOpSignature = "__saved_model_init_op";
inline constexpr const char* kTrainOpSignature = "__saved_model_train_op";

bool IsSavedModelDir(const std::string& directory);

// saved_model.pb or, where there is none, saved_model.pbtxt. Throws NOT_FOUND when there is
// neither, DATA_LOSS (binary) or INVALID_ARGUMENT (text, with line and column) naming the path when
// the file is damaged.
proto::SavedModel ReadSavedModel(const std::string& directory);

enum class SavedModelForm { kBinary, kText };
// Writes the file atomically into the directory, which must exist.
void WriteSavedModel(const std::string& directory, const proto::SavedModel& model,
                     SavedModelForm form = SavedModelForm::kBinary, FileSystem* files = nullptr);

// The index of the graph whose tags are exactly these. Throws NOT_FOUND, naming the tag sets there
// are.
int FindMetaGraph(const proto::SavedModel& model, const std::set<std::string>& tags);
// "a,b" → {"a", "b"}
std::set<std::string> ParseTags(std::string_view text);

// A file of assets/ and the tensor that holds its path.
struct SEXTANT_API SavedAsset {
  std::string tensor;    // "node:0"
  std::string filename;  // under assets/
};
// Those of asset_file_def or, where it is empty, of the collection saved_model_assets. Throws
// INVALID_ARGUMENT on a name that leads out of assets/, DATA_LOSS on a damaged collection.
std::vector<SavedAsset> AssetsOf(const proto::MetaGraphDef& meta_graph);

// "DIR/variables/variables", "DIR/assets/NAME", "DIR/assets.extra/NAME"
std::string SavedVariablesPrefix(std::string_view directory);
std::string SavedAssetPath(std::string_view directory, std::string_view filename);
std::string SavedExtraAssetPath(std::string_view directory, std::string_view filename);

}  // namespace sextant

#pragma GCC visibility pop

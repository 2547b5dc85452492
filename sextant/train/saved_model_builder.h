// SavedModelBuilder: writes a session's graph and variables as a SavedModel that TensorFlow,
// TensorFlow Serving and SavedModel::Load take.
//
//   SavedModelBuilder builder("export/1700000000");
//   builder.AddMetaGraphAndVariables(session, {"serve"},
//       {.signatures = {{"serving_default", {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
//   builder.Save();
//
// All is written to a directory beside it that Save renames, so the export is there as a whole or
// not at all. Used by one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class MetaGraphDef;
class SavedModel;
}  // namespace sextant::proto

namespace sextant {

class Graph;
class Session;

inline constexpr const char* kPredictMethod = "tensorflow/serving/predict";
inline constexpr const char* kClassifyMethod = "tensorflow/serving/classify";
inline constexpr const char* kRegressMethod = "tensorflow/serving/regress";

struct SEXTANT_API SignatureSpec {
  std::map<std::string, Output> inputs, outputs;  // by their names in the signature
  std::string method_name = kPredictMethod;
};

struct SEXTANT_API MetaGraphSpec {
  std::map<std::string, SignatureSpec> signatures = {};
  // Constants that hold the path of a file, e.g. a vocabulary: the file goes to assets/. Those of
  // the collection "asset_filepaths" come on top.
  std::vector<Output> assets = {};
  // What fills tables and the like after the variables are restored; none: nothing is run.
  Operation main_op = {};
  bool strip_default_attrs = false;
};

class SEXTANT_API SavedModelBuilder {
 public:
  // Throws ALREADY_EXISTS when the directory is there and not empty.
  explicit SavedModelBuilder(std::string directory);
  // Removes what was written unless Save has returned.
  ~SavedModelBuilder();
  SavedModelBuilder(const SavedModelBuilder&) = delete;
  SavedModelBuilder& operator=(const SavedModelBuilder&) = delete;

  // The first graph, with the values that the variables of collection "variables" have in the
  // session. Throws INVALID_ARGUMENT on a signature or asset that is not of this graph,
  // FAILED_PRECONDITION when a variable has no value or this was called before.
  void AddMetaGraphAndVariables(Session& session, const std::set<std::string>& tags,
                                const MetaGraphSpec& spec = {});
  // Further graphs that use the same variables, e.g. for other devices or for training.
  void AddMetaGraph(const Graph& graph, const std::set<std::string>& tags,
                    const MetaGraphSpec& spec = {});
  // "relative/path" → file: copied to assets.extra/.
  void AddExtraAssets(const std::map<std::string, std::string>& files);
  // Puts the directory in place and returns its name. Throws ALREADY_EXISTS when somebody else has
  // done so meanwhile.
  const std::string& Save(SavedModelForm form = SavedModelForm::kBinary);

 private:
  std::string AddAsset(const std::string& path);
  void AddAssets(const Graph& graph, const MetaGraphSpec& spec, proto::MetaGraphDef* meta_graph);

  const std::string directory_, temporary_;
  std::unique_ptr<proto::SavedModel> model_;
  std::map<std::string, std::string> asset_sources_;  // name in assets/ → path it came from
  bool saved_ = false;
};

}  // namespace sextant

#pragma GCC visibility pop

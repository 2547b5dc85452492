#include "sextant/serving/small_model_test_helpers.h"

#include <filesystem>

#include "sextant/base/file_system.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant::serving {

std::string ExportSmallModel(const std::string& base, int64_t version, float factor) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown}, "x");
  const Variable w("w", Tensor(factor));
  const Output y = w * x + Const(Tensor(2.0f));
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  FileSystem::ForPath(base).CreateDirectories(base);
  SavedModelBuilder builder(JoinPath(base, std::to_string(version)));
  builder.AddMetaGraphAndVariables(
      session, {"serve"},
      {.signatures = {{kDefaultSignature, {.inputs = {{"x", x}}, .outputs = {{"y", y}}}}}});
  const std::string path = builder.Save();
  MakeOld(path);
  return path;
}

void MakeOld(const std::string& directory) {
  namespace fs = std::filesystem;
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    fs::last_write_time(entry.path(), time);
  }
  fs::last_write_time(directory, time);
}

}  // namespace sextant::serving

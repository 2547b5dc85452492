#include "sextant/cli/inspect/inspect_checkpoint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/json_writer.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/printable.h"
#include "sextant/cli/inspect/tensor_report.h"
#include "sextant/cli/inspect/text_table.h"
#include "sextant/formats/npy.h"
#include "sextant/formats/tensor_bundle_reader.h"

namespace sextant::cli {
namespace {

std::vector<std::string> SliceTexts(const BundleTensorInfo& info) {
  std::vector<std::string> texts;
  for (const TensorSlice& slice : info.slices) texts.push_back(slice.ToString());
  return texts;
}

// Names of the files of a checkpoint that are there.
std::vector<std::string> FilesOf(const std::string& prefix) {
  const std::string folder(DirectoryName(prefix));
  const std::string name(BaseName(prefix));
  std::vector<std::string> files;
  const std::string place = folder.empty() ? "." : folder;
  for (const std::string& file : FileSystem::ForPath(place).ListDirectory(place)) {
    if (file == name + ".index" || file == name + ".meta" || file.starts_with(name + ".data-")) {
      files.push_back(file);
    }
  }
  return files;
}

std::vector<std::string> StatisticsCells(const Tensor& tensor) {
  const auto statistics = ComputeStatistics(tensor);
  if (!statistics) return {"", "", "", "", ""};
  const auto number = [&](double value) {
    return statistics->finite == 0 ? std::string("-") : fmt::format("{:.6g}", value);
  };
  return {number(statistics->min), number(statistics->max), number(statistics->mean),
          number(statistics->std), fmt::format("{}", statistics->nan)};
}

void WriteTensor(const std::string& name, const Tensor& tensor, const InspectOptions& options,
                 std::ostream& out) {
  if (!options.json) {
    out << fmt::format("{}: {} {}\n{}\n", ShownName(name), NumpyName(tensor.dtype()),
                       tensor.shape().ToString(), tensor.ToString());
    return;
  }
  JsonWriter json(out);
  json.BeginObject();
  json.Field("kind", "tensor");
  json.Field("name", name);
  WriteTensorFields(tensor, INT64_MAX, json);
  if (const auto statistics = ComputeStatistics(tensor)) WriteStatistics(*statistics, json);
  json.EndObject();
}

void CheckTensorName(const TensorBundleReader& reader, const std::string& prefix,
                     const std::string& name) {
  std::vector<std::string> names;
  for (const BundleTensorInfo& info : reader.Tensors()) names.push_back(info.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  throw NotFound("{} has no tensor '{}'{}", prefix, name, DidYouMeanOneOf(name, names));
}

}  // namespace

void WriteCheckpointTensors(const std::string& prefix, JsonWriter& json) {
  const TensorBundleReader reader(prefix);
  json.Key("tensors");
  json.BeginObject();
  for (const BundleTensorInfo& info : reader.Tensors()) {
    ThrowIfInterrupted();
    json.Key(info.name);
    json.BeginObject();
    const Tensor tensor = reader.Read(info.name);
    WriteTensorFields(tensor, kFewValues, json);
    if (!info.slices.empty()) json.Field("slices", SliceTexts(info));
    if (const auto statistics = ComputeStatistics(tensor)) WriteStatistics(*statistics, json);
    json.EndObject();
  }
  json.EndObject();
}

void InspectCheckpoint(const std::string& prefix, const InspectOptions& options,
                       std::ostream& out) {
  const TensorBundleReader reader(prefix);
  if (!options.tensor.empty()) {
    CheckTensorName(reader, prefix, options.tensor);
    WriteTensor(options.tensor, reader.Read(options.tensor), options, out);
    return;
  }
  if (options.json) {
    JsonWriter json(out);
    json.BeginObject();
    json.Field("kind", "checkpoint");
    json.Field("path", prefix);
    json.Field("files", FilesOf(prefix));
    json.Field("shards", reader.num_shards());
    WriteCheckpointTensors(prefix, json);
    json.EndObject();
    return;
  }
  const std::vector<BundleTensorInfo> tensors = reader.Tensors();
  int64_t elements = 0;
  TextTable table({"variable", "dtype", "shape", "min", "max", "mean", "std", "nan", "slices"});
  for (const BundleTensorInfo& info : tensors) {
    ThrowIfInterrupted();
    const Tensor tensor = reader.Read(info.name);
    elements += tensor.num_elements();
    std::vector<std::string> row = {info.name, NumpyName(info.dtype), info.shape.ToString()};
    for (std::string& cell : StatisticsCells(tensor)) row.push_back(std::move(cell));
    row.push_back(fmt::format("{}", fmt::join(SliceTexts(info), " ")));
    table.AddRow(std::move(row));
  }
  out << fmt::format("{}: checkpoint of {} variables, {} elements, {} data file{}\n", prefix,
                     tensors.size(), elements, reader.num_shards(),
                     reader.num_shards() == 1 ? "" : "s");
  table.Print(out);
}

void InspectNpy(const std::string& path, const InspectOptions& options, std::ostream& out) {
  WriteTensor(path, ReadNpy(path), options, out);
}

}  // namespace sextant::cli

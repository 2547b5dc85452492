#include "sextant/cli/inspect/path_kind.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/record_detection.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/event.pb.h"

namespace sextant::cli {
namespace {

bool IsModelDir(FileSystem& fs, const std::string& path) {
  const std::vector<std::string> names = fs.ListDirectory(path);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "checkpoint" || name.ends_with(".index") || IsEventFileName(name);
  });
}

// "model.ckpt-5" for "model.ckpt-5.data-00000-of-00001" and ".index".
std::optional<std::string> CheckpointPrefix(const std::string& path) {
  if (path.ends_with(".index")) return path.substr(0, path.size() - 6);
  const size_t data = path.rfind(".data-");
  if (data != std::string::npos && path.find("-of-", data) != std::string::npos) {
    return path.substr(0, data);
  }
  return std::nullopt;
}

bool HoldsEvents(const std::string& path, Compression compression) {
  if (IsEventFileName(BaseName(path))) return true;
  try {
    TFRecordReader reader(path, compression);
    std::string record;
    proto::Event event;
    return reader.Next(&record) && event.ParseFromString(record) &&
           event.file_version().starts_with("brain.Event:");
  } catch (const Error&) {
    return false;
  }
}

KnownPath RecogniseFile(FileSystem& fs, const std::string& path) {
  const std::string_view name = BaseName(path);
  if (const auto prefix = CheckpointPrefix(path)) return {PathKind::kCheckpoint, *prefix};
  if (name == "checkpoint") return {PathKind::kModelDir, std::string(DirectoryName(path))};
  if (name == "saved_model.pb" || name == "saved_model.pbtxt") {
    return {PathKind::kSavedModel, std::string(DirectoryName(path))};
  }
  if (name.ends_with(".meta")) return {PathKind::kMetaGraph, path};
  if (name.ends_with(".pb") || name.ends_with(".pbtxt")) return {PathKind::kGraph, path};
  if (IsEventFileName(name)) return {PathKind::kEvents, path};
  char magic[6] = {};
  fs.NewReader(path)->Read(magic);
  if (std::string_view(magic, 6) == "\x93NUMPY") return {PathKind::kNpy, path};
  if (const auto compression = DetectTFRecord(path)) {
    const bool events = HoldsEvents(path, *compression);
    return {events ? PathKind::kEvents : PathKind::kRecords, path};
  }
  if (name.find(".tfrecord") != std::string_view::npos) return {PathKind::kRecords, path};
  throw InvalidArgument(
      "{} is none of: TFRecord or event file, checkpoint, SavedModel, model folder, GraphDef (.pb, "
      ".pbtxt), meta graph (.meta), .npy",
      path);
}

}  // namespace

KnownPath Recognise(const std::string& given) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  FileSystem& fs = FileSystem::ForPath(path);
  if (!fs.Exists(path)) {
    if (fs.Exists(BundleIndexPath(path))) return {PathKind::kCheckpoint, path};
    throw NotFound("there is neither {} nor {}", path, BundleIndexPath(path));
  }
  if (!fs.Stat(path).is_directory) return RecogniseFile(fs, path);
  if (IsSavedModelDir(path)) return {PathKind::kSavedModel, path};
  if (IsModelDir(fs, path)) return {PathKind::kModelDir, path};
  throw InvalidArgument("{} holds neither a SavedModel nor checkpoints nor event files", path);
}

}  // namespace sextant::cli

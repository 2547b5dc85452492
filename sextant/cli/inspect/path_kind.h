// Telling what a file or folder is, by its content as far as possible.
#pragma once

#include <string>

namespace sextant::cli {

enum class PathKind {
  kRecords,  // TFRecord, compressed or not
  kEvents,
  kCheckpoint,  // path is its prefix
  kSavedModel,  // path is its folder
  kModelDir,
  kGraph,  // GraphDef
  kMetaGraph,
  kNpy,
};

struct KnownPath {
  PathKind kind;
  std::string path;  // of the thing itself: the prefix for any file of a checkpoint
};

// Throws NOT_FOUND when nothing is there, INVALID_ARGUMENT when it is nothing that is known.
KnownPath Recognise(const std::string& path);

}  // namespace sextant::cli

#include "sextant/formats/pending_file.h"

#include "sextant/base/error.h"
#include "sextant/base/temporary_file.h"

namespace sextant {

PendingFile::PendingFile(FileSystem& files, const std::string& final_path)
    : files_(files),
      final_path_(final_path),
      path_(TemporaryName(final_path)),
      writer_(files.NewWriter(path_)) {
  writer_->ExpectSync();
}

PendingFile::~PendingFile() {
  if (renamed_) return;
  writer_.reset();
  try {
    files_.Delete(path_);
  } catch (const Error&) {  // what failed before is the error to tell
  }
}

void PendingFile::SyncAndClose() {
  writer_->Sync();
  writer_->Close();
}

void PendingFile::Rename() {
  files_.Rename(path_, final_path_);
  renamed_ = true;
  files_.SyncDirectory(std::string(DirectoryName(final_path_)));
}

}  // namespace sextant

#include "sextant/base/atomic_writer.h"

#include "sextant/base/error.h"
#include "sextant/base/temporary_file.h"

namespace sextant {
namespace {

class AtomicWriter : public FileWriter {
 public:
  AtomicWriter(FileSystem& fs, const std::string& path)
      : fs_(fs), path_(path), temporary_(TemporaryName(path)) {
    Guarded([&] {
      writer_ = fs.NewWriter(temporary_);
      writer_->ExpectSync();
    });
  }
  ~AtomicWriter() override { Discard(); }

  void Append(std::string_view data) override {
    Guarded([&] { Open().Append(data); });
  }
  void Flush() override {
    Guarded([&] { Open().Flush(); });
  }
  void Sync() override {
    Guarded([&] { Open().Sync(); });
  }
  void Close() override {
    if (closed_) return;
    Guarded([&] {
      Open().Sync();
      writer_->Close();
      fs_.Rename(temporary_, path_);
      closed_ = true;
    });
    fs_.SyncDirectory(std::string(DirectoryName(path_)));
  }

 private:
  FileWriter& Open() {
    if (writer_ == nullptr) {
      throw FailedPrecondition("{}: not written, because an earlier write failed", path_);
    }
    return *writer_;
  }

  template <typename Action>
  void Guarded(Action action) {
    try {
      action();
    } catch (const Error& e) {  // leave nothing behind; the first error is the one to tell
      Discard();
      throw Error(e.code(), AboutPath(e.message()));
    } catch (...) {
      Discard();
      throw;
    }
  }

  // The message with the path that the caller knows.
  std::string AboutPath(std::string message) const {
    if (const size_t at = message.find(temporary_); at != std::string::npos) {
      message.replace(at, temporary_.size(), path_);
    }
    const std::string rename = "rename to " + path_;
    if (const size_t at = message.find(rename); at != std::string::npos) {
      message.replace(at, rename.size(), "put the file there");
    }
    return message;
  }

  void Discard() {
    if (closed_ || discarded_) return;
    discarded_ = true;
    writer_.reset();
    try {
      fs_.Delete(temporary_);
    } catch (const Error&) {
    }
  }

  FileSystem& fs_;
  const std::string path_;
  const std::string temporary_;
  std::unique_ptr<FileWriter> writer_;
  bool closed_ = false;
  bool discarded_ = false;
};

}  // namespace

std::unique_ptr<FileWriter> NewAtomicWriter(FileSystem& file_system, const std::string& path) {
  return std::make_unique<AtomicWriter>(file_system, path);
}

}  // namespace sextant

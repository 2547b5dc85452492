#include "sextant/ops/reader/work_unit.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/input_limits.h"
#include "sextant/formats/byte_source.h"
#include "sextant/formats/tfrecord.h"

namespace sextant {
namespace {

class FixedLengthUnit : public WorkUnit {
 public:
  FixedLengthUnit(const std::string& path, const FixedLengthFormat& format)
      : path_(path), format_(format), source_(OpenFileSource(path, format.compression)) {
    Skip(format.header_bytes);
  }

  bool Next(std::string* key, std::string* value) override {
    if (index_ > 0) Skip(format_.hop_bytes);
    if (!Fill(format_.record_bytes + format_.footer_bytes)) return false;
    value->assign(window_, 0, static_cast<size_t>(format_.record_bytes));
    *key = fmt::format("{}:{}", path_, index_++);
    return true;
  }

 private:
  // Whether window_ holds this number of bytes after reading what is missing.
  bool Fill(int64_t bytes) {
    const auto wanted = static_cast<size_t>(bytes);
    while (window_.size() < wanted) {
      // In pieces: the file may be much shorter than a record is said to be.
      const size_t have = window_.size();
      window_.resize(std::min(wanted, have + kPiece));
      const size_t got = source_->Read(std::span(window_).subspan(have));
      window_.resize(have + got);
      if (got == 0) return false;
    }
    return true;
  }

  void Skip(int64_t bytes) {
    while (bytes > 0) {
      if (window_.empty() && !Fill(std::min<int64_t>(bytes, kPiece))) {
        if (window_.empty()) return;
      }
      const int64_t drop = std::min(bytes, static_cast<int64_t>(window_.size()));
      window_.erase(0, static_cast<size_t>(drop));
      bytes -= drop;
    }
  }

  static constexpr size_t kPiece = size_t{1} << 20;
  const std::string path_;
  const FixedLengthFormat format_;
  const std::unique_ptr<ByteSource> source_;
  std::string window_;
  int64_t index_ = 0;
};

class TextUnit : public WorkUnit {
 public:
  TextUnit(const std::string& path, int64_t skip) : path_(path), source_(OpenFileSource(path)) {
    std::string line;
    while (number_ < skip && ReadLine(&line)) ++number_;
  }

  bool Next(std::string* key, std::string* value) override {
    if (!ReadLine(value)) return false;
    *key = fmt::format("{}:{}", path_, ++number_);
    return true;
  }

 private:
  bool ReadLine(std::string* line) {
    line->clear();
    for (;;) {
      if (next_ == end_) {
        next_ = 0;
        end_ = source_->Read(buffer_);
        if (end_ == 0) return !line->empty();
      }
      const char* const begin = buffer_.data() + next_;
      const char* const end = buffer_.data() + end_;
      const char* const newline = std::find(begin, end, '\n');
      line->append(begin, newline);
      if (const uint64_t most = InputLimits::Current().line; line->size() > most) {
        throw ResourceExhausted("{}: line {} does not end within {} bytes; is this a text file?",
                                path_, number_ + 1, most);
      }
      next_ += static_cast<size_t>(newline - begin);
      if (newline == end) continue;
      ++next_;
      if (line->ends_with('\r')) line->pop_back();
      return true;
    }
  }

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_ = std::vector<char>(size_t{1} << 16);
  size_t next_ = 0, end_ = 0;
  int64_t number_ = 0;
};

class TFRecordUnit : public WorkUnit {
 public:
  TFRecordUnit(const std::string& path, Compression compression)
      : path_(path), reader_(path, compression) {}

  bool Next(std::string* key, std::string* value) override {
    const uint64_t offset = reader_.offset();
    if (!reader_.Next(value)) return false;
    *key = fmt::format("{}:{}", path_, offset);
    return true;
  }

 private:
  const std::string path_;
  TFRecordReader reader_;
};

// One record, made from the name.
class SingleUnit : public WorkUnit {
 public:
  SingleUnit(const std::string& name, std::string value) : name_(name), value_(std::move(value)) {}

  bool Next(std::string* key, std::string* value) override {
    if (done_) return false;
    *key = name_;
    *value = std::move(value_);
    return done_ = true;
  }
  bool done() const override { return done_; }

 private:
  const std::string name_;
  std::string value_;
  bool done_ = false;
};

}  // namespace

OpenWorkUnit FixedLengthRecords(const FixedLengthFormat& format) {
  FixedLengthFormat checked = format;
  const int64_t kMost = int64_t{1} << 40;  // a terabyte
  const auto check = [kMost](const char* name, int64_t value, int64_t least) {
    if (value >= least && value <= kMost) return;
    throw InvalidArgument("{} must be >= {} and at most {}, not {}", name, least, kMost, value);
  };
  check("record_bytes", format.record_bytes, 1);
  check("header_bytes", format.header_bytes, 0);
  check("footer_bytes", format.footer_bytes, 0);
  check("hop_bytes", format.hop_bytes, 0);
  if (checked.hop_bytes == 0) checked.hop_bytes = checked.record_bytes;
  return [checked](const std::string& name) {
    return std::make_unique<FixedLengthUnit>(name, checked);
  };
}

OpenWorkUnit TextLines(int64_t skip_header_lines) {
  return [skip_header_lines](const std::string& name) {
    return std::make_unique<TextUnit>(name, skip_header_lines);
  };
}

OpenWorkUnit TFRecords(Compression compression) {
  return [compression](const std::string& name) {
    return std::make_unique<TFRecordUnit>(name, compression);
  };
}

OpenWorkUnit WholeFiles() {
  return [](const std::string& name) {
    return std::make_unique<SingleUnit>(name, FileSystem::ForPath(name).ReadFile(name));
  };
}

OpenWorkUnit Names() {
  return [](const std::string& name) { return std::make_unique<SingleUnit>(name, name); };
}

}  // namespace sextant

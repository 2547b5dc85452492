#include "sextant/formats/compression.h"

#include <zlib.h>

#include <algorithm>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/byte_source.h"

namespace sextant {
namespace {

// TensorFlow's; the size of the memory for matching shows in the compressed bytes.
constexpr size_t kBuffer = 256 * 1024;
constexpr int kMemoryLevel = 9;

int WindowBits(Compression compression) {
  return compression == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
}

// zlib takes sizes as 32-bit numbers.
uInt Piece(size_t size) { return static_cast<uInt>(std::min<size_t>(size, 1 << 30)); }

class InflatingSource : public ByteSource {
 public:
  InflatingSource(std::unique_ptr<ByteSource> file, Compression compression)
      : file_(std::move(file)), compression_(compression), in_(kBuffer) {
    if (inflateInit2(&stream_, WindowBits(compression)) != Z_OK) {
      throw ResourceExhausted("{}: no memory to decompress", path());
    }
  }
  ~InflatingSource() override { inflateEnd(&stream_); }

  size_t Read(std::span<char> dst) override {
    size_t done = 0;
    while (done < dst.size() && Inflate(dst, &done)) {
    }
    position_ += done;
    if (done == 0) error_.ThrowIfError();  // only after what came before it
    return done;
  }

  void Seek(uint64_t offset) override {
    if (offset < position_ || !error_.ok()) Restart();
    std::vector<char> skipped(kBuffer);
    while (position_ < offset) {
      const size_t piece = std::min<uint64_t>(kBuffer, offset - position_);
      if (Read(std::span(skipped).first(piece)) < piece) break;
    }
  }
  bool seekable() const override { return false; }
  std::optional<uint64_t> Size() override { return std::nullopt; }
  bool cut_off() const override { return cut_off_; }
  const std::string& path() const override { return file_->path(); }

 private:
  // Decompresses into dst from *done on; false at the end.
  bool Inflate(std::span<char> dst, size_t* done) {
    if (ended_ || !error_.ok()) return false;
    if (stream_.avail_in == 0 && !Refill() && in_stream_ == 0) return false;
    stream_.next_out = reinterpret_cast<Bytef*>(dst.data() + *done);
    stream_.avail_out = Piece(dst.size() - *done);
    const uInt had_in = stream_.avail_in, had_out = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in_stream_ += had_in - stream_.avail_in;
    *done += had_out - stream_.avail_out;
    if (result == Z_STREAM_END) {
      in_stream_ = 0;
      cut_off_ = false;
      if (compression_ == Compression::kZlib) ended_ = true;
      inflateReset(&stream_);
      return true;
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
      error_ = Status(Code::kDataLoss,
                      fmt::format("{}: not a {} stream, or corrupted, at {}: {}", path(),
                                  CompressionName(compression_), in_offset_ - stream_.avail_in,
                                  stream_.msg != nullptr ? stream_.msg : "inflate failed"));
      return false;
    }
    cut_off_ = had_in == 0 && had_out == stream_.avail_out;
    return !cut_off_;
  }

  bool Refill() {
    const size_t got = file_->Read(in_);
    in_offset_ += got;
    stream_.next_in = reinterpret_cast<Bytef*>(in_.data());
    stream_.avail_in = static_cast<uInt>(got);
    return got > 0;
  }

  void Restart() {
    file_->Seek(0);
    inflateReset(&stream_);
    stream_.avail_in = 0;
    position_ = in_offset_ = in_stream_ = 0;
    ended_ = cut_off_ = false;
    error_ = Status();
  }

  const std::unique_ptr<ByteSource> file_;
  const Compression compression_;
  std::vector<char> in_;
  z_stream stream_{};
  uint64_t position_ = 0;   // in the content
  uint64_t in_offset_ = 0;  // in the file, of the end of in_
  uint64_t in_stream_ = 0;  // bytes taken of the stream that has not ended yet
  bool ended_ = false;
  bool cut_off_ = false;
  Status error_;
};

class DeflatingWriter : public FileWriter {
 public:
  DeflatingWriter(std::unique_ptr<FileWriter> file, Compression compression)
      : file_(std::move(file)), out_(kBuffer) {
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WindowBits(compression),
                     kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw ResourceExhausted("no memory to compress");
    }
    in_.reserve(kBuffer);
  }
  ~DeflatingWriter() override {
    try {
      if (!closed_) DeflateGathered(Z_FINISH);
    } catch (const Error&) {  // the contract: only Close tells
    }
    deflateEnd(&stream_);
  }

  // Small pieces are gathered: a call of deflate for each would cost more than compressing them.
  void Append(std::string_view data) override {
    if (in_.size() + data.size() > kBuffer) DeflateGathered(Z_NO_FLUSH);
    if (data.size() > kBuffer) {
      Deflate(data, Z_NO_FLUSH);
    } else {
      in_.append(data);
    }
  }
  void Flush() override {
    DeflateGathered(Z_SYNC_FLUSH);
    file_->Flush();
  }
  void Sync() override {
    DeflateGathered(Z_SYNC_FLUSH);
    file_->Sync();
  }
  void Close() override {
    if (closed_) return;
    closed_ = true;
    DeflateGathered(Z_FINISH);
    file_->Close();
  }

 private:
  void DeflateGathered(int flush) {
    Deflate(in_, flush);
    in_.clear();
  }

  void Deflate(std::string_view data, int flush) {
    do {
      const uInt piece = Piece(data.size());
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
      stream_.avail_in = piece;
      data.remove_prefix(piece);
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
        stream_.avail_out = static_cast<uInt>(out_.size());
        deflate(&stream_, data.empty() ? flush : Z_NO_FLUSH);
        file_->Append({out_.data(), out_.size() - stream_.avail_out});
      } while (stream_.avail_out == 0);
    } while (!data.empty());
  }

  const std::unique_ptr<FileWriter> file_;
  std::string in_;
  std::vector<char> out_;
  z_stream stream_{};
  bool closed_ = false;
};

}  // namespace

Compression ParseCompression(std::string_view name) {
  if (name.empty() || name == "NONE") return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  throw InvalidArgument("unknown compression '{}': expected NONE, ZLIB or GZIP", name);
}

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kNone:
      return "NONE";
    case Compression::kZlib:
      return "ZLIB";
    case Compression::kGzip:
      return "GZIP";
  }
  return "";
}

std::unique_ptr<ByteSource> Decompress(std::unique_ptr<ByteSource> compressed,
                                       Compression compression) {
  if (compression == Compression::kNone) return compressed;
  return std::make_unique<InflatingSource>(std::move(compressed), compression);
}

std::unique_ptr<FileWriter> NewCompressingWriter(std::unique_ptr<FileWriter> file,
                                                 Compression compression) {
  if (compression == Compression::kNone) return file;
  return std::make_unique<DeflatingWriter>(std::move(file), compression);
}

}  // namespace sextant

#include "sextant/net/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant::net {
namespace {

constexpr int kGzipWindow = 15 + 16;  // zlib's largest window, with the gzip header

// Ends a zlib stream whatever happens.
struct Inflater {
  Inflater() {
    if (inflateInit2(&stream, kGzipWindow) != Z_OK) throw Internal("zlib does not start");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream stream = {};
};

Bytef* BytesOf(const char* bytes) { return reinterpret_cast<Bytef*>(const_cast<char*>(bytes)); }

}  // namespace

std::string Gzip(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Internal("zlib does not start");
  }
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = BytesOf(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = BytesOf(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw Internal("zlib did not finish");
  return packed;
}

std::string Gunzip(std::string_view bytes, size_t max_bytes, size_t max_ratio) {
  constexpr size_t kHarmless = size_t{1} << 20;
  const size_t limit =
      std::min(max_bytes, std::max(kHarmless, bytes.size() * std::min(max_ratio, max_bytes)));
  Inflater inflater;
  z_stream& stream = inflater.stream;
  stream.next_in = BytesOf(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string content(std::min(limit, std::max<size_t>(4096, 4 * bytes.size())), '\0');
  for (;;) {
    stream.next_out = BytesOf(content.data()) + stream.total_out;
    stream.avail_out = static_cast<uInt>(content.size() - stream.total_out);
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_STREAM_END) break;
    if (result != Z_OK && result != Z_BUF_ERROR) throw InvalidArgument("the body is no gzip data");
    if (stream.avail_out > 0) throw InvalidArgument("the gzip data of the body is cut off");
    if (content.size() == limit) {
      throw ResourceExhausted("the body of {} bytes of gzip data holds more than {} bytes",
                              bytes.size(), limit);
    }
    content.resize(std::min(limit, 2 * content.size()));
  }
  if (stream.avail_in > 0) throw InvalidArgument("the body goes on after its gzip data");
  content.resize(stream.total_out);
  return content;
}

}  // namespace sextant::net

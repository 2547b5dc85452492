// Compressed files: a deflate stream around all of the content, as TensorFlow's record files have
// it. Nothing is detected: the caller says what a file is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sextant/base/file_system.h"

#pragma GCC visibility push(default)

namespace sextant {

class ByteSource;

enum class Compression { kNone, kZlib, kGzip };

// TensorFlow's names: "" or "NONE", "ZLIB", "GZIP"; else INVALID_ARGUMENT.
Compression ParseCompression(std::string_view name);
std::string_view CompressionName(Compression compression);

// The content of a compressed stream; `compressed` itself with kNone. Bytes that are no such stream
// throw DATA_LOSS with the path and the offset in the file. A stream that is cut off ends where it
// ends: see ByteSource::cut_off. Several gzip streams one after another are one.
std::unique_ptr<ByteSource> Decompress(std::unique_ptr<ByteSource> compressed,
                                       Compression compression);

// Compresses what is appended into `file`; `file` itself with kNone. The bytes are those that
// TensorFlow writes. Flush and Sync end a block, so that readers see all that was appended; Close
// completes the stream.
std::unique_ptr<FileWriter> NewCompressingWriter(std::unique_ptr<FileWriter> file,
                                                 Compression compression);

}  // namespace sextant

#pragma GCC visibility pop

// libFuzzer target: bytes are read as a table (formats/table.h), as they are or, when the first
// byte is odd, as the contents of a block and of an index with right checksums around them, so that
// the parser behind the checksums is reached. A finding is a memory error, an error other than
// DATA_LOSS.
#include <string>

#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/formats/table.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

std::string Handle(uint64_t offset, uint64_t size) {
  std::string handle;
  PutVarint64(&handle, offset);
  PutVarint64(&handle, size);
  return handle;
}

// A table of one block with these contents, stored plain or as Snappy data.
std::string TableAround(std::string_view contents, char compression) {
  std::string bytes;
  const auto append = [&](std::string block, char type) {
    const std::string handle = Handle(bytes.size(), block.size());
    block.push_back(type);
    PutFixed32(&block, MaskedCrc32c(block));
    bytes += block;
    return handle;
  };
  TableBlockBuilder index(1);
  index.Add("\x7F", append(std::string(contents), compression));
  std::string footer = append(TableBlockBuilder(16).Finish(), table_format::kPlain);
  footer += append(index.Finish(), table_format::kPlain);
  footer.resize(table_format::kFooterSize - 8);
  PutFixed64(&footer, table_format::kMagic);
  return bytes + footer;
}

void Check(const std::string& bytes) {
  MemoryFileSystem files;
  files.WriteFileAtomically("t", bytes);
  const TableReader table(files.NewReader("t"), bytes.size());
  std::vector<std::string> keys;
  table.Scan("", [&](std::string_view key, std::string_view) {
    keys.emplace_back(key);
    return keys.size() < 100;
  });
  table.Find("key");
  table.Find("\x7F");
  for (const std::string& key : keys) table.Find(key);
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    sextant::fuzz::Check(
        data[0] % 2 == 0 ? std::string(rest)
                         : sextant::fuzz::TableAround(rest, static_cast<char>(data[0] / 2 % 3)));
  } catch (const sextant::Error& e) {
    if (e.code() != sextant::Code::kDataLoss) sextant::fuzz::Report(e.what());
  }
  return 0;
}

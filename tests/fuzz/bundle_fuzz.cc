// libFuzzer target: a checkpoint whose index is a valid table with entries from the bytes, and
// whose data file is the rest of them. The first byte is the number of bytes of the header, the
// next of the entry of "a", then of "b" and of the part 0,1:- of "a". Everything is read. A finding
// is a memory error or an error of the wrong kind.
#include <algorithm>
#include <functional>
#include <string>

#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/formats/ordered_code.h"
#include "sextant/formats/table.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/proto/tensor_bundle.pb.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

// A few bytes and their length in front of them, off the front of *data.
std::string_view Take(std::string_view* data) {
  if (data->empty()) return {};
  const size_t size = std::min<size_t>(static_cast<unsigned char>((*data)[0]), data->size() - 1);
  const std::string_view taken = data->substr(1, size);
  data->remove_prefix(1 + size);
  return taken;
}

// The entry with the checksum that its bytes in `data` have, so that reading goes on behind it.
std::string WithCrc(std::string_view bytes, std::string_view data) {
  proto::BundleEntryProto entry;
  if (!entry.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return std::string(bytes);
  const auto offset = static_cast<uint64_t>(entry.offset()),
             size = static_cast<uint64_t>(entry.size());
  if (offset <= data.size() && size <= data.size() - offset) {
    entry.set_crc32c(MaskedCrc32c(data.substr(offset, size)));
  }
  return entry.SerializeAsString();
}

void Ignore(const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& e) {
    if (e.code() != Code::kDataLoss && e.code() != Code::kUnimplemented &&
        e.code() != Code::kInvalidArgument && e.code() != Code::kNotFound) {
      Report(e.what());
    }
  }
}

void Check(std::string_view data) {
  const std::string_view header = Take(&data), a = Take(&data), b = Take(&data), part = Take(&data);
  MemoryFileSystem files;
  const auto index = files.NewWriter("m.index");
  TableWriter table(*index);
  table.Add("", header);
  table.Add(SliceKey("a", TensorSlice::Parse("0,1:-")), WithCrc(part, data));
  table.Add("a", WithCrc(a, data));
  table.Add("b", WithCrc(b, data));
  table.Finish();
  index->Close();
  files.WriteFileAtomically("m.data-00000-of-00001", data);
  const TensorBundleReader reader(files, "m");
  for (const char* name : {"a", "b"}) {
    Ignore([&] { reader.Read(name).Describe(); });
    Ignore([&] { reader.ReadSlice(name, TensorSlice::Parse("0,1:-")); });
  }
  Ignore([&] { reader.Tensors(); });
  Ignore([&] { reader.Locations(); });
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sextant::fuzz::Ignore([&] { sextant::fuzz::Check({reinterpret_cast<const char*>(data), size}); });
  return 0;
}

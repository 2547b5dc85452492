// The most bytes that are taken into memory at once, whatever a file holds: beyond them readers
// throw RESOURCE_EXHAUSTED, naming the file, instead of filling the memory.
#pragma once

#include <cstdint>

namespace sextant {

// A file that is read whole (FileSystem::ReadFile): no message of protobuf is larger.
inline constexpr uint64_t kMostFileBytes = uint64_t{2} << 30;
// The same where the length is not known before: pipes and devices.
inline constexpr uint64_t kMostStreamBytes = uint64_t{256} << 20;
// A line of text, a row of CSV.
inline constexpr uint64_t kMostLineBytes = uint64_t{64} << 20;
// A record of a TFRecord file.
inline constexpr uint64_t kMostRecordBytes = uint64_t{2} << 30;
// The tensors of a batch.
inline constexpr uint64_t kMostBatchBytes = uint64_t{2} << 30;

}  // namespace sextant

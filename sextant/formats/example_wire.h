// Reading tf.train.Example and SequenceExample straight from their bytes.
//
// A feature is handed out as the bytes of its list of values, to be counted and decoded where the
// values are wanted. Everything that protobuf parses is accepted and means the same: lists packed
// or not, unknown fields, fields in any order, parts of one message given in several pieces. Keys
// are not checked for being UTF-8. An entry that is given several times is handed out each time; in
// a message the last one counts.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "sextant/base/function_ref.h"

namespace sextant {

enum class FeatureKind : uint8_t { kNone, kBytes, kFloat, kInt64 };
// "nothing", "bytes", "float", "int64"
std::string_view FeatureKindName(FeatureKind kind);

// A feature whose values stand in "list", the body of a BytesList, FloatList or Int64List.
struct WireFeature {
  FeatureKind kind = FeatureKind::kNone;
  std::string_view list;
};

// Keeps the bytes of messages that were given in several pieces and had to be joined: rare.
// Thread-safe.
class JoinedBytes {
 public:
  // first + second, where "first" may be empty.
  std::string_view Join(std::string_view first, std::string_view second);
  void Clear() { kept_.clear(); }

 private:
  std::mutex mutex_;
  std::deque<std::string> kept_;
};

using FeatureFn = FunctionRef<void(std::string_view key, const WireFeature& feature)>;
using FeatureListFn = FunctionRef<void(std::string_view key, std::string_view list)>;

// These call back for each entry in the order of the bytes and return false when the bytes are
// not such a message (values of lists are not looked at). What they hand out points into the
// message or into "joined".
[[nodiscard]] bool ReadExample(std::string_view example, JoinedBytes& joined, FeatureFn feature);
[[nodiscard]] bool ReadSequenceExample(std::string_view example, JoinedBytes& joined,
                                       FeatureFn context, FeatureListFn feature_list);
// The features of a list handed out by ReadSequenceExample, in order.
[[nodiscard]] bool ReadFeatureList(std::string_view list, JoinedBytes& joined,
                                   FunctionRef<void(const WireFeature& feature)> feature);

// Number of values; -1 when the list is malformed. 0 for a feature of no kind.
int64_t CountValues(const WireFeature& feature);

// Decode the values of a list. REQUIRES: out.size() == CountValues of a feature of that kind.
void ReadValues(std::string_view list, std::span<float> out);
void ReadValues(std::string_view list, std::span<int64_t> out);
void ReadValues(std::string_view list, std::span<std::string> out);

}  // namespace sextant

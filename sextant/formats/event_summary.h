// What the values of summaries say, whichever form they were written in: a scalar is a scalar,
// classic or plugin.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant::proto {
class Summary_Value;
}

namespace sextant {

enum class SummaryKind { kScalar, kHistogram, kImage, kAudio, kText, kHParams, kTensor, kNothing };
// "scalar", "histogram", ...
std::string_view SummaryKindName(SummaryKind kind);

// Counts of values from left to right. The classic form is read as TensorBoard reads it: empty
// ranges at the ends are left out, and the ends are the least and the greatest value.
struct SummaryBucket {
  double left = 0;
  double right = 0;
  double count = 0;
};

struct SummaryImage {
  int64_t width = 0;
  int64_t height = 0;
  std::string encoded;  // PNG as a rule
};

struct SummaryData {
  SummaryKind kind = SummaryKind::kNothing;
  std::string tag;
  std::string plugin_name;             // as written with the first value of the tag
  double scalar = 0;                   // kScalar
  std::vector<SummaryBucket> buckets;  // kHistogram
  std::vector<SummaryImage> images;    // kImage
  std::vector<std::string> clips;      // kAudio: encoded
  Tensor tensor;                       // kText (strings), kTensor, kHParams
};

// Reads the values of one run in the order they were written, because only the first value of a tag
// has metadata. Used by one thread at a time.
class SummaryReader {
 public:
  // Throws INVALID_ARGUMENT, naming the tag, when the tensor is not of the form its plugin asks
  // for.
  SummaryData Read(const proto::Summary_Value& value);

 private:
  std::map<std::string, std::string> plugins_;  // by tag
};

}  // namespace sextant

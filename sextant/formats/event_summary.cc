#include "sextant/formats/event_summary.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::HistogramProto;
using proto::Summary;

[[noreturn]] void ThrowForm(const SummaryData& data, std::string_view expected) {
  throw InvalidArgument("summary '{}' of plugin '{}' holds {}, expected {}", data.tag,
                        data.plugin_name, data.tensor.Describe(), expected);
}

// A few bytes may stand for many equal elements; more than this is no summary.
size_t MaxBytes(const proto::TensorProto& tensor) {
  return std::max<size_t>(64 << 20, 2 * tensor.ByteSizeLong());
}

std::vector<SummaryBucket> ClassicBuckets(const HistogramProto& histogram) {
  const auto& counts = histogram.bucket();
  const int size = std::min(counts.size(), histogram.bucket_limit_size());
  int first = 0, last = size - 1;
  while (first < size && !(counts[first] > 0)) ++first;
  while (last >= first && !(counts[last] > 0)) --last;
  std::vector<SummaryBucket> buckets;
  for (int i = first; i <= last; ++i) {
    buckets.push_back({i == first ? histogram.min() : histogram.bucket_limit(i - 1),
                       i == last ? histogram.max() : histogram.bucket_limit(i), counts[i]});
  }
  return buckets;
}

template <typename T>
std::vector<SummaryBucket> Rows(const Tensor& tensor) {
  const auto rows = tensor.flat<T>();
  std::vector<SummaryBucket> buckets;
  for (size_t i = 0; i + 2 < rows.size(); i += 3) {
    buckets.push_back({static_cast<double>(rows[i]), static_cast<double>(rows[i + 1]),
                       static_cast<double>(rows[i + 2])});
  }
  return buckets;
}

void ReadScalar(SummaryData& data) {
  if (data.tensor.num_elements() != 1 || data.tensor.dtype() == DType::kString ||
      !IsPlain(data.tensor.dtype())) {
    ThrowForm(data, "one number");
  }
  data.kind = SummaryKind::kScalar;
  data.scalar = data.tensor.AsDouble();
}

void ReadHistogram(SummaryData& data) {
  const DType dtype = data.tensor.dtype();
  const bool rows = data.tensor.rank() == 2 && data.tensor.dim(1) == 3;
  if (!rows || (dtype != DType::kFloat && dtype != DType::kDouble)) {
    ThrowForm(data, "rows of left edge, right edge and count");
  }
  data.kind = SummaryKind::kHistogram;
  data.buckets = dtype == DType::kFloat ? Rows<float>(data.tensor) : Rows<double>(data.tensor);
}

void ReadImages(SummaryData& data) {
  int64_t sides[2] = {0, 0};
  const bool strings = data.tensor.dtype() == DType::kString && data.tensor.rank() == 1 &&
                       data.tensor.num_elements() >= 2;
  if (!strings) ThrowForm(data, "strings: width, height, images");
  const auto parts = data.tensor.flat<std::string>();
  for (int i = 0; i < 2; ++i) {
    if (!ParseNumber(parts[i], &sides[i])) ThrowForm(data, "width and height in digits");
  }
  data.kind = SummaryKind::kImage;
  for (size_t i = 2; i < parts.size(); ++i) data.images.push_back({sides[0], sides[1], parts[i]});
}

void ReadClips(SummaryData& data) {
  const Tensor& tensor = data.tensor;
  const bool rows = tensor.rank() == 2 && tensor.dim(1) == 2;
  if (tensor.dtype() != DType::kString || !rows) ThrowForm(data, "rows of clip and label");
  data.kind = SummaryKind::kAudio;
  const auto parts = tensor.flat<std::string>();
  for (size_t i = 0; i < parts.size(); i += 2) data.clips.push_back(parts[i]);
}

void ReadTensor(SummaryData& data) {
  const std::string& plugin = data.plugin_name;
  if (plugin == "scalars") return ReadScalar(data);
  if (plugin == "histograms") return ReadHistogram(data);
  if (plugin == "images") return ReadImages(data);
  if (plugin == "audio") return ReadClips(data);
  if (plugin == "text" && data.tensor.dtype() != DType::kString) ThrowForm(data, "strings");
  data.kind = plugin == "text"      ? SummaryKind::kText
              : plugin == "hparams" ? SummaryKind::kHParams
                                    : SummaryKind::kTensor;
}

}  // namespace

std::string_view SummaryKindName(SummaryKind kind) {
  static constexpr std::string_view kNames[] = {"scalar", "histogram", "image",  "audio",
                                                "text",   "hparams",   "tensor", "nothing"};
  return kNames[static_cast<int>(kind)];
}

SummaryData SummaryReader::Read(const Summary::Value& value) {
  SummaryData data;
  data.tag = value.tag().empty() ? value.node_name() : value.tag();
  if (value.has_metadata()) {
    plugins_.try_emplace(data.tag, value.metadata().plugin_data().plugin_name());
  }
  if (const auto it = plugins_.find(data.tag); it != plugins_.end()) data.plugin_name = it->second;
  switch (value.value_case()) {
    case Summary::Value::kSimpleValue:
      data.kind = SummaryKind::kScalar;
      data.scalar = value.simple_value();
      break;
    case Summary::Value::kHisto:
      data.kind = SummaryKind::kHistogram;
      data.buckets = ClassicBuckets(value.histo());
      break;
    case Summary::Value::kImage:
      data.kind = SummaryKind::kImage;
      data.images.push_back(
          {value.image().width(), value.image().height(), value.image().encoded_image_string()});
      break;
    case Summary::Value::kAudio:
      data.kind = SummaryKind::kAudio;
      data.clips.push_back(value.audio().encoded_audio_string());
      break;
    case Summary::Value::kTensor:
      data.tensor = TensorFromProto(value.tensor(), MaxBytes(value.tensor()));
      ReadTensor(data);
      break;
    case Summary::Value::kObsoleteOldStyleHistogram:
    case Summary::Value::VALUE_NOT_SET:
      break;
  }
  return data;
}

}  // namespace sextant

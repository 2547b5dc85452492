#include "sextant/formats/summary_values.h"

#include <algorithm>
#include <cmath>

#include "sextant/formats/histogram.h"
#include "sextant/formats/image/png.h"
#include "sextant/formats/wav.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::Summary;

constexpr int kBuckets = 30;
// AudioPluginData with encoding (field 2) WAV (11).
constexpr std::string_view kWavEncoding = "\x10\x0b";

Summary::Value& NewValue(Summary* summary, const std::string& tag) {
  Summary::Value& value = *summary->add_value();
  value.set_tag(tag);
  return value;
}

// Rows of left edge, right edge and count.
Tensor EqualBuckets(std::span<const float> values) {
  Tensor buckets = Tensor::Zeros(DType::kDouble, {kBuckets, 3});
  if (values.empty()) return buckets;
  const auto [least, greatest] = std::ranges::minmax_element(values);
  const double min = *least, max = *greatest, width = (max - min) / kBuckets;
  double* const rows = buckets.data<double>();
  for (int i = 0; i < kBuckets; ++i) {
    rows[3 * i] = min + i * width;
    rows[3 * i + 1] = i + 1 == kBuckets ? max : min + (i + 1) * width;
  }
  for (const float value : values) {
    // Equal values all count in the last range.
    const double place = width > 0 ? std::floor((value - min) / width) : kBuckets;
    rows[3 * static_cast<int>(std::min<double>(place, kBuckets - 1)) + 2] += 1;
  }
  return buckets;
}

}  // namespace

void AddScalar(Summary* summary, const std::string& tag, float value, SummaryForm form) {
  if (form == SummaryForm::kPlugin) return AddTensor(summary, tag, Tensor(value), "scalars");
  NewValue(summary, tag).set_simple_value(value);
}

void AddHistogram(Summary* summary, const std::string& tag, std::span<const float> values,
                  SummaryForm form) {
  const auto bad = std::ranges::find_if_not(values, [](float x) { return std::isfinite(x); });
  if (bad != values.end()) {
    throw InvalidArgument("histogram '{}': value {} is {}", tag, bad - values.begin(), *bad);
  }
  if (form == SummaryForm::kPlugin) {
    return AddTensor(summary, tag, EqualBuckets(values), "histograms");
  }
  Histogram histogram;
  for (const float value : values) histogram.Add(value);
  histogram.ToProto(NewValue(summary, tag).mutable_histo());
}

void AddImage(Summary* summary, const std::string& tag, std::span<const uint8_t> pixels,
              const ImageSize& size, SummaryForm form) {
  CheckImageSize("PNG", size);
  if (pixels.size() != size.row_elements() * static_cast<size_t>(size.height)) {
    throw InvalidArgument("image '{}': {} bytes for {} by {} pixels of {} channels", tag,
                          pixels.size(), size.width, size.height, size.channels);
  }
  std::string png = WritePng(pixels.data(), size, {});
  if (form == SummaryForm::kPlugin) {
    const Tensor strings = Tensor::FromVector<std::string>(
        {std::to_string(size.width), std::to_string(size.height), std::move(png)});
    return AddTensor(summary, tag, strings, "images");
  }
  Summary::Image& image = *NewValue(summary, tag).mutable_image();
  image.set_height(static_cast<int32_t>(size.height));
  image.set_width(static_cast<int32_t>(size.width));
  image.set_colorspace(size.channels);
  image.set_encoded_image_string(std::move(png));
}

void AddAudio(Summary* summary, const std::string& tag, std::span<const float> samples,
              int64_t num_channels, uint32_t sample_rate, SummaryForm form) {
  std::string wav = WriteWav(samples, num_channels, sample_rate);
  if (form == SummaryForm::kPlugin) {
    const Tensor clips = Tensor::Of<std::string>({1, 2}, {std::move(wav), ""});
    return AddTensor(summary, tag, clips, "audio", kWavEncoding);
  }
  Summary::Audio& audio = *NewValue(summary, tag).mutable_audio();
  audio.set_sample_rate(static_cast<float>(sample_rate));
  audio.set_num_channels(num_channels);
  audio.set_length_frames(static_cast<int64_t>(samples.size()) / num_channels);
  audio.set_encoded_audio_string(std::move(wav));
  audio.set_content_type("audio/wav");
}

void AddText(Summary* summary, const std::string& tag, const Tensor& strings) {
  if (strings.dtype() != DType::kString) {
    throw InvalidArgument("text '{}' must be strings, not {}", tag, strings.Describe());
  }
  AddTensor(summary, tag, strings, "text");
}

void AddTensor(Summary* summary, const std::string& tag, const Tensor& tensor,
               std::string_view plugin_name, std::string_view plugin_content) {
  Summary::Value& value = NewValue(summary, tag);
  TensorToProto(tensor, value.mutable_tensor());
  auto& plugin = *value.mutable_metadata()->mutable_plugin_data();
  plugin.set_plugin_name(std::string(plugin_name));
  plugin.set_content(std::string(plugin_content));
}

}  // namespace sextant

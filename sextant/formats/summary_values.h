// Adding values to a Summary, in either of the forms that TensorBoard reads: classic, as the
// summary ops of TensorFlow 1 make them, or plugin: a tensor with metadata, as TensorFlow 2 does.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/formats/image/pixels.h"
#include "sextant/tensor/tensor.h"

namespace sextant::proto {
class Summary;
}

namespace sextant {

enum class SummaryForm { kClassic, kPlugin };

void AddScalar(proto::Summary* summary, const std::string& tag, float value,
               SummaryForm form = SummaryForm::kClassic);

// Classic: counts in TensorFlow's fixed ranges. Plugin: in 30 equal ranges from least to greatest.
// Throws INVALID_ARGUMENT when a value is not finite.
void AddHistogram(proto::Summary* summary, const std::string& tag, std::span<const float> values,
                  SummaryForm form = SummaryForm::kClassic);

// An image of bytes with 1, 3 or 4 channels, stored as PNG.
void AddImage(proto::Summary* summary, const std::string& tag, std::span<const uint8_t> pixels,
              const ImageSize& size, SummaryForm form = SummaryForm::kClassic);

// Sound in [-1, 1], frame by frame, stored as WAV.
void AddAudio(proto::Summary* summary, const std::string& tag, std::span<const float> samples,
              int64_t num_channels, uint32_t sample_rate, SummaryForm form = SummaryForm::kClassic);

// Text (markdown): one string or a table of them. There is one form only.
void AddText(proto::Summary* summary, const std::string& tag, const Tensor& strings);

// Any tensor, for the plugin of that name ("" for none).
void AddTensor(proto::Summary* summary, const std::string& tag, const Tensor& tensor,
               std::string_view plugin_name = "", std::string_view plugin_content = "");

}  // namespace sextant

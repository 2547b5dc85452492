// Images with their classes, in memory, and as a file of Examples.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::datasets {

// Images of one size, one after another, each with a label 0..9.
struct SEXTANT_API LabelledImages {
  int64_t image_bytes = 0;
  std::string pixels;  // image_bytes per image
  std::string labels;  // one byte per image

  int64_t size() const { return static_cast<int64_t>(labels.size()); }
  // Its pixels.
  std::string_view image(int64_t i) const {
    return std::string_view(pixels).substr(i * image_bytes, image_bytes);
  }
  int label(int64_t i) const { return static_cast<unsigned char>(labels[i]); }

  // Images [begin, end) of `other` behind those that are here.
  void Append(const LabelledImages& other, int64_t begin, int64_t end);
  void Append(const LabelledImages& other) { Append(other, 0, other.size()); }
};

// Throws DATA_LOSS with `name` unless all labels are below 10.
void CheckLabels(const LabelledImages& images, std::string_view name);

// Writes a TFRecord file of the first `count` as Examples with the features `image` (bytes) and
// `label` (int64), atomically; a progress line shows on a terminal. Throws CANCELLED after SIGINT.
void WriteImageRecords(const LabelledImages& images, int64_t count, const std::string& path);

}  // namespace sextant::datasets

#pragma GCC visibility pop

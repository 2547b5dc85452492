// Summaries of a model's tensors: what TensorBoard shows of a training. Each goes to the collection
// "summaries", which an Estimator writes to event files every so often.
//
//   summaries::Scalar("learning_rate", rate);
//
// The tag is the name in the current name scope, made unique.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

inline constexpr const char* kSummaries = "summaries";

namespace summaries {

Output Scalar(std::string_view name, Output value);
// The distribution of the values.
Output Histogram(std::string_view name, Output values);
// Of [batch, height, width, 1, 3 or 4 channels].
Output Image(std::string_view name, Output images, int64_t max_images = 3);
// Of [batch, frames] or [batch, frames, channels], numbers in [-1, 1].
Output Audio(std::string_view name, Output sounds, float sample_rate, int64_t max_outputs = 3);
// Strings, shown as markdown.
Output Text(std::string_view name, Output strings);

// All of the collection in one; none when it is empty.
Output MergeAll();

}  // namespace summaries
}  // namespace sextant

#pragma GCC visibility pop

// Summaries of a model's tensors: what TensorBoard shows of a training. Each goes to the collection
// "summaries", which an Estimator writes to event files every so often.
//
//   summaries::Scalar("learning_rate", rate);
//
// The tag is the name in the current name scope, made unique. Characters that names of nodes cannot
// have, as in "total_loss (raw)", stay in the tag and are "_" in the node's name. A Tag is the tag
// as it is, whatever the scope and however often, as with TensorFlow's scalar_summary before 1.0:
//
//   summaries::Scalar(summaries::Tag{"loss"}, tower_loss);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

inline constexpr const char* kSummaries = "summaries";

namespace summaries {

struct SEXTANT_API Tag {
  std::string text;  // as it will be in the event file
};

// What a summary is called: a name or a Tag.
class SEXTANT_API Label {
 public:
  Label(const char* name) : text_(name) {}                       // NOLINT
  Label(std::string_view name) : text_(name) {}                  // NOLINT
  Label(std::string name) : text_(std::move(name)) {}            // NOLINT
  Label(Tag tag) : text_(std::move(tag.text)), is_tag_(true) {}  // NOLINT
  const std::string& text() const { return text_; }
  bool is_tag() const { return is_tag_; }

 private:
  std::string text_;
  bool is_tag_ = false;
};

Output Scalar(const Label& name, Output value);
// The distribution of the values.
Output Histogram(const Label& name, Output values);
// Of [batch, height, width, 1, 3 or 4 channels].
Output Image(const Label& name, Output images, int64_t max_images = 3);
// Of [batch, frames] or [batch, frames, channels], numbers in [-1, 1].
Output Audio(const Label& name, Output sounds, float sample_rate, int64_t max_outputs = 3);
// Strings, shown as markdown.
Output Text(const Label& name, Output strings);

struct SEXTANT_API PrCurveOptions {
  int num_thresholds = 201;       // evenly spaced in [0, 1], at least 2
  Output weights = {};            // of the predictions, broadcast to them
  std::string display_name = {};  // in TensorBoard; default: the name
  std::string description = {};   // markdown
};
// Precision and recall of a binary classifier at thresholds, for TensorBoard's PR curves. labels:
// bool; predictions: floats in [0, 1] of the same shape. The tag is "NAME/pr_curves".
Output PrCurve(std::string_view name, Output labels, Output predictions,
               const PrCurveOptions& options = {});

// All of the collection in one; none when it is empty.
Output MergeAll();

}  // namespace summaries
}  // namespace sextant

#pragma GCC visibility pop

#include "sextant/nn/summaries.h"

#include <algorithm>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/cumulative.h"
#include "sextant/ops/math/segment.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/summary/media_summary.h"
#include "sextant/ops/summary/summary.h"
#include "sextant/proto/summary.pb.h"

namespace sextant::summaries {
namespace {

// With "_" for the characters that names of nodes cannot have, as tf.summary cleans names.
std::string NodeName(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-' || c == '.' || c == '/';
    if (!fits) c = '_';
  }
  // They begin with a letter, a digit or a dot, and a scope's name has something between slashes.
  const size_t begin = name.find_first_not_of("/_-");
  name.erase(0, std::min(begin, name.size()));
  while (name.ends_with('/')) name.pop_back();
  return name.empty() ? "summary" : name;
}

// The summary that "make" builds from a tag.
Output Tagged(const Label& label, const std::function<Output(Output tag)>& make) {
  if (label.text().empty()) throw InvalidArgument("a summary must have a name or a tag");
  const std::string outer = CurrentScope().name;
  const std::string name = NodeName(label.text());
  const NameScope scope(name);
  // What the graph added to make the name unique belongs to the tag, too.
  const std::string added = scope.name().substr(outer.size() + name.size());
  const std::string tag =
      label.is_tag() ? label.text() : outer + label.text() + added.substr(0, added.size() - 1);
  const Output summary = make(Const(Tensor(tag)));
  CurrentGraph().AddToCollection(kSummaries, summary);
  return summary;
}

}  // namespace

Output Scalar(const Label& name, Output value) {
  return Tagged(name, [&](Output tag) { return ScalarSummary(tag, value); });
}

Output Histogram(const Label& name, Output values) {
  return Tagged(name, [&](Output tag) { return HistogramSummary(tag, values); });
}

Output Image(const Label& name, Output images, int64_t max_images) {
  return Tagged(name,
                [&](Output tag) { return ImageSummary(tag, images, {.max_images = max_images}); });
}

Output Audio(const Label& name, Output sounds, float sample_rate, int64_t max_outputs) {
  return Tagged(name, [&](Output tag) {
    return AudioSummary(tag, sounds, Const(Tensor(sample_rate)), max_outputs);
  });
}

Output Text(const Label& name, Output strings) {
  proto::SummaryMetadata metadata;
  metadata.mutable_plugin_data()->set_plugin_name("text");
  return Tagged(name, [&](Output tag) {
    return TensorSummary(tag, strings, Const(Tensor(metadata.SerializeAsString())));
  });
}

Output PrCurve(std::string_view name, Output labels, Output predictions,
               const PrCurveOptions& options) {
  const int64_t count = options.num_thresholds;
  if (count < 2) throw InvalidArgument("PrCurve needs at least 2 thresholds, got {}", count);
  if (labels.dtype() != DType::kBool) {
    throw InvalidArgument("PrCurve: labels must be bool, got {}", DTypeName(labels.dtype()));
  }
  const NameScope scope(name);
  const Output truth = Cast(labels, DType::kFloat);
  const Output given = Cast(predictions, DType::kFloat);
  const Output score = Minimum(ScalarLike(1, given), Maximum(ScalarLike(0, given), given));
  // A prediction is at or above thresholds 0 to i of [i / (count - 1)]: counts per bucket i, summed
  // from the end, are the counts at each threshold.
  const Output bucket =
      Cast(Floor(Reshape(score, {-1}) * static_cast<double>(count - 1)), DType::kInt32);
  const auto at_thresholds = [&](Output chosen) {
    const Output weighted = options.weights ? chosen * options.weights : chosen;
    const Output sums = UnsortedSegmentSum(Reshape(weighted, {-1}), bucket, count);
    return Cumsum(sums, 0, {.reverse = true});
  };
  const Output tp = at_thresholds(truth), fp = at_thresholds(1.0 - truth);
  const Output tn = Slice(fp, {0}, {1}) - fp, fn = Slice(tp, {0}, {1}) - tp;
  const Output least = ScalarLike(1e-7, tp);  // against division by 0
  const Output precision = tp / Maximum(least, tp + fp);
  const Output recall = tp / Maximum(least, tp + fn);

  proto::SummaryMetadata metadata;
  metadata.set_display_name(options.display_name.empty() ? std::string(name)
                                                         : options.display_name);
  metadata.set_summary_description(options.description);
  metadata.mutable_plugin_data()->set_plugin_name("pr_curves");
  // PrCurvePluginData { int32 version = 1; uint32 num_thresholds = 2; }, version 0.
  std::string content = "\x10";
  for (auto rest = static_cast<uint64_t>(count); rest > 0; rest >>= 7) {
    content += static_cast<char>((rest & 0x7F) | (rest > 0x7F ? 0x80 : 0));
  }
  metadata.mutable_plugin_data()->set_content(content);
  const Output summary = TensorSummary(Const(Tensor(scope.name() + "pr_curves")),
                                       Pack({tp, fp, tn, fn, precision, recall}),
                                       Const(Tensor(metadata.SerializeAsString())));
  CurrentGraph().AddToCollection(kSummaries, summary);
  return summary;
}

Output MergeAll() {
  const std::vector<Output> all = CurrentGraph().Collection(kSummaries);
  if (all.empty()) return {};
  const NameScope root("");
  return MergeSummary(all);
}

}  // namespace sextant::summaries

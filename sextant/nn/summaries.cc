#include "sextant/nn/summaries.h"

#include <functional>

#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/summary/media_summary.h"
#include "sextant/ops/summary/summary.h"
#include "sextant/proto/summary.pb.h"

namespace sextant::summaries {
namespace {

// The summary that "make" builds from a tag.
Output Tagged(std::string_view name, const std::function<Output(Output tag)>& make) {
  const NameScope scope(name);
  const std::string tag = scope.name().substr(0, scope.name().size() - 1);
  const Output summary = make(Const(Tensor(tag)));
  CurrentGraph().AddToCollection(kSummaries, summary);
  return summary;
}

}  // namespace

Output Scalar(std::string_view name, Output value) {
  return Tagged(name, [&](Output tag) { return ScalarSummary(tag, value); });
}

Output Histogram(std::string_view name, Output values) {
  return Tagged(name, [&](Output tag) { return HistogramSummary(tag, values); });
}

Output Image(std::string_view name, Output images, int64_t max_images) {
  return Tagged(name,
                [&](Output tag) { return ImageSummary(tag, images, {.max_images = max_images}); });
}

Output Audio(std::string_view name, Output sounds, float sample_rate, int64_t max_outputs) {
  return Tagged(name, [&](Output tag) {
    return AudioSummary(tag, sounds, Const(Tensor(sample_rate)), max_outputs);
  });
}

Output Text(std::string_view name, Output strings) {
  proto::SummaryMetadata metadata;
  metadata.mutable_plugin_data()->set_plugin_name("text");
  return Tagged(name, [&](Output tag) {
    return TensorSummary(tag, strings, Const(Tensor(metadata.SerializeAsString())));
  });
}

Output MergeAll() {
  const std::vector<Output> all = CurrentGraph().Collection(kSummaries);
  if (all.empty()) return {};
  const NameScope root("");
  return MergeSummary(all);
}

}  // namespace sextant::summaries

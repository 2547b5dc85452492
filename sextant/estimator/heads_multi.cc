// Several heads of one model.
#include <set>

#include "sextant/base/error.h"
#include "sextant/estimator/head_impl.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"

namespace sextant::heads {
namespace {

class SeveralHeads : public HeadImpl {
 public:
  SeveralHeads(std::vector<Head> heads, MultiHeadOptions options)
      : heads_(std::move(heads)), options_(std::move(options)) {
    if (heads_.empty()) throw InvalidArgument("a multi-head needs heads");
    if (!options_.weights.empty() && options_.weights.size() != heads_.size()) {
      throw InvalidArgument("a multi-head of {} heads has {} weights", heads_.size(),
                            options_.weights.size());
    }
    std::set<std::string> names;
    for (const Head& head : heads_) {
      if (head.name().empty()) throw InvalidArgument("the heads of a multi-head need names");
      if (!names.insert(head.name()).second) {
        throw InvalidArgument("two heads of a multi-head are called '{}'", head.name());
      }
      name_ += (name_.empty() ? "" : "_") + head.name();
      dimension_ += head.logits_dimension();
    }
  }
  int64_t logits_dimension() const override { return dimension_; }
  const std::string& name() const override { return name_; }
  const std::string& summary_name() const override { return none_; }

  NamedOutputs Predictions(Output logits) const override {
    NamedOutputs all;
    const std::vector<Output> parts = Parts(logits);
    for (size_t i = 0; i < heads_.size(); ++i) {
      const NameScope scope(heads_[i].name());
      for (auto& [key, output] : heads_[i]->Predictions(parts[i])) {
        all.emplace_back(heads_[i].name() + "/" + key, output);
      }
    }
    return all;
  }

  std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const override {
    std::vector<std::pair<std::string, ExportOutput>> all;
    for (const Head& head : heads_) {
      for (auto& [key, output] : head->ExportOutputs(Own(head, predictions))) {
        if (key != "serving_default") {
          all.emplace_back(head.name() + "/" + key, output);
          continue;
        }
        if (all.empty()) all.emplace_back(key, output);
        all.emplace_back(head.name(), output);
      }
    }
    all.emplace_back("predict", ExportOutput{ExportOutput::Kind::kPredict, predictions});
    return all;
  }

  HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                bool metrics) const override {
    HeadLoss result;
    std::vector<Output> losses;
    const std::vector<Output> parts = Parts(logits);
    for (size_t i = 0; i < heads_.size(); ++i) {
      const Head& head = heads_[i];
      if (!args.labels.Has(head.name())) {
        throw InvalidArgument("the input gives no labels '{}' for the head of that name",
                              head.name());
      }
      const NameScope scope(head.name());
      const HeadLoss one = head->Loss(args, parts[i], Own(head, predictions), metrics);
      const double weight = options_.weights.empty() ? 1 : options_.weights[i];
      losses.push_back(weight == 1 ? one.training : one.training * weight);
      const std::string key = KeyOf("loss", head.name());
      if (metrics) {
        result.metrics.emplace_back(key, metrics::Mean(one.training, {.name = "loss"}));
        result.metrics.insert(result.metrics.end(), one.metrics.begin(), one.metrics.end());
      } else {
        const NameScope root("");
        summaries::Scalar(key, one.training);
      }
    }
    result.training = losses.size() == 1 ? losses[0] : AddN(losses);
    return result;
  }

 private:
  std::vector<Output> Parts(Output logits) const {
    if (heads_.size() == 1) return {logits};
    std::vector<int64_t> sizes;
    for (const Head& head : heads_) sizes.push_back(head.logits_dimension());
    return Split(logits, sizes, -1);
  }
  // The predictions of one head, by its own names.
  static NamedOutputs Own(const Head& head, const NamedOutputs& predictions) {
    const std::string prefix = head.name() + "/";
    NamedOutputs own;
    for (const auto& [key, output] : predictions) {
      if (key.starts_with(prefix)) own.emplace_back(key.substr(prefix.size()), output);
    }
    return own;
  }

  const std::vector<Head> heads_;
  const MultiHeadOptions options_;
  std::string name_, none_;
  int64_t dimension_ = 0;
};

}  // namespace

Head MultiHead(std::vector<Head> heads, const MultiHeadOptions& options) {
  return Head(std::make_shared<SeveralHeads>(std::move(heads), options));
}

}  // namespace sextant::heads

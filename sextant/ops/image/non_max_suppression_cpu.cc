#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/image/float_pixels.h"

namespace sextant {
namespace {

struct Candidate {
  int32_t box;
  float score;
  int32_t compared;  // with this many of the boxes chosen so far

  // Worse ones first: the top of a heap is the best score, of equal ones the lowest index.
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : box > other.box;
  }
};

// Intersection by union of two boxes given by two opposite corners each.
float IntersectionOverUnion(const float* a, const float* b) {
  const auto low = [](const float* box, int i) { return std::min(box[i], box[i + 2]); };
  const auto high = [](const float* box, int i) { return std::max(box[i], box[i + 2]); };
  const auto area = [&](const float* box) {
    return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
  };
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  float shared = 1;
  for (int i = 0; i < 2; ++i) {
    shared *= std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.0F);
  }
  return shared / (area_a + area_b - shared);
}

// All versions of the op: they differ in where the thresholds come from and in their outputs.
class SuppressionKernel : public Kernel {
 public:
  explicit SuppressionKernel(KernelInit& init)
      : overlaps_given_(init.node().type() == "NonMaxSuppressionWithOverlaps") {
    if (init.node().type() == "NonMaxSuppression") {
      iou_threshold_ = init.attr<float>("iou_threshold");
    }
    pad_ = init.num_outputs() > 1 && init.attr<bool>("pad_to_max_output_size");
  }

  void Compute(KernelContext& ctx) override {
    ReadInputs(ctx);
    Choose();
    const auto chosen = static_cast<int64_t>(selected_.size());
    const Shape shape{pad_ ? limit_ : chosen};
    Tensor& indices = ctx.AllocateOutput(0, shape);
    std::fill(indices.flat<int32_t>().begin(), indices.flat<int32_t>().end(), 0);
    for (int64_t i = 0; i < chosen; ++i) indices.data<int32_t>()[i] = selected_[i].box;
    if (ctx.num_outputs() > 2) WriteScores(ctx.AllocateOutput(1, shape));
    if (ctx.num_outputs() > 1) {
      *ctx.AllocateOutput(ctx.num_outputs() - 1, Shape()).data<int32_t>() =
          static_cast<int32_t>(chosen);
    }
  }

 private:
  static float Threshold(const Tensor& tensor) {
    if (tensor.rank() != 0) {
      throw InvalidArgument("thresholds must be scalars, got shape {}", tensor.shape().ToString());
    }
    return static_cast<float>(tensor.AsDouble());
  }

  void ReadInputs(KernelContext& ctx) {
    const Tensor &boxes = ctx.input(0), &scores = ctx.input(1), &size = ctx.input(2);
    if (boxes.rank() != 2 || scores.rank() != 1 || scores.dim(0) != boxes.dim(0) ||
        boxes.dim(1) != (overlaps_given_ ? boxes.dim(0) : 4) ||
        boxes.dim(0) > std::numeric_limits<int32_t>::max()) {
      throw InvalidArgument("scores of shape {} do not fit {} of shape {}",
                            scores.shape().ToString(), overlaps_given_ ? "overlaps" : "boxes",
                            boxes.shape().ToString());
    }
    if (size.rank() != 0) {
      throw InvalidArgument("max_output_size must be 0-D, got shape {}", size.shape().ToString());
    }
    limit_ = size.scalar<int32_t>();
    if (limit_ < 0) throw InvalidArgument("output size must be non-negative, got {}", limit_);
    if (ctx.num_inputs() > 3) iou_threshold_ = Threshold(ctx.input(3));
    if (ctx.num_inputs() > 4) score_threshold_ = Threshold(ctx.input(4));
    if (ctx.num_inputs() > 5) sigma_ = Threshold(ctx.input(5));
    if (!overlaps_given_ && !(iou_threshold_ >= 0 && iou_threshold_ <= 1)) {
      throw InvalidArgument("iou_threshold must be in [0, 1], got {}", iou_threshold_);
    }
    if (!(sigma_ >= 0)) throw InvalidArgument("soft_nms_sigma must be >= 0, got {}", sigma_);
    count_ = boxes.dim(0);
    boxes_ = FloatPixels(boxes, &box_scratch_);
    scores_ = FloatPixels(scores, &score_scratch_);
  }

  float Overlap(int32_t a, int32_t b) const {
    return overlaps_given_ ? boxes_[a * count_ + b]
                           : IntersectionOverUnion(boxes_ + 4 * a, boxes_ + 4 * b);
  }

  void Choose() {
    selected_.clear();
    heap_.clear();
    for (int64_t i = 0; i < count_; ++i) {
      if (scores_[i] > score_threshold_) heap_.push_back({static_cast<int32_t>(i), scores_[i], 0});
    }
    std::make_heap(heap_.begin(), heap_.end());
    while (static_cast<int64_t>(selected_.size()) < limit_ && !heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end());
      Candidate next = heap_.back();
      heap_.pop_back();
      const float score = next.score;
      if (Suppressed(&next)) continue;
      if (next.score == score) {
        selected_.push_back(next);
      } else if (next.score > score_threshold_) {  // has to queue again with its lower score
        heap_.push_back(next);
        std::push_heap(heap_.begin(), heap_.end());
      }
    }
  }

  // What a score is multiplied by. Without a sigma that is 1 for overlaps up to the threshold; the
  // overlap of boxes with NaN is no number, and makes the score 0.
  float Weight(float overlap) const {
    if (sigma_ > 0) return std::exp(-0.5F / sigma_ * overlap * overlap);  // whatever the threshold
    return overlap <= iou_threshold_ ? std::exp(0 * overlap) : 0;
  }

  // Compares with the boxes chosen since last time, latest first: those are most like it.
  bool Suppressed(Candidate* next) const {
    for (auto j = static_cast<int32_t>(selected_.size()) - 1; j >= next->compared; --j) {
      const float overlap = Overlap(next->box, selected_[j].box);
      if (sigma_ == 0 && overlap > iou_threshold_) return true;
      next->score *= Weight(overlap);
      if (next->score <= score_threshold_) break;
    }
    next->compared = static_cast<int32_t>(selected_.size());
    return false;
  }

  void WriteScores(Tensor& out) {
    float* scores = FloatSums(out, &score_scratch_);
    for (size_t i = 0; i < selected_.size(); ++i) scores[i] = selected_[i].score;
    StoreSums(score_scratch_, out);
  }

  const bool overlaps_given_;
  bool pad_ = false;
  float iou_threshold_ = 0.5F, sigma_ = 0;
  float score_threshold_ = std::numeric_limits<float>::lowest();
  int64_t limit_ = 0, count_ = 0;
  const float *boxes_ = nullptr, *scores_ = nullptr;
  std::vector<float> box_scratch_, score_scratch_;
  std::vector<Candidate> heap_, selected_;
};

}  // namespace

void RegisterNonMaxSuppressionCpu(KernelRegistry& registry) {
  for (const char* op :
       {"NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4",
        "NonMaxSuppressionV5", "NonMaxSuppressionWithOverlaps"}) {
    registry.Add(KernelDef(op).Make<SuppressionKernel>());
  }
}

}  // namespace sextant

#include <algorithm>
#include <vector>

#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/padding.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

using Length = std::function<int64_t(const Element&)>;

struct BucketParams {
  Length length;
  std::vector<int64_t> boundaries;
  std::vector<int64_t> sizes;
  bool drop_remainder;
  Padder padder;
};

class BucketIterator : public NodeIterator {
 public:
  BucketIterator(std::unique_ptr<NodeIterator> input, const BucketParams& params)
      : input_(std::move(input)), params_(params), buckets_(params.sizes.size()) {}

  // A bucket is given when it is full; at the end the others, the shortest lengths first.
  bool Next(Element* element) override {
    const CancellableLoop loop;
    Element next;
    while (!ended_) {
      loop.Turn();
      if (!input_->Next(&next)) {
        ended_ = true;
        break;
      }
      const size_t bucket = Bucket(next, index_++);
      buckets_[bucket].push_back(std::move(next));
      next = {};
      if (static_cast<int64_t>(buckets_[bucket].size()) == params_.sizes[bucket]) {
        return Give(bucket, element);
      }
    }
    if (params_.drop_remainder) return false;
    for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
      if (!buckets_[bucket].empty()) return Give(bucket, element);
    }
    return false;
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("ended", ended_);
    writer.PutInt("index", index_);
    for (const auto& bucket : buckets_) {
      writer.PutInt("bucket", static_cast<int64_t>(bucket.size()));
      for (const Element& element : bucket) writer.PutElement("element", element);
    }
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    ended_ = reader.GetInt("ended") != 0;
    index_ = reader.GetInt("index");
    for (auto& bucket : buckets_) {
      for (int64_t i = reader.GetInt("bucket"); i > 0; --i)
        bucket.push_back(reader.GetElement("element"));
    }
    input_->Restore(reader);
  }

 private:
  size_t Bucket(const Element& element, int64_t index) const {
    try {
      const int64_t length = params_.length(element);
      const auto& boundaries = params_.boundaries;
      return std::ranges::upper_bound(boundaries, length) - boundaries.begin();
    } catch (...) {
      throw Error(CurrentStatus()).WithPrefix(fmt::format("BucketByLength of element {}: ", index));
    }
  }
  bool Give(size_t bucket, Element* element) {
    std::vector<Element> rows = std::exchange(buckets_[bucket], {});
    params_.padder.Batch(rows, element);
    return true;
  }

  const std::unique_ptr<NodeIterator> input_;
  const BucketParams& params_;
  std::vector<std::vector<Element>> buckets_;
  int64_t index_ = 0;
  bool ended_ = false;
};

class BucketNode : public UnaryNode {
 public:
  BucketNode(std::shared_ptr<const DatasetNode> input, BucketParams params)
      : UnaryNode(std::move(input)), params_(std::move(params)) {
    const auto& [length, boundaries, sizes, drop, padder] = params_;
    if (sizes.size() != boundaries.size() + 1) {
      throw InvalidArgument("BucketByLength: {} boundaries need {} batch sizes, not {}",
                            boundaries.size(), boundaries.size() + 1, sizes.size());
    }
    if (std::ranges::adjacent_find(boundaries, std::ranges::greater_equal()) != boundaries.end()) {
      throw InvalidArgument("BucketByLength: the boundaries {} do not grow", Join(boundaries));
    }
    if (std::ranges::any_of(sizes, [](int64_t size) { return size < 1; })) {
      throw InvalidArgument("BucketByLength: the batch sizes {} are not all positive", Join(sizes));
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<BucketIterator>(input_->MakeIterator(context), params_);
  }
  std::string Describe() const override {
    return fmt::format("{}.BucketByLength({},{}{})", input_->Describe(), Join(params_.boundaries),
                       Join(params_.sizes), params_.padder.Describe());
  }
  ElementSpec Spec() const override { return params_.padder.BatchSpec(input_->Spec(), -1); }

 private:
  static std::string Join(const std::vector<int64_t>& values) {
    std::string text;
    for (const int64_t value : values) text += fmt::format("{}{}", text.empty() ? "" : ",", value);
    return "[" + text + "]";
  }

  const BucketParams params_;
};

}  // namespace

Dataset Dataset::BucketByLength(Length length, std::vector<int64_t> boundaries,
                                std::vector<int64_t> sizes,
                                const PaddedBatchOptions& options) const {
  return Dataset(std::make_shared<BucketNode>(
      node_, BucketParams{std::move(length), std::move(boundaries), std::move(sizes),
                          options.drop_remainder, Padder("BucketByLength", options)}));
}

}  // namespace sextant::data

#include "sextant/data/block_leases.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class RepeatIterator final : public PassThroughIterator {
 public:
  // `count` of -1: for ever.
  RepeatIterator(const Iterable& input, int64_t count, const IterationContext& context)
      : PassThroughIterator(nullptr), repeated_(input), count_(count), context_(context) {
    Begin(0);
  }

  bool Next(Element* element) override {
    return Advance([&] { return input_->Next(element); });
  }
  bool NextPending(PendingElement* pending) override {
    return Advance([&] { return input_->NextPending(pending); });
  }
  void NextRows(RowBatch& batch) override {
    Advance([&] {
      const int64_t before = batch.rows();
      input_->NextRows(batch);
      any_ |= batch.rows() > before;
      return batch.full();
    });
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("repeat", number_);
    writer.PutInt("any", any_);
    input_->Save(writer);
  }
  void Restore(StateReader& reader) override {
    number_ = reader.GetInt("repeat");
    any_ = reader.GetInt("any") != 0;
    Begin(number_);
    input_->Restore(reader);
  }

 private:
  // Calls `next` until it is satisfied, with a new iteration over the input each time that one
  // ends. An iteration without an element is the last: there would be no end of them.
  template <typename NextFn>
  bool Advance(NextFn next) {
    if (count_ == 0) return false;
    const CancellableLoop loop;
    while (!next()) {
      loop.Turn();
      if (number_ + 1 == count_ || (!any_ && !MayGiveMore())) return false;
      any_ = false;
      Begin(++number_);
    }
    any_ = true;
    empty_ = 0;
    return true;
  }
  void Begin(int64_t number) {
    IterationContext context = context_.Nested(number);
    context.more_follow |= number + 1 != count_;
    input_ = repeated_.MakeIterator(context);
  }
  // After an iteration that gave nothing here: others may have had all of it.
  bool MayGiveMore() {
    constexpr int kMostEmpty = 1000;
    return context_.leases && context_.leases->read_elsewhere() && ++empty_ < kMostEmpty;
  }

  const Iterable& repeated_;
  const int64_t count_;
  const IterationContext context_;
  int64_t number_ = 0;
  bool any_ = false;  // whether this iteration gave an element
  int empty_ = 0;     // iterations in a row that gave none
};

class RepeatNode : public PassThroughNode {
 public:
  RepeatNode(std::shared_ptr<const DatasetNode> input, int64_t count)
      : PassThroughNode(std::move(input)), count_(count < 0 ? -1 : count) {}

  std::string Describe() const override {
    return fmt::format("{}.Repeat({})", input_->Describe(), count_);
  }

 private:
  std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                 const IterationContext& context) const override {
    return std::make_unique<RepeatIterator>(input, count_, context);
  }

  const int64_t count_;
};

}  // namespace

Dataset Dataset::Repeat(int64_t count) const {
  return Dataset(std::make_shared<RepeatNode>(node_, count));
}

}  // namespace sextant::data

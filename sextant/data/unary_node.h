// UnaryNode, PassThroughNode: what transformations of one input have in common.
//
//   class TakeNode : public PassThroughNode {              // elements of the input, unchanged
//     std::string Describe() const override;
//     std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
//                                                    const IterationContext&) const override;
//   };
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/data/dataset.h"
#include "sextant/data/dataset_node.h"

namespace sextant::data {

// A node with one input, whose fields it keeps unless it says otherwise.
class UnaryNode : public DatasetNode {
 public:
  explicit UnaryNode(std::shared_ptr<const DatasetNode> input) : input_(std::move(input)) {
    if (!input_) throw FailedPrecondition("a Dataset without a source cannot be transformed");
  }
  ElementSpec Spec() const override { return input_->Spec(); }
  std::string DescribeOrigin(std::string_view origin) const override {
    return input_->DescribeOrigin(origin);
  }

 protected:
  const std::shared_ptr<const DatasetNode> input_;
};

// A node that gives elements of its input unchanged: all of them or some, in their order or
// another. It has the capabilities of its input: its iterator serves elements and pending elements
// alike, so that work which the input defers is done behind this node.
class PassThroughNode : public UnaryNode {
 public:
  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const final {
    return MakeIteratorOver(*input_, context);
  }
  const RowFormat* row_format() const override { return input_->row_format(); }
  const DeferredWork* deferred() const final { return work_ ? &*work_ : nullptr; }

 protected:
  // kFinishFirst: the iterator looks at elements, or at whether they fail (Filter, Take), so that
  // it needs finished ones.
  enum class Deferral { kForward, kFinishFirst };

  explicit PassThroughNode(std::shared_ptr<const DatasetNode> input,
                           Deferral deferral = Deferral::kForward)
      : UnaryNode(std::move(input)) {
    if (deferral == Deferral::kForward && input_->deferred()) {
      work_.emplace(*this, *input_->deferred());
    }
  }

  // Over the elements of the input, or its pending elements. The iterator is a PassThroughIterator
  // unless it cannot say where its elements came from.
  virtual std::unique_ptr<NodeIterator> MakeIteratorOver(const Iterable& input,
                                                         const IterationContext& context) const = 0;

 private:
  class ForwardedWork final : public DeferredWork {
   public:
    ForwardedWork(const PassThroughNode& node, const DeferredWork& input)
        : node_(node), input_(input) {}
    std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
      return node_.MakeIteratorOver(input_, context);
    }
    const RowFormat* row_format() const override { return input_.row_format(); }
    int parallelism() const override { return input_.parallelism(); }
    void Finish(PendingElement& pending, Element* element) const override {
      input_.Finish(pending, element);
    }
    void FinishRows(std::span<PendingElement> pending, RowBatch& batch,
                    int64_t first) const override {
      input_.FinishRows(pending, batch, first);
    }
    void FinishRows(RowBatch& pending, RowBatch& batch, int64_t first) const override {
      input_.FinishRows(pending, batch, first);
    }

   private:
    const PassThroughNode& node_;
    const DeferredWork& input_;
  };

  std::optional<ForwardedWork> work_;
};

// The iterator of a PassThroughNode: the positions of its input are its own.
class PassThroughIterator : public NodeIterator {
 public:
  Seekable* seekable() override { return input_->seekable(); }

 protected:
  explicit PassThroughIterator(std::unique_ptr<NodeIterator> input) : input_(std::move(input)) {}

  std::unique_ptr<NodeIterator> input_;
};

// What a node that defers work of its own does that work on: the pending elements of its input, if
// that defers work too, else its elements.
class PendingInput {
 public:
  explicit PendingInput(const DatasetNode& input) : node_(input), work_(input.deferred()) {}

  // Whether the input's elements come finished.
  bool finished() const { return work_ == nullptr; }
  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const {
    return finished() ? node_.MakeIterator(context) : work_->MakeIterator(context);
  }
  // The element of the input, in *scratch or in `pending`, whose buffers then stay with it.
  Element& Finish(PendingElement& pending, Element* scratch) const {
    if (finished()) return pending.element;
    work_->Finish(pending, scratch);
    return *scratch;
  }
  // How many may be finished at once if the node's own limit is `own`: of two limits the smaller.
  int Parallelism(int own) const {
    const int input = finished() ? kAutotune : work_->parallelism();
    return own == kAutotune ? input : input == kAutotune ? own : std::min(own, input);
  }

 private:
  const DatasetNode& node_;
  const DeferredWork* const work_;
};

}  // namespace sextant::data

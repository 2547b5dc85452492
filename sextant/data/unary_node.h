// UnaryNode, PassingIterator: what transformations of one input have in common.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"

namespace sextant::data {

// A node with one input, whose fields it keeps unless it says otherwise.
class UnaryNode : public DatasetNode {
 public:
  explicit UnaryNode(std::shared_ptr<const DatasetNode> input) : input_(std::move(input)) {
    if (!input_) throw FailedPrecondition("a Dataset without a source cannot be transformed");
  }
  ElementSpec Spec() const override { return input_->Spec(); }
  std::string Place(std::string_view position) const override { return input_->Place(position); }

 protected:
  const std::shared_ptr<const DatasetNode> input_;
};

// An iterator that gives elements of its input unchanged, so that the input's positions are its
// own.
class PassingIterator : public SeekableIterator {
 public:
  // REQUIRES, as ElementAt: the input is seekable.
  std::string Position() const override {
    return static_cast<const SeekableIterator&>(*input_).Position();
  }
  Element ElementAt(std::string_view position) override {
    return static_cast<SeekableIterator&>(*input_).ElementAt(position);
  }

 protected:
  explicit PassingIterator(std::unique_ptr<NodeIterator> input) : input_(std::move(input)) {}

  std::unique_ptr<NodeIterator> input_;
};

}  // namespace sextant::data

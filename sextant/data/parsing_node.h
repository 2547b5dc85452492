// ParsingNode: what ParseExamples and ParseCsv have in common: the strings of one field become the
// fields that they hold. Parsing is left to the threads of a Batch behind it, which write rows
// without making elements. Errors name the file and the offset of what was parsed where they are
// known.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {

// Used by one thread at a time. What parses throws INVALID_ARGUMENT.
class StringParser {
 public:
  virtual ~StringParser() = default;
  // outs[f] is where the values of field f go. Called only where the node has row fields.
  virtual void ParseRow(std::string_view text, std::span<void* const> outs) = 0;
  // The same of consecutive rows, the first of which goes to outs. False when they are to be parsed
  // one by one, because that is as quick or one of them may be bad.
  virtual bool ParseRows(std::span<const std::string> texts, std::span<void* const> outs) {
    (void)texts, (void)outs;
    return false;
  }
  // One string, or a tensor of them: the shapes of the fields then follow its shape.
  virtual void Parse(const Tensor& texts, Element* element) = 0;
};

class ParsingNode : public UnaryNode {
 public:
  // "name" of the transformation, and the field that it parses.
  ParsingNode(std::shared_ptr<const DatasetNode> input, std::string name, std::string field);

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::string Describe() const override;
  ElementSpec Spec() const override;
  int parallel() const override;
  std::unique_ptr<NodeIterator> MakeTasks(const Walk& walk) const override {
    return input_->MakeTasks(walk);
  }
  bool SeekableTasks() const override { return input_->SeekableTasks(); }
  void Finish(Task& task, Element* element) const override;
  void FinishRows(std::span<Task> tasks, RowBatch& batch, int64_t first) const override;
  const RowFormat* TaskRows() const override { return task_rows_; }
  void FinishRows(RowBatch& inputs, RowBatch& batch, int64_t first) const override;

  // Of an element of the input.
  void Parse(const Element& input, std::string_view origin, Element* element) const;

 protected:
  virtual std::unique_ptr<StringParser> NewParser() const = 0;
  // Of what one string holds.
  virtual ElementSpec FieldsOfOne() const = 0;
  // The same when all sizes are known, else none.
  virtual const std::vector<RowField>& RowFields() const = 0;
  virtual std::string DescribeFields() const = 0;

 private:
  class Lent;

  const Tensor& TextOf(const Element& element) const;
  // Calls parse; puts the place of what it parsed in front of what it throws.
  void WithPlace(std::string_view origin, FunctionRef<void()> parse) const;
  // The element of the input that the task makes: *scratch, or the task's own.
  const Element& Input(Task& task, Element* scratch) const;

  const std::string name_, field_;
  const RowFormat* const task_rows_;  // of the input, when they are the field alone
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<StringParser>> free_;
};

}  // namespace sextant::data

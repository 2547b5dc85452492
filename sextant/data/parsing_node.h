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

// Used by one thread at a time. Its functions throw INVALID_ARGUMENT for bad text.
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

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override;
  std::string Describe() const override;
  ElementSpec Spec() const override;
  const DeferredWork* deferred() const override { return &work_; }

  // Parses an element of the input, whose origin errors name.
  void Parse(const Element& input, std::string_view origin, Element* element) const;

 protected:
  virtual std::unique_ptr<StringParser> NewParser() const = 0;
  // The fields that one string holds.
  virtual ElementSpec FieldsOfOne() const = 0;
  // The same when all sizes are known, else none.
  virtual const std::vector<RowField>& RowFields() const = 0;
  virtual std::string DescribeFields() const = 0;

 private:
  class Lent;

  // Parsing by threads. Its iterators are those of the input.
  class Work final : public DeferredWork {
   public:
    Work(const ParsingNode& node, const DatasetNode& input);
    std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
      return input_.MakeIterator(context);
    }
    const RowFormat* row_format() const override { return row_format_; }
    int parallelism() const override;
    void Finish(PendingElement& pending, Element* element) const override;
    void FinishRows(std::span<PendingElement> pending, RowBatch& batch,
                    int64_t first) const override;
    void FinishRows(RowBatch& pending, RowBatch& batch, int64_t first) const override;

   private:
    const ParsingNode& node_;
    const PendingInput input_;
    const RowFormat* const row_format_;  // of the input, when it is the field alone
  };

  const Tensor& TextOf(const Element& element) const;
  // Calls parse; puts the origin of what it parsed in front of what it throws.
  void WithOrigin(std::string_view origin, FunctionRef<void()> parse) const;

  const std::string name_, field_;
  const Work work_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<StringParser>> free_;
};

}  // namespace sextant::data

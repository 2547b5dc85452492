#include "sextant/data/tensor_sources.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/cancellation.h"
#include "sextant/base/coding.h"
#include "sextant/data/cancellable_loop.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

constexpr int64_t kRowsAtOnce = 1 << 16;  // between two looks at the cancellation

// Of elements that are known by their number.
class IndexedIterator : public NodeIterator, private Seekable {
 public:
  IndexedIterator(int64_t count, const std::vector<RowField>& fields)
      : count_(count), fields_(fields) {}

  bool Next(Element* element) override {
    if (next_ == count_) return false;
    Make(next_++, element);
    return true;
  }
  // A batch that these elements fill is written without making them.
  void NextRows(RowBatch& batch) override {
    const int64_t rows = batch.capacity() - batch.rows();
    if (rows == 0) return;
    if (fields_.empty() || batch.keeps_origins() || rows > count_ - next_ ||
        !batch.Prepare(fields_)) {
      return NodeIterator::NextRows(batch);
    }
    const CancellableLoop loop;
    while (!batch.full()) {
      loop.Turn();
      const int64_t count = std::min(kRowsAtOnce, batch.capacity() - batch.rows());
      MakeRows(next_, count, batch);
      next_ += count;
      batch.AddRows(count);
    }
  }
  void Save(StateWriter& writer) override { writer.PutInt("next", next_); }
  void Restore(StateReader& reader) override {
    next_ = reader.GetInt("next");
    if (next_ < 0 || next_ > count_) throw DataLoss("the dataset has no element {}", next_);
  }
  Seekable* seekable() override { return this; }

 protected:
  virtual void Make(int64_t index, Element* element) = 0;
  // Elements [first, first + count) behind the rows that the batch has.
  virtual void MakeRows(int64_t first, int64_t count, RowBatch& batch) = 0;

 private:
  std::string Position() const override {
    std::string bytes;
    PutVarint64(&bytes, static_cast<uint64_t>(next_ - 1));
    return bytes;
  }
  Element ElementAt(std::string_view position) override {
    uint64_t index;
    if (!GetVarint64(&position, &index) || index >= static_cast<uint64_t>(count_)) {
      throw DataLoss("the dataset has no element at the saved position");
    }
    Element element;
    Make(static_cast<int64_t>(index), &element);
    return element;
  }

  const int64_t count_;
  const std::vector<RowField>& fields_;  // none: elements cannot be written as rows
  int64_t next_ = 0;
};

class SlicesIterator : public IndexedIterator {
 public:
  SlicesIterator(const Element& whole, int64_t count, const std::vector<RowField>& fields)
      : IndexedIterator(count, fields), whole_(whole) {}

 private:
  void Make(int64_t index, Element* element) override {
    element->fields().resize(whole_.size());
    for (int i = 0; i < whole_.size(); ++i) {
      element->fields()[i].first = whole_.fields()[i].first;
      CopyRowTo(whole_.fields()[i].second, index, &element->fields()[i].second);
    }
  }
  void MakeRows(int64_t first, int64_t count, RowBatch& batch) override {
    for (int i = 0; i < whole_.size(); ++i) {
      const Tensor& tensor = whole_.fields()[i].second;
      const int64_t width = tensor.num_elements() / tensor.dim(0);
      if (tensor.dtype() == DType::kString) {
        std::copy_n(tensor.data<std::string>() + first * width, count * width,
                    batch.row_data<std::string>(i, batch.rows()));
      } else if (width > 0) {
        const size_t row = static_cast<size_t>(width) * DTypeSize(tensor.dtype());
        std::memcpy(batch.raw_row(i, batch.rows()),
                    static_cast<const char*>(tensor.raw_data()) + static_cast<size_t>(first) * row,
                    static_cast<size_t>(count) * row);
      }
    }
  }

  const Element& whole_;
};

class SlicesNode : public DatasetNode {
 public:
  SlicesNode(Element whole, std::string name) : whole_(std::move(whole)), name_(std::move(name)) {
    for (const auto& [field, tensor] : whole_.fields()) {
      if (tensor.rank() == 0) {
        throw InvalidArgument("{}: field \"{}\" is a scalar, which has no rows", name_, field);
      }
      if (tensor.dim(0) != whole_.fields()[0].second.dim(0)) {
        throw InvalidArgument("{}: the fields have different numbers of rows: {}", name_,
                              whole_.Describe());
      }
    }
    if (whole_.size() == 0) throw InvalidArgument("{}: the element has no fields", name_);
    for (const FieldSpec& field : SlicesNode::Spec()) {
      if (!IsPlain(field.dtype) && field.dtype != DType::kString) {
        row_fields_.clear();
        break;
      }
      row_fields_.push_back({field.name, field.dtype, field.shape.AsShape()});
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    context.Whole("it comes from tensors in memory");
    return std::make_unique<SlicesIterator>(whole_, whole_.fields()[0].second.dim(0), row_fields_);
  }
  std::string Describe() const override { return fmt::format("{}({})", name_, whole_.Describe()); }
  ElementSpec Spec() const override {
    ElementSpec spec;
    for (const auto& [name, tensor] : whole_.fields()) {
      Shape shape = tensor.shape();
      shape.Erase(0);
      spec.push_back({name, tensor.dtype(), shape});
    }
    return spec;
  }

 private:
  const Element whole_;
  const std::string name_;
  std::vector<RowField> row_fields_;
};

class NumbersIterator : public IndexedIterator {
 public:
  NumbersIterator(int64_t count, const std::vector<RowField>& fields, int64_t start, int64_t step)
      : IndexedIterator(count, fields), start_(start), step_(step) {}

 private:
  void Make(int64_t index, Element* element) override {
    element->fields().resize(1);
    auto& [name, tensor] = element->fields()[0];
    name = "value";
    MakeOwn(&tensor, DType::kInt64, {});
    *tensor.data<int64_t>() = start_ + index * step_;
  }
  void MakeRows(int64_t first, int64_t count, RowBatch& batch) override {
    auto* const values = batch.row_data<int64_t>(0, batch.rows());
    for (int64_t i = 0; i < count; ++i) values[i] = start_ + (first + i) * step_;
  }

  const int64_t start_, step_;
};

class RangeNode : public DatasetNode {
 public:
  RangeNode(int64_t start, int64_t stop, int64_t step) : start_(start), stop_(stop), step_(step) {
    if (step == 0)
      throw InvalidArgument("Range cannot go from {} to {} in steps of 0", start, stop);
    // Differences of int64 do not always fit in one; those of __int128 do.
    const __int128 span = static_cast<__int128>(stop) - start;
    const __int128 count = (span + step + (step > 0 ? -1 : 1)) / step;
    count_ = count < 0 ? 0 : static_cast<int64_t>(count);
  }

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    context.Whole("it is a Range");
    return std::make_unique<NumbersIterator>(count_, row_fields_, start_, step_);
  }
  std::string Describe() const override {
    return fmt::format("Range({},{},{})", start_, stop_, step_);
  }
  ElementSpec Spec() const override { return {{"value", DType::kInt64, Shape()}}; }

 private:
  const int64_t start_, stop_, step_;
  int64_t count_;
  const std::vector<RowField> row_fields_ = {{"value", DType::kInt64, Shape()}};
};

class GeneratorIterator : public NodeIterator {
 public:
  GeneratorIterator(Generator generator, const IterationContext& context)
      : generator_(std::move(generator)), context_(context) {}

  bool Next(Element* element) override {
    if (ended_) return false;
    context_.cancellation->ThrowIfCancelled();
    ++calls_;  // one that throws counts too
    std::optional<Element> next = generator_.next();
    ended_ = !next;
    if (next) *element = std::move(*next);
    return next.has_value();
  }
  void Save(StateWriter& writer) override {
    writer.PutInt("calls", calls_);
    writer.PutInt("ended", ended_);
    writer.PutBytes("position", generator_.save ? generator_.save() : "");
  }
  void Restore(StateReader& reader) override {
    calls_ = reader.GetInt("calls");
    ended_ = reader.GetInt("ended") != 0;
    const std::string position = reader.GetBytes("position");
    if (ended_) return;
    if (generator_.restore) return generator_.restore(position);
    for (int64_t i = 0; i < calls_; ++i) {
      context_.cancellation->ThrowIfCancelled();
      bool more = true;
      try {
        more = generator_.next().has_value();
      } catch (...) {  // as it threw at the consumer of the saved iterator
      }
      if (!more) throw DataLoss("the generator gives fewer elements than when it was saved");
    }
  }

 private:
  Generator generator_;
  const IterationContext context_;
  int64_t calls_ = 0;
  bool ended_ = false;
};

class GeneratorNode : public DatasetNode {
 public:
  GeneratorNode(std::function<Generator()> make, std::string name, std::optional<ElementSpec> spec)
      : make_(std::move(make)), name_(std::move(name)), spec_(std::move(spec)) {}

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    context.Whole("it comes from a generator");
    return std::make_unique<GeneratorIterator>(make_(), context);
  }
  std::string Describe() const override { return fmt::format("FromGenerator({})", name_); }
  ElementSpec Spec() const override { return spec_ ? *spec_ : DatasetNode::Spec(); }

 private:
  const std::function<Generator()> make_;
  const std::string name_;
  const std::optional<ElementSpec> spec_;
};

}  // namespace

Dataset FromTensors(Element element) {
  for (auto& [name, tensor] : element.fields()) {
    Shape shape = tensor.shape();
    shape.Insert(0, 1);
    tensor = tensor.Reshaped(shape);
  }
  return Dataset(std::make_shared<SlicesNode>(std::move(element), "FromTensors"));
}

Dataset FromTensorSlices(Element element) {
  return Dataset(std::make_shared<SlicesNode>(std::move(element), "FromTensorSlices"));
}

Dataset Range(int64_t stop) { return Range(0, stop); }
Dataset Range(int64_t start, int64_t stop, int64_t step) {
  return Dataset(std::make_shared<RangeNode>(start, stop, step));
}

Dataset FromGenerator(std::function<Generator()> make, std::string name,
                      std::optional<ElementSpec> spec) {
  return Dataset(
      std::make_shared<GeneratorNode>(std::move(make), std::move(name), std::move(spec)));
}

}  // namespace sextant::data

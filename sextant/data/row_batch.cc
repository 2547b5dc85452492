// The buffers of a batch, filled by one thread or several.
//
// The fields of a batch are fixed by the first row that comes: the thread that finds fixed_ unset
// takes the mutex, allocates and sets it (double-checked locking: release and acquire of fixed_
// order the tensors before their use). From then on threads write different rows without a lock.
// Rows that failed or do not fit go to rejected_, which has room for all rows beforehand.
//
// Append, for one thread, makes room as rows come, doubling; the ways for several threads make room
// for all rows at once, because a tensor that moves cannot be written by another thread. A batch
// given to a consumer comes back later as `recycled`: MakeOwn uses its buffers again if the
// consumer holds them no more.
#include "sextant/data/row_batch.h"

#include <algorithm>
#include <numeric>

#include "sextant/data/batch_limit.h"
#include "sextant/data/own_tensor.h"
#include "sextant/data/scratch_element.h"

namespace sextant::data {
namespace {

bool Same(const RowField& field, const std::string& name, DType dtype, const Shape& shape) {
  return field.dtype == dtype && field.shape == shape && field.name == name;
}

std::string DescribeField(const std::string& name, DType dtype, const Shape& shape) {
  return fmt::format("{}: {}{}", name, DTypeName(dtype), shape.ToString());
}

}  // namespace

void RowBatch::Reset(int64_t capacity, Element recycled) {
  capacity_ = capacity;
  rows_ = 0;
  allocated_ = 0;
  fixed_.store(false, std::memory_order_relaxed);
  rejected_.clear();
  if (recycled.size() > 0) batch_ = std::move(recycled);
}

void RowBatch::Restart(int64_t capacity) {
  if (!fixed_.load(std::memory_order_relaxed) || capacity > allocated_) return Reset(capacity, {});
  capacity_ = capacity;
  rows_ = 0;
}

void RowBatch::SetFields(std::vector<RowField> fields) {
  std::vector<int64_t> elements, bytes;
  for (const RowField& field : fields) {
    elements.push_back(field.shape.num_elements());
    bytes.push_back(elements.back() * static_cast<int64_t>(DTypeSize(field.dtype)));
  }
  row_fields_.swap(fields);
  row_elements_.swap(elements);
  row_bytes_.swap(bytes);
}

// The fields last fixed often serve again: nothing is then written but the tensors.
void RowBatch::Fix(const Element& element) {
  if (Fits(element)) return;
  std::vector<RowField> fields;
  for (const auto& [name, tensor] : element.fields()) {
    fields.push_back({name, tensor.dtype(), tensor.shape()});
  }
  SetFields(std::move(fields));
}

int64_t RowBatch::BytesOfRow() const {
  return std::accumulate(row_bytes_.begin(), row_bytes_.end(), int64_t{0});
}

int64_t RowBatch::MostRows() const {
  return static_cast<int64_t>(InputLimits::Current().batch) / std::max<int64_t>(1, BytesOfRow());
}

void RowBatch::Allocate(int64_t rows) {
  CheckBatchBytes(rows, BytesOfRow());
  batch_.fields().resize(row_fields_.size());
  std::vector<Tensor> larger;  // put in place when all are there
  for (size_t i = 0; i < row_fields_.size(); ++i) {
    const RowField& field = row_fields_[i];
    auto& [name, tensor] = batch_.fields()[i];
    name = field.name;
    Shape shape = field.shape;
    shape.Insert(0, rows);
    if (allocated_ == 0) {
      MakeOwn(&tensor, field.dtype, shape);
    } else {
      larger.emplace_back(field.dtype, shape);
      CopyElements(tensor, 0, rows_ * row_elements_[i], &larger.back(), 0);
    }
  }
  for (size_t i = 0; i < larger.size(); ++i) batch_.fields()[i].second = std::move(larger[i]);
  allocated_ = rows;
}

bool RowBatch::Fits(const Element& element) const {
  return std::ranges::equal(row_fields_, element.fields(),
                            [](const RowField& field, const Element::Field& other) {
                              const auto& [name, tensor] = other;
                              return Same(field, name, tensor.dtype(), tensor.shape());
                            });
}

bool RowBatch::Prepare(const std::vector<RowField>& fields) {
  if (!fixed_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    if (!fixed_.load(std::memory_order_relaxed)) {
      SetFields(fields);
      if (capacity_ > MostRows()) return false;  // rows that come one by one may be few
      Allocate(capacity_);
      fixed_.store(true, std::memory_order_release);
      return true;
    }
  }
  const bool same =
      std::ranges::equal(row_fields_, fields, [](const RowField& field, const RowField& other) {
        return Same(field, other.name, other.dtype, other.shape);
      });
  if (same && allocated_ < capacity_) {
    if (capacity_ > MostRows()) return false;
    Reserve();
  }
  return same;
}

void RowBatch::CopyRow(int64_t row, Element* element) {
  for (int i = 0; i < batch_.size(); ++i) {
    Tensor& src = element->fields()[i].second;
    Tensor& dst = batch_.fields()[i].second;
    const int64_t count = row_elements_[i];
    if (src.raw_data() == raw_row(i, row) && src.SharesBufferWith(dst)) {
      src = {};  // a ViewOfRow: the batch becomes its receiver's alone
    } else if (src.dtype() == DType::kString && src.unique()) {
      std::swap_ranges(src.data<std::string>(), src.data<std::string>() + count,
                       dst.data<std::string>() + row * count);
    } else {
      CopyElements(src, 0, count, &dst, row * count);
    }
  }
}

bool RowBatch::Put(int64_t row, Element* element) {
  if (!fixed_.load(std::memory_order_acquire)) {
    std::lock_guard lock(mutex_);
    if (!fixed_.load(std::memory_order_relaxed)) {
      Fix(*element);
      Allocate(capacity_);
      fixed_.store(true, std::memory_order_release);
    }
  }
  if (!Fits(*element)) return false;
  CopyRow(row, element);
  return true;
}

void RowBatch::Make(int64_t row, FunctionRef<void(Element* element)> make) {
  ScratchElement element;
  try {
    make(element.get());
    if (Put(row, element.get())) return;
  } catch (...) {  // the consumer throws it when it comes to this row
    Reject(row, std::current_exception());
    return;
  }
  Reject(row, std::move(*element));
}

Tensor RowBatch::ViewOfRow(int64_t row, std::string_view name, DType dtype, const Shape& shape) {
  if (!fixed_.load(std::memory_order_acquire) || !IsPlain(dtype)) return {};
  for (int i = 0; i < batch_.size(); ++i) {
    if (row_fields_[i].name != name) continue;
    if (row_fields_[i].dtype != dtype || row_fields_[i].shape != shape) return {};
    const Tensor& whole = batch_.fields()[i].second;
    const auto offset =
        static_cast<char*>(raw_row(i, row)) - static_cast<char*>(whole.buffer()->data());
    return Tensor(dtype, shape, whole.buffer(), static_cast<size_t>(offset));
  }
  return {};
}

void RowBatch::Append(Element* element) {
  // Beyond this a batch that is never filled would cost memory that it does not use.
  constexpr int64_t kFirstRows = 4096, kFirstShare = 32;
  if (!fixed_.load(std::memory_order_relaxed)) {
    Fix(*element);
    const int64_t first = std::min(kFirstRows, MostRows() / kFirstShare);
    Allocate(std::min(capacity_, std::max<int64_t>(1, first)));
    fixed_.store(true, std::memory_order_relaxed);
  } else if (!Fits(*element)) {
    throw InvalidArgument("cannot put {} in row {} of a batch: {}", element->Describe(), rows_,
                          Difference(*element));
  }
  if (rows_ == allocated_) {
    const int64_t doubled = std::min(2 * allocated_, std::max(MostRows(), rows_ + 1));
    Allocate(std::min(capacity_, doubled));
  }
  CopyRow(rows_, element);
  ++rows_;
}

void RowBatch::Reserve() {
  if (fixed_.load(std::memory_order_relaxed) && allocated_ < capacity_) Allocate(capacity_);
}

void RowBatch::Reject(int64_t row, std::exception_ptr failure) noexcept {
  std::lock_guard lock(mutex_);
  rejected_.push_back({row, std::move(failure), {}});
}

void RowBatch::Reject(int64_t row, Element unlike) noexcept {
  std::lock_guard lock(mutex_);
  rejected_.push_back({row, nullptr, std::move(unlike)});
}

void RowBatch::RejectRest(int64_t first, int64_t count,
                          const std::exception_ptr& failure) noexcept {
  std::lock_guard lock(mutex_);
  for (int64_t row = first; row < first + count; ++row) {
    if (std::ranges::find(rejected_, row, &Rejected::row) == rejected_.end()) {
      rejected_.push_back({row, failure, {}});
    }
  }
}

std::span<RowBatch::Rejected> RowBatch::rejected() {
  std::ranges::sort(rejected_, {}, &Rejected::row);
  return rejected_;
}

Element RowBatch::Row(int64_t row) const {
  Element element;
  for (size_t i = 0; i < row_fields_.size(); ++i) {
    element.fields().emplace_back(row_fields_[i].name, Tensor());
    CopyRowTo(batch_.fields()[i].second, row, &element.fields().back().second);
  }
  return element;
}

Element RowBatch::Take(int64_t rows) {
  if (rows != allocated_) {
    std::vector<Tensor> parts;  // put in place when all are there
    for (const auto& [name, tensor] : batch_.fields()) parts.push_back(tensor.Rows(0, rows));
    for (size_t i = 0; i < parts.size(); ++i) batch_.fields()[i].second = std::move(parts[i]);
  }
  Element batch = std::exchange(batch_, {});
  Reset(capacity_, {});
  return batch;
}

std::string RowBatch::Difference(const Element& element) const {
  const auto& others = element.fields();
  if (others.size() != row_fields_.size()) {
    return fmt::format("it has {} fields, the rows before it {}", others.size(),
                       row_fields_.size());
  }
  for (size_t i = 0; i < others.size(); ++i) {
    const RowField& field = row_fields_[i];
    const auto& [name, tensor] = others[i];
    if (Same(field, name, tensor.dtype(), tensor.shape())) continue;
    return fmt::format("the rows before it have {}{}",
                       DescribeField(field.name, field.dtype, field.shape),
                       field.shape == tensor.shape() ? "" : "; PaddedBatch pads unequal shapes");
  }
  return "";
}

}  // namespace sextant::data

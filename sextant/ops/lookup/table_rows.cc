#include "sextant/ops/lookup/table_rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/lookup/lookup_table.h"

namespace sextant {
namespace {

constexpr int64_t kFindBatch = 256;  // keys that are found at a time

}  // namespace

TableRows::TableRows(DType key_dtype, DType value_dtype, int64_t width)
    : key_dtype_(key_dtype), width_(width), values_(value_dtype, {0, width}) {
  if (key_dtype == DType::kString) {
    index_ = KeyIndex<std::string>();
  } else if (key_dtype != DType::kInt32 && key_dtype != DType::kInt64) {
    throw Unimplemented("tables with keys of {}", DTypeName(key_dtype));
  }
}

template <typename Self, typename F>
void TableRows::ForEachKey(Self& self, const Tensor& keys, F&& f) {
  const int64_t count = keys.num_elements();
  if (keys.dtype() == DType::kString) {
    auto& index = std::get<KeyIndex<std::string>>(self.index_);
    const std::string* const key = keys.data<std::string>();
    for (int64_t i = 0; i < count; ++i) f(index, key[i], i);
    return;
  }
  auto& index = std::get<KeyIndex<int64_t>>(self.index_);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key =
        keys.dtype() == DType::kInt32 ? keys.data<int32_t>()[i] : keys.data<int64_t>()[i];
    f(index, key, i);
  }
}

int64_t TableRows::size() const {
  return std::visit([](const auto& index) { return index.size(); }, index_);
}

void TableRows::FindRows(const Tensor& keys, int64_t begin, int64_t count, int64_t* rows) const {
  if (keys.dtype() == DType::kString) {
    std::get<KeyIndex<std::string>>(index_).Find(keys.data<std::string>() + begin, count, rows);
  } else if (keys.dtype() == DType::kInt64) {
    std::get<KeyIndex<int64_t>>(index_).Find(keys.data<int64_t>() + begin, count, rows);
  } else {
    int64_t wide[kFindBatch];
    std::copy_n(keys.data<int32_t>() + begin, count, wide);
    std::get<KeyIndex<int64_t>>(index_).Find(wide, count, rows);
  }
}

void TableRows::Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const {
  const bool one_default = defaults.num_elements() == width_;
  WithElement(values.dtype(), [&]<typename T>() {
    const auto* const known = static_cast<const T*>(values_.raw_data());
    const auto* const unknown = static_cast<const T*>(defaults.raw_data());
    auto* to = static_cast<T*>(values.raw_data());
    int64_t rows[kFindBatch];
    for (int64_t begin = 0; begin < keys.num_elements(); begin += kFindBatch) {
      const int64_t count = std::min(kFindBatch, keys.num_elements() - begin);
      FindRows(keys, begin, count, rows);
      for (int64_t i = 0; i < count; ++i, to += width_) {
        const T* const from = rows[i] >= 0  ? known + rows[i] * width_
                              : one_default ? unknown
                                            : unknown + (begin + i) * width_;
        if (width_ == 1) {
          *to = *from;
        } else {
          std::copy_n(from, width_, to);
        }
      }
    }
  });
}

void TableRows::ReserveRow() {
  const int64_t row = size();
  if (row < values_.dim(0)) return;
  Tensor larger(values_.dtype(), {std::max<int64_t>(16, 2 * row), width_});
  CopyElements(values_, 0, row * width_, larger, 0);
  values_ = std::move(larger);
}

void TableRows::Put(const Tensor& keys, const Tensor& values) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t i) {
    ReserveRow();
    CopyElements(values, i * width_, width_, values_, index.Add(key).first * width_);
  });
}

void TableRows::PutNew(const Tensor& keys, const Tensor& values) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t i) {
    ReserveRow();
    const auto [row, added] = index.Add(key);
    if (added) {
      CopyElements(values, i * width_, width_, values_, row * width_);
    } else if (!EqualRows(row, values, i)) {
      throw FailedPrecondition("the table has different values for the same key '{}'", key);
    }
  });
}

void TableRows::Remove(const Tensor& keys) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t) {
    const int64_t row = index.Remove(key), last = index.size();
    if (row >= 0 && row != last) {
      CopyElements(values_, last * width_, width_, values_, row * width_);
    }
  });
}

Tensor TableRows::Keys() const {
  Tensor keys(key_dtype_, {size()});
  WithElement(key_dtype_, [&]<typename T>() {
    if constexpr (std::is_same_v<T, std::string> || std::is_integral_v<T>) {
      using Key = std::conditional_t<std::is_integral_v<T>, int64_t, std::string>;
      std::ranges::copy(std::get<KeyIndex<Key>>(index_).keys(), static_cast<T*>(keys.raw_data()));
    }
  });
  return keys;
}

Tensor TableRows::Values(const Shape& value_shape) const {
  Shape shape{size()};
  for (const int64_t d : value_shape.dims()) shape.Append(d);
  Tensor values(values_.dtype(), shape);
  CopyElements(values_, 0, size() * width_, values, 0);
  return values;
}

bool TableRows::EqualRows(int64_t row, const Tensor& values, int64_t other_row) const {
  if (values.dtype() == DType::kString) {
    return std::equal(values_.data<std::string>() + row * width_,
                      values_.data<std::string>() + (row + 1) * width_,
                      values.data<std::string>() + other_row * width_);
  }
  if (!IsPlain(values.dtype())) return false;
  const size_t bytes = static_cast<size_t>(width_) * DTypeSize(values.dtype());
  return std::memcmp(static_cast<const char*>(values_.raw_data()) + row * bytes,
                     static_cast<const char*>(values.raw_data()) + other_row * bytes, bytes) == 0;
}

bool TableRows::SameAs(const TableRows& other) const {
  if (size() != other.size()) return false;
  const Tensor keys = Keys();
  std::vector<int64_t> theirs(static_cast<size_t>(size()));
  for (int64_t begin = 0; begin < size(); begin += kFindBatch) {
    other.FindRows(keys, begin, std::min(kFindBatch, size() - begin), &theirs[begin]);
  }
  for (int64_t row = 0; row < size(); ++row) {
    if (theirs[row] < 0 || !EqualRows(row, other.values_, theirs[row])) return false;
  }
  return true;
}

}  // namespace sextant

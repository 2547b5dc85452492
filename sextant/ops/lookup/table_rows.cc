#include "sextant/ops/lookup/table_rows.h"

#include <algorithm>
#include <cstring>

#include "sextant/base/error.h"
#include "sextant/ops/lookup/lookup_table.h"

namespace sextant {

TableRows::TableRows(DType key_dtype, DType value_dtype, int64_t width)
    : key_dtype_(key_dtype), width_(width), values_(value_dtype, {0, width}) {
  if (key_dtype == DType::kString) {
    index_ = Index<std::string>();
  } else if (key_dtype != DType::kInt32 && key_dtype != DType::kInt64) {
    throw Unimplemented("tables with keys of {}", DTypeName(key_dtype));
  }
}

template <typename Self, typename F>
void TableRows::ForEachKey(Self& self, const Tensor& keys, F&& f) {
  const int64_t count = keys.num_elements();
  if (keys.dtype() == DType::kString) {
    auto& index = std::get<Index<std::string>>(self.index_);
    const std::string* const key = keys.data<std::string>();
    for (int64_t i = 0; i < count; ++i) f(index, key[i], i);
    return;
  }
  auto& index = std::get<Index<int64_t>>(self.index_);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key =
        keys.dtype() == DType::kInt32 ? keys.data<int32_t>()[i] : keys.data<int64_t>()[i];
    f(index, key, i);
  }
}

int64_t TableRows::size() const {
  return std::visit([](const auto& index) { return static_cast<int64_t>(index.keys.size()); },
                    index_);
}

void TableRows::Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const {
  const bool one_default = defaults.num_elements() == width_;
  ForEachKey(*this, keys, [&](const auto& index, const auto& key, int64_t i) {
    const auto found = index.rows.find(key);
    if (found != index.rows.end()) {
      CopyElements(values_, found->second * width_, width_, values, i * width_);
    } else {
      CopyElements(defaults, one_default ? 0 : i * width_, width_, values, i * width_);
    }
  });
}

int64_t TableRows::AddRow() {
  const int64_t row = size();
  if (row == values_.dim(0)) {
    Tensor larger(values_.dtype(), {std::max<int64_t>(16, 2 * row), width_});
    CopyElements(values_, 0, row * width_, larger, 0);
    values_ = std::move(larger);
  }
  return row;
}

void TableRows::Put(const Tensor& keys, const Tensor& values) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t i) {
    const int64_t next = AddRow();
    const auto [entry, added] = index.rows.emplace(key, next);
    if (added) index.keys.push_back(&entry->first);
    CopyElements(values, i * width_, width_, values_, entry->second * width_);
  });
}

void TableRows::PutNew(const Tensor& keys, const Tensor& values) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t i) {
    const int64_t next = AddRow();
    const auto [entry, added] = index.rows.emplace(key, next);
    if (added) {
      index.keys.push_back(&entry->first);
      CopyElements(values, i * width_, width_, values_, next * width_);
    } else if (!EqualRows(entry->second, values, i)) {
      throw FailedPrecondition("the table has different values for the same key '{}'", key);
    }
  });
}

void TableRows::Remove(const Tensor& keys) {
  ForEachKey(*this, keys, [&](auto& index, const auto& key, int64_t) {
    const auto found = index.rows.find(key);
    if (found == index.rows.end()) return;
    const int64_t row = found->second;
    const auto last = static_cast<int64_t>(index.keys.size()) - 1;
    if (row != last) {
      index.keys[row] = index.keys[last];
      index.rows.find(*index.keys[row])->second = row;
      CopyElements(values_, last * width_, width_, values_, row * width_);
    }
    index.keys.pop_back();
    index.rows.erase(found);
  });
}

Tensor TableRows::Keys() const {
  Tensor keys(key_dtype_, {size()});
  for (int64_t row = 0; row < size(); ++row) {
    if (key_dtype_ == DType::kString) {
      keys.data<std::string>()[row] = *std::get<Index<std::string>>(index_).keys[row];
    } else if (key_dtype_ == DType::kInt64) {
      keys.data<int64_t>()[row] = *std::get<Index<int64_t>>(index_).keys[row];
    } else {
      keys.data<int32_t>()[row] = static_cast<int32_t>(*std::get<Index<int64_t>>(index_).keys[row]);
    }
  }
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
  return std::visit(
      [&](const auto& index) {
        const auto& theirs = std::get<std::decay_t<decltype(index)>>(other.index_);
        return std::all_of(index.rows.begin(), index.rows.end(), [&](const auto& entry) {
          const auto found = theirs.rows.find(entry.first);
          return found != theirs.rows.end() &&
                 EqualRows(entry.second, other.values_, found->second);
        });
      },
      index_);
}

}  // namespace sextant

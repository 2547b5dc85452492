#include "sextant/ops/parsing/feature_parser.h"

#include <algorithm>
#include <limits>

namespace sextant {
namespace {

void CheckDefault(const DenseSpec& spec, const Tensor& value, const std::string& key) {
  if (spec.variable && value.num_elements() != 1) {
    throw InvalidArgument("the padding of feature '{}' must be one element, got shape {}", key,
                          value.shape().ToString());
  }
  if (!spec.variable && value.num_elements() > 0 && value.shape() != spec.shape) {
    throw InvalidArgument("the default of feature '{}' must have shape {}, got {}", key,
                          spec.shape.ToString(), value.shape().ToString());
  }
}

}  // namespace

FeatureParser::FeatureParser(const std::vector<DType>& sparse, const std::vector<DType>& dense,
                             const std::vector<PartialShape>& dense_shapes,
                             const std::vector<DType>& ragged) {
  if (dense.size() != dense_shapes.size()) {
    throw InvalidArgument("{} dense features have {} shapes", dense.size(), dense_shapes.size());
  }
  for (const DType type : sparse) sparse_.push_back({FeatureKindOf(type)});
  for (size_t d = 0; d < dense.size(); ++d)
    dense_.emplace_back(dense[d], dense_shapes[d], fmt::format("dense_shapes[{}]", d));
  for (const DType type : ragged) ragged_.push_back({FeatureKindOf(type)});
  keys_.resize(static_cast<size_t>(num_features()));
}

void FeatureParser::SetKey(int f, const std::string& key) {
  if (keys_[f] == key) return;
  keys_[f] = key;
  changed_ = true;
}

void FeatureParser::Parse(KernelContext& ctx, const Tensor& serialized, const Tensor* names,
                          int first_default, const Shape& no_splits) {
  if (changed_) SetWanted();
  batched_ = serialized.rank() == 1;
  defaults_.clear();
  for (int d = 0; d < num_dense(); ++d) {
    defaults_.push_back(&ctx.input(first_default + d));
    CheckDefault(dense_[d], *defaults_[d], keys_[num_sparse() + d]);
  }
  index_.Reset(serialized.flat<std::string>(),
               names != nullptr ? names->flat<std::string>() : std::span<const std::string>());
  const int64_t batch = index_.size();
  const double cost = Cost(serialized);
  ctx.ParallelFor(batch, cost, [&](int64_t begin, int64_t end) { index_.Scan(begin, end); });
  for (int f = 0; f < num_dense(); ++f) AllocateDense(ctx, f);
  for (int f = 0; f < num_sparse(); ++f) AllocateSparse(ctx, f);
  for (int f = 0; f < num_ragged(); ++f) AllocateRagged(ctx, f, no_splits);
  ctx.ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Decode(i);
  });
}

void FeatureParser::SetWanted() {
  std::vector<WantedFeature> wanted;
  for (const Listed& feature : sparse_) wanted.push_back({keys_[wanted.size()], feature.kind});
  for (const DenseSpec& feature : dense_) wanted.push_back({keys_[wanted.size()], feature.kind});
  for (const Listed& feature : ragged_) wanted.push_back({keys_[wanted.size()], feature.kind});
  index_.SetWanted(std::move(wanted));
  changed_ = false;
}

// Rough nanoseconds per example, of one of the two passes.
double FeatureParser::Cost(const Tensor& serialized) const {
  size_t bytes = 0;
  for (const std::string& example : serialized.flat<std::string>()) bytes += example.size();
  return 20.0 * num_features() + 0.3 * static_cast<double>(bytes) /
                                     static_cast<double>(std::max<int64_t>(index_.size(), 1));
}

void FeatureParser::AllocateDense(KernelContext& ctx, int d) {
  const DenseSpec& spec = dense_[d];
  const int f = num_sparse() + d;
  int64_t rows = 0;
  for (int64_t i = 0; i < index_.size(); ++i) {
    const int64_t count = index_.count(i, f);
    if (spec.variable) {
      rows = std::max(rows, count / spec.elements());
      if (spec.Accepts(count)) continue;
      throw index_.BadFeature(
          i, f,
          fmt::format("{} values do not make rows of shape {}", count, spec.shape.ToString()));
    }
    if (index_.missing(i, f)) {
      if (defaults_[d]->num_elements() > 0) continue;
      throw index_.BadFeature(i, f, "it is required, but missing");
    }
    if (!spec.Accepts(count)) {
      throw index_.BadFeature(i, f,
                              fmt::format("it holds {} values, expected those of shape {}", count,
                                          spec.shape.ToString()));
    }
  }
  Shape shape = spec.shape;
  if (spec.variable) shape.Insert(0, rows);
  if (batched_) shape.Insert(0, index_.size());
  dense_rows_.resize(dense_.size());
  dense_values_.resize(dense_.size());
  dense_rows_[d] = spec.variable ? rows * spec.elements() : spec.elements();
  dense_values_[d] = ctx.AllocateOutput(3 * num_sparse() + d, shape).raw_data();
}

void FeatureParser::Count(int f, Listed* feature) {
  feature->offsets.resize(static_cast<size_t>(index_.size()) + 1);
  feature->longest = 0;
  int64_t total = 0;
  for (int64_t i = 0; i < index_.size(); ++i) {
    feature->offsets[i] = total;
    total += index_.count(i, f);
    feature->longest = std::max(feature->longest, index_.count(i, f));
  }
  feature->offsets[index_.size()] = total;
}

void FeatureParser::AllocateSparse(KernelContext& ctx, int s) {
  Listed& feature = sparse_[s];
  Count(s, &feature);
  const int64_t total = feature.offsets.back(), rank = batched_ ? 2 : 1;
  feature.indices = ctx.AllocateOutput(s, Shape{total, rank}).data<int64_t>();
  feature.values = ctx.AllocateOutput(num_sparse() + s, Shape{total}).raw_data();
  int64_t* shape = ctx.AllocateOutput(2 * num_sparse() + s, Shape{rank}).data<int64_t>();
  if (batched_) *shape++ = index_.size();
  *shape = feature.longest;
}

void FeatureParser::AllocateRagged(KernelContext& ctx, int r, const Shape& no_splits) {
  Listed& feature = ragged_[r];
  Count(num_sparse() + num_dense() + r, &feature);
  const int values = 3 * num_sparse() + num_dense() + r, splits = values + num_ragged();
  feature.values = ctx.AllocateOutput(values, Shape{feature.offsets.back()}).raw_data();
  if (batched_) {
    WriteSplits(feature.offsets, &ctx.AllocateOutput(splits, Shape{index_.size() + 1}));
  } else {
    Tensor& none = ctx.AllocateOutput(splits, no_splits);
    std::fill_n(static_cast<char*>(none.raw_data()), none.bytes(), 0);
  }
}

void FeatureParser::Decode(int64_t i) {
  int f = 0;
  for (const Listed& feature : sparse_) {
    const int64_t offset = feature.offsets[i], count = index_.count(i, f);
    int64_t* index = feature.indices + offset * (batched_ ? 2 : 1);
    for (int64_t k = 0; k < count; ++k) {
      if (batched_) *index++ = i;
      *index++ = k;
    }
    ReadFeature(feature.kind, index_.list(i, f++), feature.values, offset, count);
  }
  for (int d = 0; d < num_dense(); ++d, ++f) {
    const FeatureKind kind = dense_[d].kind;
    const int64_t row = dense_rows_[d], count = index_.count(i, f);
    ReadFeature(kind, index_.list(i, f), dense_values_[d], i * row, count);
    if (count < row) FillFeature(*defaults_[d], dense_values_[d], i * row + count, row - count);
  }
  for (const Listed& feature : ragged_) {
    ReadFeature(feature.kind, index_.list(i, f), feature.values, feature.offsets[i],
                index_.count(i, f));
    ++f;
  }
}

const Tensor* NamesOf(const Tensor& names, const Tensor& serialized) {
  if (names.num_elements() == 0) return nullptr;
  if (names.shape() != serialized.shape()) {
    throw InvalidArgument("names must be empty or of shape {}, got {}",
                          serialized.shape().ToString(), names.shape().ToString());
  }
  return &names;
}

void WriteSplits(std::span<const int64_t> splits, Tensor* out) {
  if (out->dtype() == DType::kInt64) {
    std::ranges::copy(splits, out->data<int64_t>());
    return;
  }
  if (!splits.empty() && splits.back() > std::numeric_limits<int32_t>::max()) {
    throw InvalidArgument("{} values need int64 splits", splits.back());
  }
  std::ranges::copy(splits, out->data<int32_t>());
}

}  // namespace sextant

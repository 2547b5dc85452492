#include "sextant/ops/parsing/feature_list_parser.h"

#include <algorithm>

#include "sextant/ops/parsing/feature_parser.h"

namespace sextant {

FeatureListParser::FeatureListParser(const std::vector<DType>& sparse,
                                     const std::vector<DType>& dense,
                                     const std::vector<PartialShape>& dense_shapes,
                                     const std::vector<DType>& ragged) {
  if (dense.size() != dense_shapes.size()) {
    throw InvalidArgument("{} dense lists have {} shapes", dense.size(), dense_shapes.size());
  }
  for (const DType type : sparse) sparse_.push_back({FeatureKindOf(type)});
  for (size_t d = 0; d < dense.size(); ++d) {
    if (!dense_shapes[d].fully_known()) {
      throw InvalidArgument("the shape of dense list {} is not fully known: {}", d,
                            dense_shapes[d].ToString());
    }
    dense_.emplace_back(dense[d], dense_shapes[d], fmt::format("dense list {}", d));
  }
  for (const DType type : ragged) ragged_.push_back({FeatureKindOf(type)});
  keys_.resize(static_cast<size_t>(num_lists()));
  may_miss_.resize(dense_.size());
  dense_values_.resize(dense_.size());
  dense_rows_.resize(dense_.size());
}

void FeatureListParser::SetKey(int f, const std::string& key) {
  if (keys_[f] == key) return;
  keys_[f] = key;
  changed_ = true;
}

void FeatureListParser::SetWanted() {
  std::vector<WantedFeature> wanted;
  for (const Total& list : sparse_) wanted.push_back({keys_[wanted.size()], list.kind});
  for (const DenseSpec& list : dense_) wanted.push_back({keys_[wanted.size()], list.kind});
  for (const Total& list : ragged_) wanted.push_back({keys_[wanted.size()], list.kind});
  table_.Set(std::move(wanted));
  changed_ = false;
}

Error FeatureListParser::Bad(int64_t example, int f, std::string_view reason) const {
  return InvalidArgument("example {}{}, feature list '{}': {}", example,
                         names_.empty() ? "" : " ('" + names_[example] + "')", keys_[f], reason);
}

template <typename F>
void FeatureListParser::ForRows(const Entry& entry, F&& row) {
  // It was read before: it is well-formed.
  (void)ReadFeatureList(entry.list, joined_,
                        [&](const WireFeature& feature) { row(feature, CountValues(feature)); });
}

void FeatureListParser::Scan(int64_t example) {
  std::fill_n(&At(example, 0), num_lists(), Entry{});
  const bool read = ReadSequenceExample(
      examples_[example], joined_, [](std::string_view, const WireFeature&) {},
      [&](std::string_view key, std::string_view list) {
        const int f = table_.Find(key);
        if (f >= 0) At(example, f) = {.missing = false, .list = list};
      });
  if (!read) {
    throw InvalidArgument("example {}: its {} bytes are not a tf.train.SequenceExample", example,
                          examples_[example].size());
  }
  for (int f = 0; f < num_lists(); ++f) {
    if (table_.First(f) != f) At(example, f) = At(example, table_.First(f));
    ScanList(example, f);
  }
}

void FeatureListParser::ScanList(int64_t example, int f) {
  Entry& entry = At(example, f);
  entry.rows = entry.values = entry.longest = 0;
  const int d = f - num_sparse();
  const bool dense = d >= 0 && d < num_dense();
  if (entry.missing && dense && !may_miss_[d]) throw Bad(example, f, "it is required, but missing");
  const bool read = ReadFeatureList(entry.list, joined_, [&](const WireFeature& feature) {
    if (feature.kind != FeatureKind::kNone && feature.kind != KindAt(f)) {
      throw Bad(example, f,
                fmt::format("row {} holds {} values, expected {}", entry.rows,
                            FeatureKindName(feature.kind), FeatureKindName(KindAt(f))));
    }
    const int64_t count = CountValues(feature);
    if (count < 0) throw Bad(example, f, fmt::format("row {} is malformed", entry.rows));
    if (dense && count != dense_[d].elements()) {
      throw Bad(example, f,
                fmt::format("row {} holds {} values, expected those of shape {}", entry.rows, count,
                            dense_[d].shape.ToString()));
    }
    ++entry.rows;
    entry.values += count;
    entry.longest = std::max(entry.longest, count);
  });
  if (!read) throw Bad(example, f, "it is malformed");
}

void FeatureListParser::Sum(int f, Total* total) {
  total->rows.assign(1, 0);
  total->offsets.assign(1, 0);
  total->most_rows = total->longest = 0;
  for (int64_t i = 0; i < std::ssize(examples_); ++i) {
    const Entry& entry = At(i, f);
    total->rows.push_back(total->rows.back() + entry.rows);
    total->offsets.push_back(total->offsets.back() + entry.values);
    total->most_rows = std::max(total->most_rows, entry.rows);
    total->longest = std::max(total->longest, entry.longest);
  }
}

void FeatureListParser::Parse(KernelContext& ctx, const Tensor& serialized, const Tensor* names,
                              int first_output, bool with_lengths) {
  if (num_lists() == 0) return;
  if (changed_) SetWanted();
  batched_ = serialized.rank() == 1;
  examples_ = serialized.flat<std::string>();
  names_ = names != nullptr ? names->flat<std::string>() : std::span<const std::string>();
  joined_.Clear();
  const int64_t batch = std::ssize(examples_), rank = batched_ ? 3 : 2;
  entries_.resize(static_cast<size_t>(batch * num_lists()));
  const double cost = 500.0 * num_lists();
  ctx.ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Scan(i);
  });

  int out = first_output;
  for (int s = 0; s < num_sparse(); ++s, ++out) {
    Total& list = sparse_[s];
    Sum(s, &list);
    const int64_t total = list.offsets.back();
    list.indices = ctx.AllocateOutput(out, Shape{total, rank}).data<int64_t>();
    list.values = ctx.AllocateOutput(out + num_sparse(), Shape{total}).raw_data();
    int64_t* shape = ctx.AllocateOutput(out + 2 * num_sparse(), Shape{rank}).data<int64_t>();
    if (batched_) *shape++ = batch;
    *shape++ = list.most_rows;
    *shape = list.longest;
  }
  out += 2 * num_sparse();
  for (int d = 0; d < num_dense(); ++d, ++out) {
    Shape shape = dense_[d].shape;
    int64_t& rows = dense_rows_[d] = 0;
    for (int64_t i = 0; i < batch; ++i) rows = std::max(rows, At(i, num_sparse() + d).rows);
    shape.Insert(0, rows);
    if (batched_) shape.Insert(0, batch);
    dense_values_[d] = ctx.AllocateOutput(out, shape).raw_data();
    if (!with_lengths) continue;
    const Shape lengths = batched_ ? Shape{batch} : Shape();
    int64_t* length = ctx.AllocateOutput(out + num_dense(), lengths).data<int64_t>();
    for (int64_t i = 0; i < batch; ++i) *length++ = At(i, num_sparse() + d).rows;
  }
  if (with_lengths) out += num_dense();
  for (int r = 0; r < num_ragged(); ++r, ++out) {
    Total& list = ragged_[r];
    Sum(num_sparse() + num_dense() + r, &list);
    list.values = ctx.AllocateOutput(out, Shape{list.offsets.back()}).raw_data();
    list.inner.resize(static_cast<size_t>(list.rows.back()) + 1);
    list.inner[0] = 0;
    Tensor& outer = ctx.AllocateOutput(out + num_ragged(), batched_ ? Shape{batch + 1} : Shape());
    // One example has no outer splits.
    WriteSplits(batched_ ? std::span<const int64_t>(list.rows) : std::span(&list.inner[0], 1),
                &outer);
  }
  ctx.ParallelFor(batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Decode(i);
  });
  for (int r = 0; r < num_ragged(); ++r) {
    const Total& list = ragged_[r];
    Tensor& inner = ctx.AllocateOutput(out + num_ragged() + r, Shape{std::ssize(list.inner)});
    WriteSplits(list.inner, &inner);
  }
}

void FeatureListParser::Decode(int64_t example) {
  int f = 0;
  for (const Total& list : sparse_) {
    int64_t offset = list.offsets[example], row = 0;
    ForRows(At(example, f++), [&](const WireFeature& feature, int64_t count) {
      int64_t* index = list.indices + offset * (batched_ ? 3 : 2);
      for (int64_t k = 0; k < count; ++k) {
        if (batched_) *index++ = example;
        *index++ = row;
        *index++ = k;
      }
      ReadFeature(list.kind, feature.list, list.values, offset, count);
      offset += count;
      ++row;
    });
  }
  for (int d = 0; d < num_dense(); ++d, ++f) {
    const DenseSpec& spec = dense_[d];
    const int64_t end = (example + 1) * dense_rows_[d] * spec.elements();
    int64_t offset = example * dense_rows_[d] * spec.elements();
    ForRows(At(example, f), [&](const WireFeature& feature, int64_t count) {
      ReadFeature(spec.kind, feature.list, dense_values_[d], offset, count);
      offset += count;
    });
    ZeroFeature(spec.kind, dense_values_[d], offset, end - offset);
  }
  for (Total& list : ragged_) {
    int64_t offset = list.offsets[example], row = list.rows[example];
    ForRows(At(example, f++), [&](const WireFeature& feature, int64_t count) {
      ReadFeature(list.kind, feature.list, list.values, offset, count);
      list.inner[++row] = offset += count;
    });
  }
}

}  // namespace sextant

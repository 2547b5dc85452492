// FeatureListParser: the feature lists of serialized SequenceExamples as the outputs of a kernel.
// As FeatureParser does it: one pass for the sizes, one for the values.
#pragma once

#include <string>
#include <vector>

#include "sextant/device/kernel.h"
#include "sextant/formats/dense_spec.h"
#include "sextant/formats/example_index.h"

namespace sextant {

// Lists are numbered sparse ones first, then dense, then ragged. Used by one thread at a time.
class FeatureListParser {
 public:
  // Throws INVALID_ARGUMENT when the shapes do not fit the dense types or are not fully known.
  FeatureListParser(const std::vector<DType>& sparse, const std::vector<DType>& dense,
                    const std::vector<PartialShape>& dense_shapes,
                    const std::vector<DType>& ragged);

  int num_sparse() const { return static_cast<int>(sparse_.size()); }
  int num_dense() const { return static_cast<int>(dense_.size()); }
  int num_ragged() const { return static_cast<int>(ragged_.size()); }
  int num_lists() const { return num_sparse() + num_dense() + num_ragged(); }

  void SetKey(int f, const std::string& key);
  // Whether dense list d counts as empty where it is missing; else that is an error.
  void SetMayMiss(int d, bool may_miss) { may_miss_[d] = may_miss; }

  // Sets outputs from "first_output" on: indices, values and shapes of sparse lists (example, row,
  // position), values of dense ones, padded with zeros, their lengths if "with_lengths", values,
  // outer and inner splits of ragged ones. A scalar "serialized" gives outputs without the first
  // dimension. Names as in FeatureParser.
  void Parse(KernelContext& ctx, const Tensor& serialized, const Tensor* names, int first_output,
             bool with_lengths);

 private:
  // A list of one example.
  struct Entry {
    bool missing = true;
    std::string_view list;
    int64_t rows = 0, values = 0, longest = 0;
  };
  // A list in all examples.
  struct Total {
    FeatureKind kind;
    void* values = nullptr;
    int64_t* indices = nullptr;
    std::vector<int64_t> rows = {}, offsets = {};  // first row and value of each example, and ends
    int64_t most_rows = 0, longest = 0;
    std::vector<int64_t> inner = {};  // splits of rows
  };

  Entry& At(int64_t example, int f) { return entries_[example * num_lists() + f]; }
  FeatureKind KindAt(int f) const { return table_.wanted()[f].kind; }
  Error Bad(int64_t example, int f, std::string_view reason) const;
  void SetWanted();
  void Scan(int64_t example);
  void ScanList(int64_t example, int f);
  void Sum(int f, Total* total);
  void Decode(int64_t example);
  // Calls row(feature, number of values) for each row of an entry that was scanned.
  template <typename F>
  void ForRows(const Entry& entry, F&& row);

  FeatureTable table_;
  std::vector<std::string> keys_;
  bool changed_ = true, batched_ = false;
  std::vector<Total> sparse_, ragged_;
  std::vector<DenseSpec> dense_;
  std::vector<char> may_miss_;
  std::vector<void*> dense_values_;
  std::vector<int64_t> dense_rows_;  // of one example in the output
  std::span<const std::string> examples_, names_;
  std::vector<Entry> entries_;
  JoinedBytes joined_;
};

}  // namespace sextant

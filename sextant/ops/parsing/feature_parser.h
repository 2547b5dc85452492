// FeatureParser: the features of serialized Examples as the outputs of a kernel.
//
// A first pass over the bytes gives the sizes of all outputs, a second decodes the values into
// them; both share the examples among the threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sextant/device/kernel.h"
#include "sextant/formats/dense_spec.h"
#include "sextant/formats/example_index.h"

namespace sextant {

// Features are numbered sparse ones first, then dense, then ragged. Used by one thread at a time.
class FeatureParser {
 public:
  // Throws INVALID_ARGUMENT when the shapes do not fit the dense types.
  FeatureParser(const std::vector<DType>& sparse, const std::vector<DType>& dense,
                const std::vector<PartialShape>& dense_shapes, const std::vector<DType>& ragged);

  int num_sparse() const { return static_cast<int>(sparse_.size()); }
  int num_dense() const { return static_cast<int>(dense_.size()); }
  int num_ragged() const { return static_cast<int>(ragged_.size()); }
  int num_features() const { return num_sparse() + num_dense() + num_ragged(); }
  // Of the kernel's first ones, those this sets.
  int num_outputs() const { return 3 * num_sparse() + num_dense() + 2 * num_ragged(); }

  // The key of feature f. Cheap when it is the same as the last time.
  void SetKey(int f, const std::string& key);

  // Sets outputs indices, values and shapes of sparse features, values of dense ones, values and
  // row splits of ragged ones. A scalar "serialized" gives outputs without the first size, and row
  // splits of shape "no_splits". Inputs from "first_default" on are the defaults of dense
  // features. Names, if not null, are of the shape of "serialized" and for messages.
  void Parse(KernelContext& ctx, const Tensor& serialized, const Tensor* names, int first_default,
             const Shape& no_splits);

 private:
  // A feature with any number of values in each example.
  struct Listed {
    FeatureKind kind;
    void* values = nullptr;
    int64_t* indices = nullptr;
    std::vector<int64_t> offsets = {};  // of each example's values, and their end
    int64_t longest = 0;
  };

  void SetWanted();
  double Cost(const Tensor& serialized) const;
  void AllocateDense(KernelContext& ctx, int d);
  void Count(int f, Listed* feature);
  void AllocateSparse(KernelContext& ctx, int s);
  void AllocateRagged(KernelContext& ctx, int r, const Shape& no_splits);
  void Decode(int64_t i);

  std::vector<Listed> sparse_, ragged_;
  std::vector<DenseSpec> dense_;
  std::vector<std::string> keys_;
  bool changed_ = true, batched_ = false;
  ExampleIndex index_;
  std::vector<const Tensor*> defaults_;
  std::vector<int64_t> dense_rows_;  // elements of one example in the output
  std::vector<void*> dense_values_;
};

// The names tensor, or null when it is empty. Throws INVALID_ARGUMENT when there is not one for
// each of "serialized".
const Tensor* NamesOf(const Tensor& names, const Tensor& serialized);
// Copies row splits to a tensor of int32 or int64. Throws INVALID_ARGUMENT when they do not fit.
void WriteSplits(std::span<const int64_t> splits, Tensor* out);

}  // namespace sextant

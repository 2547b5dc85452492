// Column: what a kind of feature column does. Categorical columns give ids, dense ones numbers.
#pragma once

#include <string>
#include <vector>

#include "sextant/nn/feature_column.h"

namespace sextant::columns {

// The ids of a batch in one of two forms: a matrix [batch, 1] where every row has one id, -1 for
// none; or sparse, any number a row, with weights if they count differently. The first is what
// single-valued features give: a fraction of the nodes.
struct Ids {
  Output single;
  bool may_miss = true;  // of single: whether there can be -1
  SparseTensor sparse;
  Output weights;  // of sparse: as its values
  bool is_single() const { return static_cast<bool>(single); }
};

class Column {
 public:
  virtual ~Column() = default;
  virtual const std::string& name() const = 0;
  virtual void AddToParseSpec(ParseSpec& spec) const = 0;

  virtual bool categorical() const { return false; }
  virtual bool dense() const { return false; }
  // REQUIRES: categorical().
  virtual int64_t num_ids() const;
  virtual Ids MakeIds(const Features& features) const;
  // REQUIRES: dense(). [batch, width()], variables in the current VariableScope.
  virtual int64_t width() const;
  virtual Output MakeDense(const Features& features, const InputLayerOptions& options) const;
  // The scope of its variables in an input layer.
  virtual std::string VariableScopeName() const { return name(); }
};

// A constant of int64, the type of ids.
Output Number(int64_t value);
// The feature as a matrix [batch, n]; a vector becomes [batch, 1].
Output AsMatrix(Output x, const std::string& key);
// A dense matrix without the entries that equal "missing".
SparseTensor WithoutMissing(Output matrix, Output missing);
// Ids of either form as sparse.
SparseTensor AsSparse(const Ids& ids);
// One table for all uses of a column in a graph: made by "make" the first time.
Output TableOf(const std::string& key, const std::function<Output()>& make);

// Rows of a table, combined per batch row. The table is [ids, width].
Output LookUp(const PartitionedVariable& table, const Ids& ids, const std::string& combiner,
              const std::optional<float>& max_norm);

// Throw INVALID_ARGUMENT, saying what to do, unless the column is one that "user" or an input layer
// can take.
void CheckCategorical(const FeatureColumn& column, const char* user);
void CheckDense(const FeatureColumn& column);
void CheckCombiner(const std::string& combiner);

}  // namespace sextant::columns

#include <numeric>

#include "sextant/base/error.h"
#include "sextant/nn/embedding_lookup.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/partition_scope.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/nn/dropout.h"

namespace sextant::layers {
namespace {

// x [..., in] times kernel [in, out] for more than two dimensions: the leading ones are one for the
// product.
Output LeadingProduct(Output x, Output kernel, int64_t units) {
  const PartialShape& shape = x.shape();
  const int64_t in = shape[shape.rank() - 1];
  const Output product = MatMul(Reshape(x, {-1, in}), kernel);
  std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
  dims.back() = units;
  if (std::count(dims.begin(), dims.end(), -1) <= 1) return Reshape(product, dims);
  const Output leading = Slice(ShapeOf(x), {0}, {shape.rank() - 1});
  return Reshape(product,
                 Concat({leading, Const(Tensor::Of<int32_t>({static_cast<int32_t>(units)}))}, 0));
}

}  // namespace

Output Dense(Output x, const DenseOptions& options) {
  CheckPositive(options.units, "units", "Dense");
  const int64_t in = KnownDim(x, -1, "Dense");
  const LayerScope scope(options.name, "dense");
  const Output kernel = GetWeights("kernel", {.shape = {in, options.units},
                                              .dtype = x.dtype(),
                                              .initializer = options.kernel_initializer,
                                              .regularizer = options.kernel_regularizer,
                                              .trainable = options.trainable});
  Output y = x.shape().rank() == 2 ? MatMul(x, kernel) : LeadingProduct(x, kernel, options.units);
  if (options.use_bias) {
    const Output bias = GetWeights(
        "bias",
        {.shape = {options.units},
         .dtype = x.dtype(),
         .initializer = options.bias_initializer ? options.bias_initializer : initializers::Zeros(),
         .regularizer = options.bias_regularizer,
         .trainable = options.trainable});
    y = BiasAdd(y, bias);
  }
  return options.activation ? options.activation(y) : y;
}

Output Dropout(Output x, const DropoutOptions& options) {
  if (!(options.rate >= 0 && options.rate < 1)) {
    throw InvalidArgument("Dropout: rate must be in [0, 1), is {}", options.rate);
  }
  if (!options.training || options.rate == 0) return x;
  const NameScope scope(options.name.empty() ? "dropout" : options.name);
  return sextant::Dropout(x, {.rate = options.rate, .seed = options.seed});
}

Output Embedding(Output ids, const EmbeddingOptions& options) {
  CheckPositive(options.rows, "rows", "Embedding");
  CheckPositive(options.columns, "columns", "Embedding");
  const LayerScope scope(options.name, "embedding");
  const PartitionedVariable table = GetParts(
      "embeddings", {.shape = {options.rows, options.columns},
                     .initializer = options.initializer ? options.initializer
                                                        : initializers::RandomUniform(-0.05, 0.05),
                     .regularizer = options.regularizer,
                     .trainable = options.trainable});
  return EmbeddingLookup(table, ids);
}

Output Flatten(Output x, const std::string& name) {
  const NameScope scope(name.empty() ? "flatten" : name);
  const PartialShape& shape = x.shape();
  int64_t rest = 1;
  bool known = shape.rank_known() && shape.rank() > 0;
  for (int i = 1; known && i < shape.rank(); ++i) {
    known = shape[i] >= 0;
    rest *= known ? shape[i] : 1;
  }
  if (known && rest > 0) return Reshape(x, {-1, rest});
  if (shape.rank_known() && shape.rank() > 0 && shape[0] >= 0) return Reshape(x, {shape[0], -1});
  const Output batch = Slice(ShapeOf(x), {0}, {1});
  return Reshape(x, Concat({batch, Const(Tensor::Of<int32_t>({-1}))}, 0));
}

}  // namespace sextant::layers

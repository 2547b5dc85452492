// RandomUniform, RandomUniformInt, RandomStandardNormal, TruncatedNormal, RandomShuffle: random
// tensors. A node's numbers follow from its seeds and from how often it ran in the session.
//
// Seeds: an op's own "seed" and the graph's (Graph::set_seed). With neither the numbers differ from
// session to session; ops without their own seed are told apart by the order they were made in.
#pragma once

#include <cstdint>
#include <optional>

#include "sextant/base/export.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The attributes "seed" and "seed2" of an op made in "graph" with this seed of its own, by
// TensorFlow's rules. Without a seed it counts the op (Graph::NextRandomOpIndex).
struct SEXTANT_API RandomSeeds {
  int64_t seed = 0, seed2 = 0;
};
RandomSeeds MakeRandomSeeds(Graph& graph, std::optional<int64_t> seed);

// A shape given as a Shape or as an integer vector.
class SEXTANT_API ShapeInput {
 public:
  ShapeInput(Output tensor) : tensor_(tensor) {}     // NOLINT
  ShapeInput(const Shape& shape) : shape_(shape) {}  // NOLINT
  ShapeInput(std::initializer_list<int64_t> dims) : shape_(dims) {}
  // The vector; a constant "shape" in the current graph for a Shape.
  Output tensor() const;

 private:
  Output tensor_;
  Shape shape_;
};

struct SEXTANT_API RandomUniformOptions {
  double min = 0;
  double max = 1;
  DType dtype = DType::kFloat;
  std::optional<int64_t> seed = {};
};
// Numbers in [min, max): RandomUniform * (max - min) + min.
Output RandomUniform(const ShapeInput& shape, const RandomUniformOptions& options = {});

struct SEXTANT_API RandomUniformIntOptions {
  DType dtype = DType::kInt32;
  std::optional<int64_t> seed = {};
};
// Integers in [min, max).
Output RandomUniformInt(const ShapeInput& shape, int64_t min, int64_t max,
                        const RandomUniformIntOptions& options = {});

struct SEXTANT_API RandomNormalOptions {
  double mean = 0;
  double stddev = 1;
  DType dtype = DType::kFloat;
  std::optional<int64_t> seed = {};
};
// RandomStandardNormal * stddev + mean.
Output RandomNormal(const ShapeInput& shape, const RandomNormalOptions& options = {});
// The same without numbers further than two stddev from the mean.
Output TruncatedNormal(const ShapeInput& shape, const RandomNormalOptions& options = {});

struct SEXTANT_API RandomSeedOptions {
  std::optional<int64_t> seed = {};
};
// The rows of "value" in random order.
Output RandomShuffle(Output value, const RandomSeedOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

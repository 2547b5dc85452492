#include <algorithm>
#include <limits>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/random/random.h"

namespace sextant {
namespace {

constexpr int64_t kMaxSeed = 2147483647;
constexpr int64_t kDefaultGraphSeed = 87654321;

int64_t ModMaxSeed(int64_t value) {
  const int64_t rest = value % kMaxSeed;
  return rest < 0 ? rest + kMaxSeed : rest;
}

Output ScalarConst(double value, DType dtype, const char* name) {
  switch (dtype) {
    case DType::kFloat:
      return Const(Tensor(static_cast<float>(value)), name);
    case DType::kDouble:
      return Const(Tensor(value), name);
    case DType::kHalf:
      return Const(Tensor::Scalar(Half(static_cast<float>(value))), name);
    case DType::kBFloat16:
      return Const(Tensor::Scalar(BFloat16(static_cast<float>(value))), name);
    default:
      throw InvalidArgument("random numbers are of a floating type, not {}", DTypeName(dtype));
  }
}

OpBuilder& AddSeeds(OpBuilder& builder, std::optional<int64_t> seed) {
  const RandomSeeds seeds = MakeRandomSeeds(CurrentGraph(), seed);
  return builder.Attr("seed", seeds.seed).Attr("seed2", seeds.seed2);
}

Output Draw(const char* op, Output shape, DType dtype, std::optional<int64_t> seed) {
  OpBuilder builder(op);
  builder.Input(shape).Attr("dtype", dtype);
  return AddSeeds(builder, seed).Build();
}

Output Binary(const char* op, Output a, Output b, const char* name) {
  return OpBuilder(op).Input(a).Input(b).Name(name).Build();
}

Output Normal(const char* scope, const char* op, const ShapeInput& shape,
              const RandomNormalOptions& o) {
  const NameScope in(scope);
  const Output dims = shape.tensor();
  const Output mean = ScalarConst(o.mean, o.dtype, "mean");
  const Output stddev = ScalarConst(o.stddev, o.dtype, "stddev");
  const Output drawn = Draw(op, dims, o.dtype, o.seed);
  return Binary("AddV2", Binary("Mul", drawn, stddev, "mul"), mean, "add");
}

}  // namespace

RandomSeeds MakeRandomSeeds(Graph& graph, std::optional<int64_t> seed) {
  const std::optional<int64_t> graph_seed = graph.seed();
  if (!graph_seed && !seed) return {};
  const RandomSeeds seeds = {ModMaxSeed(graph_seed.value_or(kDefaultGraphSeed)),
                             seed ? ModMaxSeed(*seed) : ModMaxSeed(graph.NextRandomOpIndex())};
  // Both zero would ask for seeds from the system.
  if (seeds.seed == 0 && seeds.seed2 == 0) return {0, kMaxSeed};
  return seeds;
}

Output ShapeInput::tensor() const {
  if (tensor_) return tensor_;
  const auto constant = [&]<typename T>(T) {
    return Const(Tensor::FromVector(std::vector<T>(shape_.dims().begin(), shape_.dims().end())),
                 "shape");
  };
  constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
  const bool large = std::ranges::any_of(shape_.dims(), [](int64_t d) { return d > kLargest; });
  return large ? constant(int64_t{}) : constant(int32_t{});
}

Output RandomUniform(const ShapeInput& shape, const RandomUniformOptions& o) {
  const NameScope in("random_uniform");
  const Output dims = shape.tensor();
  if (o.min == 0 && o.max == 1) return Draw("RandomUniform", dims, o.dtype, o.seed);
  const Output max = ScalarConst(o.max, o.dtype, "max");
  if (o.min == 0) {
    return Binary("Mul", Draw("RandomUniform", dims, o.dtype, o.seed), max, "mul");
  }
  const Output min = ScalarConst(o.min, o.dtype, "min");
  const Output drawn = Draw("RandomUniform", dims, o.dtype, o.seed);
  const Output range = Binary("Sub", max, min, "sub");
  return Binary("AddV2", Binary("Mul", drawn, range, "mul"), min, "add");
}

Output RandomUniformInt(const ShapeInput& shape, int64_t min, int64_t max,
                        const RandomUniformIntOptions& o) {
  const NameScope in("random_uniform");
  const auto bound = [&](int64_t value, const char* name) {
    return Const(o.dtype == DType::kInt32 ? Tensor(static_cast<int32_t>(value)) : Tensor(value),
                 name);
  };
  OpBuilder builder("RandomUniformInt");
  builder.Input(shape.tensor()).Input(bound(min, "min")).Input(bound(max, "max"));
  return AddSeeds(builder, o.seed).Build();
}

Output RandomNormal(const ShapeInput& shape, const RandomNormalOptions& options) {
  return Normal("random_normal", "RandomStandardNormal", shape, options);
}

Output TruncatedNormal(const ShapeInput& shape, const RandomNormalOptions& options) {
  return Normal("truncated_normal", "TruncatedNormal", shape, options);
}

Output RandomShuffle(Output value, const RandomSeedOptions& options) {
  OpBuilder builder("RandomShuffle");
  return AddSeeds(builder.Input(value), options.seed).Build();
}

}  // namespace sextant

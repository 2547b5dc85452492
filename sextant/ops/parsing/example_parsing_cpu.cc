#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/parsing/feature_parser.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;
using Types = std::vector<DType>;

FeatureParser ParserOf(KernelInit& init, const Types& ragged = {}) {
  return FeatureParser(init.attr<Types>("sparse_types"), init.attr<Types>("Tdense"),
                       init.attr<std::vector<PartialShape>>("dense_shapes"), ragged);
}

class ParseExampleKernel : public Kernel {
 public:
  explicit ParseExampleKernel(KernelInit& init) : parser_(ParserOf(init)) {}
  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(0), "serialized");
    for (int f = 0; f < parser_.num_features(); ++f) {
      const Tensor& key = ctx.input(2 + f);
      if (key.num_elements() != 1) {
        throw InvalidArgument("key {} must be a scalar, got shape {}", f, key.shape().ToString());
      }
      parser_.SetKey(f, *key.data<std::string>());
    }
    parser_.Parse(ctx, ctx.input(0), NamesOf(ctx.input(1), ctx.input(0)),
                  2 + parser_.num_features(), Shape());
  }

 private:
  FeatureParser parser_;
};

class ParseExampleV2Kernel : public Kernel {
 public:
  explicit ParseExampleV2Kernel(KernelInit& init)
      : parser_(ParserOf(init, init.attr<Types>("ragged_value_types"))) {}
  void Compute(KernelContext& ctx) override {
    const Tensor& serialized = ctx.input(0);
    if (serialized.rank() > 1) {
      throw InvalidArgument("serialized must be a scalar or a vector, got shape {}",
                            serialized.shape().ToString());
    }
    CheckVector(ctx.input(2), "sparse_keys", parser_.num_sparse());
    CheckVector(ctx.input(3), "dense_keys", parser_.num_dense());
    CheckVector(ctx.input(4), "ragged_keys", parser_.num_ragged());
    int f = 0;
    for (int i = 2; i < 5; ++i) {
      for (const std::string& key : ctx.input(i).flat<std::string>()) parser_.SetKey(f++, key);
    }
    parser_.Parse(ctx, serialized, NamesOf(ctx.input(1), serialized), 5, Shape{0});
  }

 private:
  FeatureParser parser_;
};

class ParseSingleExampleKernel : public Kernel {
 public:
  explicit ParseSingleExampleKernel(KernelInit& init) : parser_(ParserOf(init)) {
    int f = 0;
    for (const std::string& key : init.attr<Strings>("sparse_keys")) parser_.SetKey(f++, key);
    for (const std::string& key : init.attr<Strings>("dense_keys")) parser_.SetKey(f++, key);
  }
  void Compute(KernelContext& ctx) override {
    if (ctx.input(0).rank() != 0) {
      throw InvalidArgument("serialized must be a scalar, got shape {}",
                            ctx.input(0).shape().ToString());
    }
    parser_.Parse(ctx, ctx.input(0), nullptr, 1, Shape());
  }

 private:
  FeatureParser parser_;
};

}  // namespace

void RegisterExampleParsingCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ParseExample").Make<ParseExampleKernel>());
  registry.Add(KernelDef("ParseExampleV2").Make<ParseExampleV2Kernel>());
  registry.Add(KernelDef("ParseSingleExample").Make<ParseSingleExampleKernel>());
}

}  // namespace sextant

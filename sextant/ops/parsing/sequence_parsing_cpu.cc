#include <algorithm>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/parsing/feature_list_parser.h"
#include "sextant/ops/parsing/feature_parser.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;
using Types = std::vector<DType>;
using Shapes = std::vector<PartialShape>;

// The context of a SequenceExample is in the field of the features of an Example, so the parser of
// these reads it, and sets the first outputs.
class SequenceKernel : public Kernel {
 protected:
  SequenceKernel(KernelInit& init, const Types& context_ragged, const Types& list_ragged)
      : context_(init.attr<Types>("context_sparse_types"), init.attr<Types>("Tcontext_dense"),
                 CheckKnown(init.attr<Shapes>("context_dense_shapes")), context_ragged),
        lists_(init.attr<Types>("feature_list_sparse_types"),
               init.attr<Types>("feature_list_dense_types"),
               init.attr<Shapes>("feature_list_dense_shapes"), list_ragged) {}

  void Parse(KernelContext& ctx, const Tensor* names, int first_default, bool with_lengths) {
    const Tensor& serialized = ctx.input(0);
    if (serialized.rank() > 1) {
      throw InvalidArgument("serialized must be a scalar or a vector, got shape {}",
                            serialized.shape().ToString());
    }
    context_.Parse(ctx, serialized, names, first_default, Shape());
    lists_.Parse(ctx, serialized, names, context_.num_outputs(), with_lengths);
  }

  FeatureParser context_;
  FeatureListParser lists_;

 private:
  static const Shapes& CheckKnown(const Shapes& shapes) {
    for (const PartialShape& shape : shapes) {
      if (!shape.fully_known()) {
        throw InvalidArgument("the shape of a dense context feature is not fully known: {}",
                              shape.ToString());
      }
    }
    return shapes;
  }
};

class ParseSequenceKernel : public SequenceKernel {
 public:
  explicit ParseSequenceKernel(KernelInit& init) : SequenceKernel(init, {}, {}) {
    int f = 0;
    for (const auto& key : init.attr<Strings>("context_sparse_keys")) context_.SetKey(f++, key);
    for (const auto& key : init.attr<Strings>("context_dense_keys")) context_.SetKey(f++, key);
    f = 0;
    for (const auto& key : init.attr<Strings>("feature_list_sparse_keys")) lists_.SetKey(f++, key);
    const auto& may_miss = init.attr<Strings>("feature_list_dense_missing_assumed_empty");
    for (const auto& key : init.attr<Strings>("feature_list_dense_keys")) {
      lists_.SetMayMiss(f - lists_.num_sparse(), std::ranges::count(may_miss, key) > 0);
      lists_.SetKey(f++, key);
    }
  }
  void Compute(KernelContext& ctx) override {
    Parse(ctx, NamesOf(ctx.input(1), ctx.input(0)), 2, true);
  }
};

class ParseSequenceV2Kernel : public SequenceKernel {
 public:
  explicit ParseSequenceV2Kernel(KernelInit& init)
      : SequenceKernel(init, init.attr<Types>("context_ragged_value_types"),
                       init.attr<Types>("feature_list_ragged_value_types")) {}
  void Compute(KernelContext& ctx) override {
    CheckVector(ctx.input(2), "context_sparse_keys", context_.num_sparse());
    CheckVector(ctx.input(3), "context_dense_keys", context_.num_dense());
    CheckVector(ctx.input(4), "context_ragged_keys", context_.num_ragged());
    CheckVector(ctx.input(5), "feature_list_sparse_keys", lists_.num_sparse());
    CheckVector(ctx.input(6), "feature_list_dense_keys", lists_.num_dense());
    CheckVector(ctx.input(7), "feature_list_ragged_keys", lists_.num_ragged());
    CheckVector(ctx.input(8), "feature_list_dense_missing_assumed_empty", lists_.num_dense());
    int f = 0;
    for (int i = 2; i < 5; ++i) {
      for (const auto& key : ctx.input(i).flat<std::string>()) context_.SetKey(f++, key);
    }
    f = 0;
    for (int i = 5; i < 8; ++i) {
      for (const auto& key : ctx.input(i).flat<std::string>()) lists_.SetKey(f++, key);
    }
    for (int d = 0; d < lists_.num_dense(); ++d) {
      lists_.SetMayMiss(d, ctx.input(8).data<bool>()[d]);
    }
    Parse(ctx, NamesOf(ctx.input(1), ctx.input(0)), 9, true);
  }
};

class ParseSingleSequenceKernel : public SequenceKernel {
 public:
  explicit ParseSingleSequenceKernel(KernelInit& init) : SequenceKernel(init, {}, {}) {}
  void Compute(KernelContext& ctx) override {
    if (ctx.input(0).rank() != 0) {
      throw InvalidArgument("serialized must be a scalar, got shape {}",
                            ctx.input(0).shape().ToString());
    }
    int in = 2;
    for (int f = 0; f < context_.num_features(); ++f) context_.SetKey(f, Key(ctx, in++));
    for (int f = 0; f < lists_.num_lists(); ++f) {
      const std::string& key = Key(ctx, in++);
      lists_.SetKey(f, key);
      if (f < lists_.num_sparse()) continue;
      lists_.SetMayMiss(f - lists_.num_sparse(),
                        std::ranges::count(ctx.input(1).flat<std::string>(), key) > 0);
    }
    Parse(ctx, NamesOf(ctx.input(in + context_.num_dense()), ctx.input(0)), in, false);
  }

 private:
  static const std::string& Key(KernelContext& ctx, int i) {
    const Tensor& key = ctx.input(i);
    if (key.num_elements() != 1) {
      throw InvalidArgument("key {} must be a scalar, got shape {}", i - 2, key.shape().ToString());
    }
    return *key.data<std::string>();
  }
};

}  // namespace

void RegisterSequenceParsingCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("ParseSequenceExample").Make<ParseSequenceKernel>());
  registry.Add(KernelDef("ParseSequenceExampleV2").Make<ParseSequenceV2Kernel>());
  registry.Add(KernelDef("ParseSingleSequenceExample").Make<ParseSingleSequenceKernel>());
}

}  // namespace sextant

#include <cmath>
#include <unordered_set>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/formats/histogram.h"
#include "sextant/ops/summary/summary_output.h"
#include "sextant/proto/summary.pb.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

using proto::Summary;

// f(i, value) for each element of a tensor of T, as double.
template <typename T, typename F>
void ForEachReal(const Tensor& tensor, F&& f) {
  const T* const data = tensor.data<T>();
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      f(i, static_cast<double>(static_cast<float>(data[i])));
    } else {
      f(i, static_cast<double>(data[i]));
    }
  }
}

template <typename T>
void ScalarSummaryKernel(KernelContext& ctx) {
  const Tensor& tags = ctx.input(0);
  const Tensor& values = ctx.input(1);
  if (!(tags.shape() == values.shape())) {
    throw InvalidArgument("tags and values are not the same shape: {} != {}",
                          tags.shape().ToString(), values.shape().ToString());
  }
  Summary summary;
  ForEachReal<T>(values, [&](int64_t i, double value) {
    Summary::Value* entry = summary.add_value();
    entry->set_tag(tags.data<std::string>()[i]);
    entry->set_simple_value(static_cast<float>(value));
  });
  SetSummaryOutput(ctx, summary);
}

template <typename T>
void HistogramSummaryKernel(KernelContext& ctx) {
  const std::string& tag = SummaryTag(ctx);
  Histogram histogram;
  ForEachReal<T>(ctx.input(1), [&](int64_t, double value) {
    if (std::isnan(value)) throw InvalidArgument("Nan in summary histogram for: {}", tag);
    if (std::isinf(value)) throw InvalidArgument("Infinity in summary histogram for: {}", tag);
    histogram.Add(value);
  });
  Summary summary;
  Summary::Value* entry = summary.add_value();
  entry->set_tag(tag);
  histogram.ToProto(entry->mutable_histo());
  SetSummaryOutput(ctx, summary);
}

// Readers of summaries expect numbers as bytes, even a single one.
void SetTensor(const Tensor& tensor, proto::TensorProto* proto) {
  if (!IsPlain(tensor.dtype())) return TensorToProto(tensor, proto);
  proto->set_dtype(static_cast<proto::DataType>(tensor.dtype()));
  ShapeToProto(tensor.shape(), proto->mutable_tensor_shape());
  proto->set_tensor_content(tensor.raw_data(), tensor.bytes());
}

void TensorSummaryKernel(KernelContext& ctx) {
  Summary summary;
  Summary::Value* entry = summary.add_value();
  entry->set_node_name(ctx.node_name());
  SetTensor(ctx.input(0), entry->mutable_tensor());
  SetSummaryOutput(ctx, summary);
}

void TensorSummaryV2Kernel(KernelContext& ctx) {
  const std::string& tag = SummaryTag(ctx);
  const Tensor& metadata = ctx.input(2);
  if (metadata.rank() != 0) {
    throw InvalidArgument("serialized_summary_metadata must be scalar, not {}",
                          metadata.shape().ToString());
  }
  Summary summary;
  Summary::Value* entry = summary.add_value();
  entry->set_tag(tag);
  // As TensorFlow does, bytes that are no metadata are taken as far as they go.
  (void)entry->mutable_metadata()->ParseFromString(metadata.scalar<std::string>());
  SetTensor(ctx.input(1), entry->mutable_tensor());
  SetSummaryOutput(ctx, summary);
}

void MergeSummaryKernel(KernelContext& ctx) {
  Summary merged;
  std::unordered_set<std::string> tags;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    for (const std::string& bytes : ctx.input(i).flat<std::string>()) {
      Summary summary;
      if (!summary.ParseFromString(bytes)) {
        throw InvalidArgument("Could not parse summary input {}", i);
      }
      for (Summary::Value& value : *summary.mutable_value()) {
        if (!value.tag().empty() && !tags.insert(value.tag()).second) {
          throw InvalidArgument("Duplicate tag {} found in summary inputs", value.tag());
        }
        *merged.add_value() = std::move(value);
      }
    }
  }
  SetSummaryOutput(ctx, merged);
}

}  // namespace

const std::string& SummaryTag(KernelContext& ctx) {
  const Tensor& tag = ctx.input(0);
  if (tag.rank() != 0) {
    throw InvalidArgument("tag must be a scalar, not of shape {}", tag.shape().ToString());
  }
  return tag.scalar<std::string>();
}

void SetSummaryOutput(KernelContext& ctx, const Summary& summary) {
  std::string* const out = ctx.AllocateOutput(0, Shape()).data<std::string>();
  if (!summary.SerializeToString(out)) throw Internal("a summary cannot be serialized");
}

void RegisterSummaryCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("ScalarSummary").Type<T>("T").Function(ScalarSummaryKernel<T>));
    registry.Add(KernelDef("HistogramSummary").Type<T>("T").Function(HistogramSummaryKernel<T>));
  });
  registry.Add(KernelDef("TensorSummary").Function(TensorSummaryKernel));
  registry.Add(KernelDef("TensorSummaryV2").Function(TensorSummaryV2Kernel));
  registry.Add(KernelDef("MergeSummary").Function(MergeSummaryKernel));
}

}  // namespace sextant

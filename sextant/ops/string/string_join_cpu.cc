#include <algorithm>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

class JoinKernel : public Kernel {
 public:
  explicit JoinKernel(KernelInit& init) : separator_(init.attr<std::string>("separator")) {}

  void Compute(KernelContext& ctx) override {
    Shape shape;
    for (int k = 0; k < ctx.num_inputs(); ++k) {
      const Shape& input = ctx.input(k).shape();
      if (input.rank() == 0) continue;
      if (shape.rank() > 0 && shape != input) {
        throw InvalidArgument("shapes {} and {} differ and neither is a scalar's", shape.ToString(),
                              input.ToString());
      }
      shape = input;
    }
    std::string* const out = ctx.AllocateOutput(0, shape).data<std::string>();
    for (int64_t i = 0; i < shape.num_elements(); ++i) {
      out[i].clear();
      for (int k = 0; k < ctx.num_inputs(); ++k) {
        const Tensor& input = ctx.input(k);
        if (k > 0) out[i] += separator_;
        out[i] += input.data<std::string>()[input.rank() == 0 ? 0 : i];
      }
    }
  }

 private:
  const std::string separator_;
};

class ReduceJoinKernel : public Kernel {
 public:
  explicit ReduceJoinKernel(KernelInit& init)
      : keep_dims_(init.attr<bool>("keep_dims")), separator_(init.attr<std::string>("separator")) {}

  void Compute(KernelContext& ctx) override {
    const Shape& shape = ctx.input(0).shape();
    ReadAxes(ctx.input(1), shape.rank());
    Shape out_shape;
    std::vector<int> kept;
    std::vector<bool> reduced(static_cast<size_t>(shape.rank()));
    for (const int axis : axes_) reduced[axis] = true;
    for (int d = 0; d < shape.rank(); ++d) {
      if (!reduced[d]) kept.insert(kept.begin(), d);
      if (!reduced[d] || keep_dims_) out_shape.Append(reduced[d] ? 1 : shape[d]);
    }
    ListOffsets(shape, axes_, &joined_);
    ListOffsets(shape, kept, &starts_);
    const std::string* const src = ctx.input(0).data<std::string>();
    std::string* const out = ctx.AllocateOutput(0, out_shape).data<std::string>();
    for (size_t i = 0; i < starts_.size(); ++i) {
      out[i].clear();
      for (size_t k = 0; k < joined_.size(); ++k) {
        if (k > 0) out[i] += separator_;
        out[i] += src[starts_[i] + joined_[k]];
      }
    }
  }

 private:
  void ReadAxes(const Tensor& axes, int rank) {
    axes_.clear();
    for (int64_t i = 0; i < axes.num_elements(); ++i) {
      const int64_t axis = IndexAt(axes, i);
      if (axis < -rank || axis >= rank) {
        throw OutOfRange("axis {} is not in [{}, {})", axis, -rank, rank);
      }
      axes_.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
      for (size_t k = 0; k + 1 < axes_.size(); ++k) {
        if (axes_[k] == axes_.back()) throw InvalidArgument("axis {} is given twice", axis);
      }
    }
  }

  // Offsets of all elements whose indices are 0 outside of the axes, the first axis varying
  // fastest.
  static void ListOffsets(const Shape& shape, const std::vector<int>& axes,
                          std::vector<int64_t>* offsets) {
    offsets->assign(1, 0);
    for (const int axis : axes) {
      int64_t stride = 1;
      for (int d = axis + 1; d < shape.rank(); ++d) stride *= shape[d];
      const size_t block = offsets->size();
      if (shape[axis] == 0) offsets->clear();
      for (int64_t k = 1; k < shape[axis]; ++k) {
        for (size_t i = 0; i < block; ++i) offsets->push_back((*offsets)[i] + k * stride);
      }
    }
  }

  const bool keep_dims_;
  const std::string separator_;
  std::vector<int> axes_;
  std::vector<int64_t> joined_, starts_;
};

class SegmentJoinKernel : public Kernel {
 public:
  explicit SegmentJoinKernel(KernelInit& init) : separator_(init.attr<std::string>("separator")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor &in = ctx.input(0), &ids = ctx.input(1);
    if (ctx.input(2).rank() != 0) throw InvalidArgument("num_segments must be a scalar");
    const int64_t segments = IndexScalar(ctx.input(2), "num_segments");
    if (segments < 0) throw InvalidArgument("num_segments must not be negative, got {}", segments);
    if (ids.rank() == 0 || ids.rank() > in.rank() ||
        !std::equal(ids.shape().dims().begin(), ids.shape().dims().end(),
                    in.shape().dims().begin())) {
      throw InvalidArgument("segment_ids of shape {} do not fit inputs of shape {}",
                            ids.shape().ToString(), in.shape().ToString());
    }
    Shape shape{segments};
    int64_t row = 1;
    for (int d = ids.rank(); d < in.rank(); ++d) {
      shape.Append(in.dim(d));
      row *= in.dim(d);
    }
    const std::string* const src = in.data<std::string>();
    std::string* const out = ctx.AllocateOutput(0, shape).data<std::string>();
    std::for_each_n(out, shape.num_elements(), [](std::string& text) { text.clear(); });
    seen_.assign(static_cast<size_t>(segments), false);
    for (int64_t i = 0; i < ids.num_elements(); ++i) {
      const int64_t id = IndexAt(ids, i);
      if (id < 0 || id >= segments) {
        throw InvalidArgument("segment_ids{} = {} is not in [0, {})",
                              CoordinatesText(ids.shape(), i), id, segments);
      }
      for (int64_t k = 0; k < row; ++k) {
        if (seen_[id]) out[id * row + k] += separator_;
        out[id * row + k] += src[i * row + k];
      }
      seen_[id] = true;
    }
  }

 private:
  const std::string separator_;
  std::vector<bool> seen_;
};

}  // namespace

void RegisterStringJoinCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringJoin").Make<JoinKernel>());
  registry.Add(KernelDef("UnsortedSegmentJoin").Make<SegmentJoinKernel>());
  registry.Add(KernelDef("ReduceJoin").Make<ReduceJoinKernel>());
}

}  // namespace sextant

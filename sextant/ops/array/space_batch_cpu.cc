#include <algorithm>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/array/strided_copy.h"

namespace sextant {
namespace {

class DepthKernel : public Kernel {
 public:
  explicit DepthKernel(KernelInit& init)
      : to_depth_(init.node().type() == "SpaceToDepth"),
        block_(init.attr<int64_t>("block_size")),
        format_(init.attr<std::string>("data_format")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    if (format_ == "NCHW_VECT_C") {
      throw Unimplemented("data_format NCHW_VECT_C has no CPU kernel");
    }
    if (input.rank() != 4) {
      throw InvalidArgument("Input rank should be 4 instead of {}", input.rank());
    }
    const bool last = format_ == "NHWC";
    const int y = last ? 1 : 2, x = last ? 2 : 3, c = last ? 3 : 1;
    const int64_t area = block_ * block_;
    if (to_depth_ ? (input.dim(y) % block_ != 0 || input.dim(x) % block_ != 0)
                  : input.dim(c) % area != 0) {
      throw InvalidArgument("shape {} does not divide into blocks of size {}",
                            input.shape().ToString(), block_);
    }
    Shape shape = input.shape();
    shape.set_dim(y, to_depth_ ? input.dim(y) / block_ : input.dim(y) * block_);
    shape.set_dim(x, to_depth_ ? input.dim(x) / block_ : input.dim(x) * block_);
    shape.set_dim(c, to_depth_ ? input.dim(c) * area : input.dim(c) / area);
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (out.num_elements() == 0) return;
    Move(ctx, input, out, y, x, c);
  }

 private:
  void Move(KernelContext& ctx, const Tensor& input, Tensor& out, int y, int x, int c) const {
    // The deep tensor has the small image and all channels, the wide one the large image.
    const Shape& deep = to_depth_ ? out.shape() : input.shape();
    const Shape& wide = to_depth_ ? input.shape() : out.shape();
    const auto stride = [](const Shape& shape, int d) {
      int64_t product = 1;
      for (int i = d + 1; i < 4; ++i) product *= shape[i];
      return product;
    };
    struct Dim {
      int64_t size, deep, wide;
    };
    const Dim batch{deep[0], stride(deep, 0), stride(wide, 0)};
    const Dim row{deep[y], stride(deep, y), block_ * stride(wide, y)};
    const Dim column{deep[x], stride(deep, x), block_ * stride(wide, x)};
    const Dim block_row{block_, block_ * wide[c] * stride(deep, c), stride(wide, y)};
    const Dim block_column{block_, wide[c] * stride(deep, c), stride(wide, x)};
    const Dim channel{wide[c], stride(deep, c), stride(wide, c)};
    const bool last = c == 3;
    std::vector<Dim> order;
    if (to_depth_) {
      order = last ? std::vector<Dim>{batch, row, column, block_row, block_column, channel}
                   : std::vector<Dim>{batch, block_row, block_column, channel, row, column};
    } else {
      order = last ? std::vector<Dim>{batch, row, block_row, column, block_column, channel}
                   : std::vector<Dim>{batch, channel, row, block_row, column, block_column};
    }
    StridedCopy copy;
    for (const Dim& d : order) {
      copy.Add(d.size, to_depth_ ? d.deep : d.wide, to_depth_ ? d.wide : d.deep);
    }
    copy.Run(ctx, out, 0, input, 0);
  }

  const bool to_depth_;
  const int64_t block_;
  const std::string format_;
};

// Blocks in space ("wide") against images in the batch ("deep").
class BatchKernel : public Kernel {
 public:
  explicit BatchKernel(KernelInit& init)
      : to_batch_(init.node().type().starts_with("Space")),
        fixed_block_(init.num_inputs() == 2 ? init.attr<int64_t>("block_size") : 0) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    const Shape shape = ReadBlocks(ctx);
    Tensor& out = ctx.AllocateOutput(0, shape);
    if (to_batch_ && out.num_elements() != input.num_elements()) ZeroElements(ctx, out);
    if (out.num_elements() == 0 || input.num_elements() == 0) return;
    const Shape& deep = to_batch_ ? out.shape() : input.shape();
    const Shape& wide = to_batch_ ? input.shape() : out.shape();
    position_.assign(block_.size(), 0);
    for (int64_t image = 0; image < deep[0]; image += wide[0]) {
      CopyPosition(ctx, input, out, deep, wide, image);
      for (size_t i = block_.size(); i-- > 0 && ++position_[i] == block_[i];) position_[i] = 0;
    }
  }

 private:
  Shape ReadBlocks(KernelContext& ctx) {
    const Tensor& input = ctx.input(0);
    const Tensor& border = ctx.input(fixed_block_ > 0 ? 1 : 2);
    if (fixed_block_ > 0) {
      if (input.rank() != 4) {
        throw InvalidArgument("input must be of rank 4, got shape {}", input.shape().ToString());
      }
      block_.assign(2, fixed_block_);
    } else {
      CheckVector(ctx.input(1), "block_shape");
      ReadIndices(ctx.input(1), &block_);
    }
    const auto count = static_cast<int64_t>(block_.size());
    if (border.rank() != 2 || border.dim(0) != count || border.dim(1) != 2) {
      throw InvalidArgument("{} must be of shape [{}, 2], got {}", to_batch_ ? "paddings" : "crops",
                            count, border.shape().ToString());
    }
    if (input.rank() < count + 1) {
      throw InvalidArgument("input rank should be >= {} instead of {}", count + 1, input.rank());
    }
    Shape shape = input.shape();
    int64_t blocks = 1;
    before_.resize(count);
    for (int i = 0; i < count; ++i) {
      const int64_t block = block_[i], before = IndexAt(border, 2 * i);
      const int64_t after = IndexAt(border, 2 * i + 1);
      if (block < 1 || __builtin_mul_overflow(blocks, block, &blocks)) {
        throw InvalidArgument(
            "All values in block_shape must be positive, got value {} at index {}", block, i);
      }
      if (before < 0 || after < 0) {
        throw InvalidArgument("paddings and crops must be non-negative, got {} and {}", before,
                              after);
      }
      before_[i] = before;
      shape.set_dim(i + 1, NewSize(input.dim(i + 1), block, before, after, i));
    }
    if (to_batch_) {
      int64_t batch;
      if (__builtin_mul_overflow(input.dim(0), blocks, &batch)) {
        throw InvalidArgument("{} blocks times a batch of {} is too large", blocks, input.dim(0));
      }
      shape.set_dim(0, batch);
    } else {
      if (input.dim(0) % blocks != 0) {
        throw InvalidArgument(
            "Input batch dimension ({}) is not divisible by product of block "
            "sizes ({})",
            input.dim(0), blocks);
      }
      shape.set_dim(0, input.dim(0) / blocks);
    }
    return shape;
  }

  int64_t NewSize(int64_t size, int64_t block, int64_t before, int64_t after, int i) const {
    int64_t border, result;
    bool fits = !__builtin_add_overflow(before, after, &border);
    if (to_batch_) {
      fits = fits && !__builtin_add_overflow(size, border, &result);
      if (fits && result % block != 0) {
        throw InvalidArgument("padded_shape[{}]={} is not divisible by block_shape[{}]={}", i,
                              result, i, block);
      }
      if (fits) return result / block;
    } else {
      fits = fits && !__builtin_mul_overflow(size, block, &result) && result >= border;
      if (fits) return result - border;
    }
    throw InvalidArgument("{} and {} do not fit dimension {} of size {}", before, after, i + 1,
                          size);
  }

  // The elements at position_ within their blocks.
  void CopyPosition(KernelContext& ctx, const Tensor& input, Tensor& out, const Shape& deep,
                    const Shape& wide, int64_t image) const {
    const auto count = static_cast<int>(block_.size());
    int64_t deep_stride = deep.num_elements() / deep[0],
            wide_stride = wide.num_elements() / wide[0];
    int64_t deep_offset = image * deep_stride, wide_offset = 0;
    StridedCopy copy;
    const auto add = [&](int64_t size, int64_t in_deep, int64_t in_wide) {
      copy.Add(size, to_batch_ ? in_deep : in_wide, to_batch_ ? in_wide : in_deep);
    };
    add(wide[0], deep_stride, wide_stride);
    for (int i = 0; i < count; ++i) {
      deep_stride /= deep[i + 1];
      wide_stride /= wide[i + 1];
      // Position k along the deep dimension lies at k * block + shift along the wide one.
      const int64_t block = block_[i], shift = position_[i] - before_[i];
      const int64_t first = shift >= 0 ? 0 : (-shift + block - 1) / block;
      const int64_t room = wide[i + 1] - shift;
      const int64_t end = room <= 0 ? 0 : std::min(deep[i + 1], (room + block - 1) / block);
      if (end <= first) return;
      deep_offset += first * deep_stride;
      wide_offset += (first * block + shift) * wide_stride;
      add(end - first, deep_stride, block * wide_stride);
    }
    add(wide_stride, 1, 1);
    copy.Run(ctx, out, to_batch_ ? deep_offset : wide_offset, input,
             to_batch_ ? wide_offset : deep_offset);
  }

  const bool to_batch_;
  const int64_t fixed_block_;
  std::vector<int64_t> block_, before_, position_;
};

}  // namespace

void RegisterSpaceBatchCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SpaceToDepth").Make<DepthKernel>());
  registry.Add(KernelDef("DepthToSpace").Make<DepthKernel>());
  for (const char* op : {"SpaceToBatchND", "BatchToSpaceND"}) {
    registry.Add(KernelDef(op).Make<BatchKernel>());
  }
  for (const char* op : {"SpaceToBatch", "BatchToSpace"}) {
    registry.Add(KernelDef(op).Make<BatchKernel>());
  }
}

}  // namespace sextant

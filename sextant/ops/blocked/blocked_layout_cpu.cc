#include <algorithm>
#include <cstring>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/blocked/blocked_shape.h"
#include "sextant/ops/blocked/image_copy.h"

namespace sextant {
namespace {

class ToBlockedKernel final : public Kernel {
 public:
  explicit ToBlockedKernel(KernelInit& init)
      : block_(init.attr<int64_t>("block")), format_(init.attr<std::string>("data_format")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    if (x.rank() != 4) throw InvalidArgument("images must have 4 dimensions, got {}", x.Describe());
    const ImageShape shape = ImageShape::OfPlain(x.shape(), format_);
    if (shape.c % block_ != 0)
      throw InvalidArgument("{} channels in blocks of {}", shape.c, block_);
    Tensor& y = ctx.AllocateOutput(0, shape.Blocked(block_));
    CopyToBlocked(ctx, x.data<float>(), y.data<float>(), shape, block_, format_ == "NCHW");
  }

 private:
  const int64_t block_;
  const std::string format_;
};

class FromBlockedKernel final : public Kernel {
 public:
  explicit FromBlockedKernel(KernelInit& init) : format_(init.attr<std::string>("data_format")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    if (x.rank() != 5)
      throw InvalidArgument("blocked images must have 5 dimensions, got {}", x.Describe());
    const ImageShape shape = ImageShape::OfBlocked(x.shape());
    Tensor& y = ctx.AllocateOutput(0, shape.Plain(format_));
    CopyFromBlocked(ctx, x.data<float>(), y.data<float>(), shape, x.dim(4), format_ == "NCHW");
  }

 private:
  const std::string format_;
};

class BlockedPadKernel final : public Kernel {
 public:
  explicit BlockedPadKernel(KernelInit& init) : pad_(init.attr<std::vector<int64_t>>("paddings")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    if (x.rank() != 5 || pad_.size() != 8) throw InvalidArgument("cannot pad {}", x.Describe());
    const int64_t block = x.dim(4);
    const ImageShape in = ImageShape::OfBlocked(x.shape());
    const ImageShape out{in.n + pad_[0] + pad_[1], in.h + pad_[2] + pad_[3],
                         in.w + pad_[4] + pad_[5], in.c + pad_[6] + pad_[7]};
    if (std::min({out.n, out.h, out.w, out.c}) < 0 || out.c % block != 0) {
      throw InvalidArgument("{} cannot be padded to {} channels", x.Describe(), out.c);
    }
    Tensor& y = ctx.AllocateOutput(0, out.Blocked(block));
    const float* from = x.data<float>();
    float* to = y.data<float>();
    const int64_t out_blocks = out.c / block, plane = out.h * out.w * block;
    ctx.ParallelFor(out.n * out_blocks, 0.3 * static_cast<double>(plane),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        float* target = to + i * plane;
                        std::memset(target, 0, plane * sizeof(float));
                        const int64_t n = i / out_blocks - pad_[0];
                        if (n < 0 || n >= in.n) continue;
                        CopyPlane(from + n * in.c * in.h * in.w, target, in, out,
                                  i % out_blocks * block - pad_[6], block);
                      }
                    });
  }

 private:
  // One block of output channels, of which lane 0 is input channel "first".
  void CopyPlane(const float* image, float* target, const ImageShape& in, const ImageShape& out,
                 int64_t first, int64_t block) const {
    const int64_t row_begin = std::max<int64_t>(0, pad_[2]),
                  row_end = std::min(out.h, in.h + pad_[2]);
    const int64_t col_begin = std::max<int64_t>(0, pad_[4]),
                  col_end = std::min(out.w, in.w + pad_[4]);
    for (int64_t lane = 0; lane < block;) {
      const int64_t channel = first + lane;
      if (channel < 0 || channel >= in.c) {
        ++lane;
        continue;
      }
      // As many lanes as lie in one block of the input.
      const int64_t source_lane = channel % block;
      const int64_t lanes = std::min({block - source_lane, block - lane, in.c - channel});
      const float* source = image + channel / block * block * in.h * in.w + source_lane;
      for (int64_t r = row_begin; r < row_end; ++r) {
        const float* s = source + ((r - pad_[2]) * in.w + col_begin - pad_[4]) * block;
        float* t = target + (r * out.w + col_begin) * block + lane;
        for (int64_t c = col_begin; c < col_end; ++c, s += block, t += block) {
          for (int64_t l = 0; l < lanes; ++l) t[l] = s[l];
        }
      }
      lane += lanes;
    }
  }

  const std::vector<int64_t> pad_;
};

}  // namespace

void RegisterBlockedLayoutCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("_ToBlocked").Make<ToBlockedKernel>());
  registry.Add(KernelDef("_FromBlocked").Make<FromBlockedKernel>());
  registry.Add(KernelDef("_BlockedPad").Make<BlockedPadKernel>());
}

}  // namespace sextant

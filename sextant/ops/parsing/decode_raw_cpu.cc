#include <algorithm>
#include <cstring>
#include <string>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

class DecodeRawKernel : public Kernel {
 public:
  DecodeRawKernel(KernelInit& init, bool padded)
      : padded_(padded),
        dtype_(init.attr<DType>("out_type")),
        size_(static_cast<int64_t>(DTypeSize(dtype_))),
        // The parts of a complex number are swapped one by one.
        swapped_(init.attr<bool>("little_endian") ? 1
                 : IsComplex(dtype_)              ? size_ / 2
                                                  : size_) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const std::string* const strings = in.data<std::string>();
    const int64_t length = padded_ ? FixedLength(ctx.input(1)) : CommonLength(in);
    Shape shape = in.shape();
    shape.Append(length / size_);
    auto* const out = static_cast<char*>(ctx.AllocateOutput(0, shape).raw_data());
    ctx.ParallelFor(in.num_elements(), 20 + 0.1 * static_cast<double>(length),
                    [&](int64_t begin, int64_t end) {
                      for (int64_t i = begin; i < end; ++i) {
                        Decode(strings[i], out + i * length, static_cast<size_t>(length));
                      }
                    });
  }

 private:
  int64_t FixedLength(const Tensor& given) const {
    if (given.rank() != 0) {
      throw InvalidArgument("fixed_length must be a scalar, got shape {}",
                            given.shape().ToString());
    }
    const int64_t length = *given.data<int32_t>();
    if (length <= 0) throw InvalidArgument("fixed_length must be positive, got {}", length);
    if (length % size_ != 0) {
      throw InvalidArgument("fixed_length {} is not a multiple of {}, the size of {}", length,
                            size_, DTypeName(dtype_));
    }
    return length;
  }

  int64_t CommonLength(const Tensor& in) const {
    if (in.num_elements() == 0) return 0;
    const std::string* const strings = in.data<std::string>();
    const size_t length = strings[0].size();
    for (int64_t i = 1; i < in.num_elements(); ++i) {
      if (strings[i].size() != length) {
        throw InvalidArgument("strings 0 and {} have different lengths: {} and {}", i, length,
                              strings[i].size());
      }
    }
    if (static_cast<int64_t>(length) % size_ != 0) {
      throw InvalidArgument(
          "the length of the strings, {}, is not a multiple of {}, the size of {}", length, size_,
          DTypeName(dtype_));
    }
    return static_cast<int64_t>(length);
  }

  void Decode(const std::string& bytes, char* out, size_t length) const {
    const size_t given = std::min(bytes.size(), length);
    std::memcpy(out, bytes.data(), given);
    std::memset(out + given, 0, length - given);
    if (dtype_ == DType::kBool) {
      for (size_t i = 0; i < length; ++i) out[i] = out[i] != 0;
    }
    for (char* number = out; swapped_ > 1 && number < out + length; number += swapped_) {
      std::reverse(number, number + swapped_);
    }
  }

  const bool padded_;
  const DType dtype_;
  const int64_t size_, swapped_;
};

}  // namespace

void RegisterDecodeRawCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("DecodeRaw").Make([](KernelInit& init) {
    return std::make_unique<DecodeRawKernel>(init, false);
  }));
  registry.Add(KernelDef("DecodePaddedRaw").Make([](KernelInit& init) {
    return std::make_unique<DecodeRawKernel>(init, true);
  }));
}

}  // namespace sextant

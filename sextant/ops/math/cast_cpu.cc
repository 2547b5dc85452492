#include <algorithm>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

template <typename T>
struct IsComplexT : std::false_type {};
template <typename T>
struct IsComplexT<std::complex<T>> : std::true_type {};

// Real to integer as x86 processors do it: numbers that do not fit give the least integer. The
// smaller types take the low bits of the 32-bit result.
template <typename To, typename From>
To RealToInteger(From x) {
  if constexpr (std::is_same_v<To, int64_t>) {
    return x >= From(-0x1p63) && x < From(0x1p63) ? static_cast<int64_t>(x)
                                                  : std::numeric_limits<int64_t>::min();
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    if (x >= From(0x1p63)) return x < From(0x1p64) ? static_cast<uint64_t>(x) : uint64_t{1} << 63;
    return static_cast<uint64_t>(RealToInteger<int64_t>(x));
  } else if constexpr (std::is_same_v<To, uint32_t>) {
    return x > From(-0x1p31) && x < From(0x1p32) ? static_cast<uint32_t>(static_cast<int64_t>(x))
                                                 : uint32_t{1} << 31;
  } else {
    const int32_t wide = x > From(-2147483649.0) && x < From(0x1p31)
                             ? static_cast<int32_t>(x)
                             : std::numeric_limits<int32_t>::min();
    return static_cast<To>(wide);
  }
}

template <typename To, typename From>
To Convert(From x) {
  if constexpr (IsComplexT<From>::value) {
    if constexpr (IsComplexT<To>::value) {
      using Part = typename To::value_type;
      return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
    } else {
      return Convert<To>(x.real());
    }
  } else if constexpr (IsComplexT<To>::value) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_same_v<To, Half> || std::is_same_v<To, BFloat16>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return RealToInteger<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <typename From, typename To>
void CastLoop(const void* x, void* y, int64_t count) {
  // Booleans are read as numbers, which vectors can convert.
  using Stored = std::conditional_t<std::is_same_v<From, bool>, uint8_t, From>;
  const Stored* in = static_cast<const Stored*>(x);
  To* out = static_cast<To*>(y);
  for (int64_t i = 0; i < count; ++i) out[i] = Convert<To>(ToArithmetic(in[i]));
}

template <typename F>
UnaryLoop WithNumber(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kBool:
      return f.template operator()<bool>();
    case DType::kInt8:
      return f.template operator()<int8_t>();
    case DType::kInt16:
      return f.template operator()<int16_t>();
    case DType::kInt32:
      return f.template operator()<int32_t>();
    case DType::kInt64:
      return f.template operator()<int64_t>();
    case DType::kUInt8:
      return f.template operator()<uint8_t>();
    case DType::kUInt16:
      return f.template operator()<uint16_t>();
    case DType::kUInt32:
      return f.template operator()<uint32_t>();
    case DType::kUInt64:
      return f.template operator()<uint64_t>();
    case DType::kHalf:
      return f.template operator()<Half>();
    case DType::kBFloat16:
      return f.template operator()<BFloat16>();
    case DType::kFloat:
      return f.template operator()<float>();
    case DType::kDouble:
      return f.template operator()<double>();
    case DType::kComplex64:
      return f.template operator()<std::complex<float>>();
    case DType::kComplex128:
      return f.template operator()<std::complex<double>>();
    default:
      throw Unimplemented("Cast of {} is not supported", DTypeName(dtype));
  }
}

UnaryLoop FindCastLoop(DType from, DType to) {
  return WithNumber(from, [&]<typename From>() {
    return WithNumber(to, []<typename To>() -> UnaryLoop { return &CastLoop<From, To>; });
  });
}

// Bits of the mantissa, the hidden one left out.
int MantissaBits(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return 7;
    case DType::kHalf:
      return 10;
    case DType::kFloat:
      return 23;
    default:
      return 52;
  }
}

template <typename Bits>
void ClearLowBits(const void* x, void* y, int64_t count, int bits) {
  const Bits mask = static_cast<Bits>(~Bits{0} << bits);
  const Bits* in = static_cast<const Bits*>(x);
  Bits* out = static_cast<Bits*>(y);
  for (int64_t i = 0; i < count; ++i) out[i] = in[i] & mask;
}

class CastKernel final : public Kernel {
 public:
  explicit CastKernel(KernelInit& init)
      : from_(init.input_type(0)),
        from_size_(DTypeSize(from_)),
        to_size_(DTypeSize(init.output_type(0))),
        loop_(FindCastLoop(from_, init.output_type(0))) {
    // TensorFlow rounds double to bfloat16 whatever it is told.
    const DType to = init.output_type(0);
    const bool cuts = from_ == DType::kFloat || (from_ == DType::kDouble && to != DType::kBFloat16);
    if (init.attr<bool>("Truncate") && cuts && IsFloating(to)) {
      cut_bits_ = std::max(0, MantissaBits(from_) - MantissaBits(to));
    }
  }

  void Compute(KernelContext& ctx) override {
    const char* in = static_cast<const char*>(ctx.input(0).raw_data());
    char* out = static_cast<char*>(ctx.AllocateOutput(0, ctx.input(0).shape()).raw_data());
    ctx.ParallelFor(ctx.input(0).num_elements(), kArithmeticCost, [&](int64_t begin, int64_t end) {
      if (cut_bits_ == 0)
        return loop_(in + begin * from_size_, out + begin * to_size_, end - begin);
      for (int64_t i = begin; i < end; i += kChunk) {
        const int64_t count = std::min(kChunk, end - i);
        alignas(8) char cut[kChunk * 8];
        if (from_ == DType::kFloat) {
          ClearLowBits<uint32_t>(in + i * from_size_, cut, count, cut_bits_);
        } else {
          ClearLowBits<uint64_t>(in + i * from_size_, cut, count, cut_bits_);
        }
        loop_(cut, out + i * to_size_, count);
      }
    });
  }

 private:
  static constexpr int64_t kChunk = 256;
  const DType from_;
  const int64_t from_size_, to_size_;
  const UnaryLoop loop_;
  int cut_bits_ = 0;
};

class BitcastKernel final : public Kernel {
 public:
  explicit BitcastKernel(KernelInit& init)
      : from_(static_cast<int64_t>(DTypeSize(init.input_type(0)))),
        to_(static_cast<int64_t>(DTypeSize(init.output_type(0)))) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& input = ctx.input(0);
    Shape shape = input.shape();
    if (from_ > to_) shape.Append(from_ / to_);
    if (from_ < to_) {
      const int last = shape.rank() - 1;
      if (last < 0 || shape[last] != to_ / from_) {
        throw InvalidArgument(
            "Cannot bitcast {} to elements of {} bytes: the last dimension must be {}",
            input.Describe(), to_, to_ / from_);
      }
      shape.Erase(last);
    }
    Tensor& output = ctx.AllocateOutput(0, shape);
    if (input.bytes() > 0) std::memcpy(output.raw_data(), input.raw_data(), input.bytes());
  }

 private:
  const int64_t from_, to_;
};

void Forward(KernelContext& ctx) { ctx.ForwardInput(0, 0); }

}  // namespace

void RegisterCastCpu(KernelRegistry& registry) {
  for (int i = 1; i <= static_cast<int>(DType::kUInt64); ++i) {
    const DType type = static_cast<DType>(i);
    registry.Add(KernelDef("Cast")
                     .Types("SrcT", {type})
                     .Types("DstT", {type})
                     .Alias(0, 0)
                     .Function(Forward));
  }
  registry.Add(KernelDef("Cast").Make<CastKernel>());
  registry.Add(KernelDef("Bitcast").Make<BitcastKernel>());
}

}  // namespace sextant

#include <algorithm>
#include <complex>
#include <cstdio>
#include <string>
#include <type_traits>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

// Appends snprintf(format, value).
template <typename T>
void AppendFormatted(const std::string& format, T value, std::string* text) {
  char buffer[64];
  const int size = std::snprintf(buffer, sizeof buffer, format.c_str(), value);
  if (size < 0) throw Internal("cannot format a number with \"{}\"", format);
  if (static_cast<size_t>(size) < sizeof buffer) {
    text->append(buffer, static_cast<size_t>(size));
    return;
  }
  const size_t old = text->size();
  text->resize(old + static_cast<size_t>(size) + 1);
  std::snprintf(text->data() + old, static_cast<size_t>(size) + 1, format.c_str(), value);
  text->pop_back();
}

// The format of one number, from the attributes; throws INVALID_ARGUMENT when they do not fit the
// type.
std::string NumberFormat(KernelInit& init, DType dtype) {
  const int64_t precision = init.attr<int64_t>("precision"), width = init.attr<int64_t>("width");
  const bool scientific = init.attr<bool>("scientific"), shortest = init.attr<bool>("shortest");
  const std::string& fill = init.attr<std::string>("fill");
  const bool real = IsFloating(dtype) || IsComplex(dtype);
  constexpr int64_t kMaxDigits = 1'000'000;
  if (scientific && shortest) throw InvalidArgument("scientific and shortest exclude each other");
  if (fill.size() > 1)
    throw InvalidArgument("fill must be one character or none, got \"{}\"", fill);
  if (!fill.empty() && std::string(" +-0#").find(fill) == std::string::npos) {
    throw InvalidArgument("fill \"{}\" is not one of \" \", \"+\", \"-\", \"0\", \"#\"", fill);
  }
  if (!real && dtype != DType::kString) {
    if (scientific || shortest) {
      throw InvalidArgument("scientific and shortest need real numbers, got {}", DTypeName(dtype));
    }
    if (precision >= 0) {
      throw InvalidArgument("precision needs real numbers, got {}", DTypeName(dtype));
    }
  }
  if (std::max(width, precision) > kMaxDigits) {
    throw InvalidArgument("width {} or precision {} is above {}", width, precision, kMaxDigits);
  }
  std::string format = "%" + fill;
  if (width >= 0) format += std::to_string(width);
  if (!real) return format + (DTypeName(dtype).starts_with('u') ? "llu" : "lld");
  if (precision >= 0) format += "." + std::to_string(precision);
  return format + (scientific ? 'e' : shortest ? 'g' : 'f');
}

template <typename T>
class AsStringKernel : public Kernel {
 public:
  explicit AsStringKernel(KernelInit& init)
      : format_(NumberFormat(init, DTypeOf<T>)),
        width_(std::max<int64_t>(init.attr<int64_t>("width"), 0)),
        left_(init.attr<std::string>("fill") == "-") {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const T* const src = in.data<T>();
    std::string* const out = ctx.AllocateOutput(0, in.shape()).template data<std::string>();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out[i].clear();
      Append(src[i], &out[i]);
    }
  }

 private:
  void Append(const T& value, std::string* text) const {
    if constexpr (std::is_same_v<T, bool>) {
      *text += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, std::string>) {
      const size_t padding = static_cast<size_t>(width_) > value.size()
                                 ? static_cast<size_t>(width_) - value.size()
                                 : 0;
      if (!left_) text->append(padding, ' ');
      *text += value;
      if (left_) text->append(padding, ' ');
    } else if constexpr (std::is_same_v<T, std::complex<float>> ||
                         std::is_same_v<T, std::complex<double>>) {
      *text += '(';
      AppendFormatted<double>(format_, value.real(), text);
      *text += ',';
      AppendFormatted<double>(format_, value.imag(), text);
      *text += ')';
    } else if constexpr (std::is_unsigned_v<T>) {
      AppendFormatted<unsigned long long>(format_, value, text);
    } else if constexpr (std::is_integral_v<T>) {
      AppendFormatted<long long>(format_, value, text);
    } else if constexpr (std::is_same_v<T, double>) {
      AppendFormatted<double>(format_, value, text);
    } else {
      AppendFormatted<double>(format_, static_cast<float>(value), text);
    }
  }

  const std::string format_;
  const int64_t width_;
  const bool left_;
};

}  // namespace

void RegisterAsStringCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t, std::complex<float>, std::complex<double>, bool, std::string>(
      [&]<typename T>() {
        registry.Add(KernelDef("AsString").Type<T>("T").template Make<AsStringKernel<T>>());
      });
}

}  // namespace sextant

#include <algorithm>
#include <string>
#include <string_view>

#include "sextant/base/base64.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/string/unicode_case.h"

namespace sextant {
namespace {

using Transform = void (*)(std::string_view, std::string*);

template <Transform transform>
void TransformAll(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  const std::string* const src = in.data<std::string>();
  std::string* const out = ctx.AllocateOutput(0, in.shape()).data<std::string>();
  for (int64_t i = 0; i < in.num_elements(); ++i) transform(src[i], &out[i]);
}

char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c & ~0x20) : c; }

template <char (*letter)(char)>
void MapBytes(std::string_view text, std::string* out) {
  out->resize(text.size());
  std::transform(text.begin(), text.end(), out->begin(), letter);
}

template <Transform ascii, Transform utf8>
class CaseKernel : public Kernel {
 public:
  explicit CaseKernel(KernelInit& init) {
    const auto& encoding = init.attr<std::string>("encoding");
    if (!encoding.empty() && encoding != "utf-8") {
      throw InvalidArgument("encoding must be \"utf-8\" or empty, got \"{}\"", encoding);
    }
    utf8_ = !encoding.empty();
  }
  void Compute(KernelContext& ctx) override {
    utf8_ ? TransformAll<utf8>(ctx) : TransformAll<ascii>(ctx);
  }

 private:
  bool utf8_;
};

void Strip(std::string_view text, std::string* out) {
  constexpr const char* kSpace = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  *out = text.substr(0, text.find_last_not_of(kSpace) + 1);
}

void EncodePadded(std::string_view bytes, std::string* out) { EncodeBase64(bytes, true, out); }
void EncodeUnpadded(std::string_view bytes, std::string* out) { EncodeBase64(bytes, false, out); }

class EncodeBase64Kernel : public Kernel {
 public:
  explicit EncodeBase64Kernel(KernelInit& init) : pad_(init.attr<bool>("pad")) {}
  void Compute(KernelContext& ctx) override {
    pad_ ? TransformAll<EncodePadded>(ctx) : TransformAll<EncodeUnpadded>(ctx);
  }

 private:
  const bool pad_;
};

}  // namespace

void RegisterStringTransformCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringLower").Make<CaseKernel<MapBytes<AsciiLower>, ToLowerUtf8>>());
  registry.Add(KernelDef("StringUpper").Make<CaseKernel<MapBytes<AsciiUpper>, ToUpperUtf8>>());
  registry.Add(KernelDef("StringStrip").Function(TransformAll<Strip>));
  registry.Add(KernelDef("EncodeBase64").Make<EncodeBase64Kernel>());
  registry.Add(KernelDef("DecodeBase64").Function(TransformAll<DecodeBase64>));
}

}  // namespace sextant

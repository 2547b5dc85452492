#include <algorithm>
#include <string>
#include <string_view>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/broadcast_plan.h"

namespace sextant {
namespace {

// A character starts at every byte that does not continue one.
bool StartsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

int64_t Length(std::string_view text, bool utf8) {
  return utf8 ? std::ranges::count_if(text, StartsCharacter) : static_cast<int64_t>(text.size());
}

// The byte at which unit "unit" starts; the end when the string has fewer.
size_t ByteOf(std::string_view text, int64_t unit, bool utf8) {
  if (!utf8) return std::min(static_cast<size_t>(unit), text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && unit-- == 0) return i;
  }
  return text.size();
}

class LengthKernel : public Kernel {
 public:
  explicit LengthKernel(KernelInit& init) : utf8_(init.attr<std::string>("unit") == "UTF8_CHAR") {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    std::ranges::transform(
        in.flat<std::string>(), ctx.AllocateOutput(0, in.shape()).data<int32_t>(),
        [this](const std::string& s) { return static_cast<int32_t>(Length(s, utf8_)); });
  }

 private:
  const bool utf8_;
};

class SubstrKernel : public Kernel {
 public:
  explicit SubstrKernel(KernelInit& init) : utf8_(init.attr<std::string>("unit") == "UTF8_CHAR") {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const Tensor& pos = ctx.input(1);
    const Tensor& len = ctx.input(2);
    if (pos.shape() != len.shape()) {
      throw InvalidArgument("pos and len must have the same shape, got {} and {}",
                            pos.shape().ToString(), len.shape().ToString());
    }
    const BroadcastPlan plan(in.shape(), pos.shape());
    const std::string* const src = in.data<std::string>();
    std::string* const out = ctx.AllocateOutput(0, plan.output()).data<std::string>();
    plan.ForRows(0, plan.num_rows(), [&](int64_t first, const int64_t* offsets) {
      for (int64_t i = 0; i < plan.row_size(); ++i) {
        const int64_t at = offsets[1] + i * plan.step(1);
        out[first + i] =
            Part(src[offsets[0] + i * plan.step(0)], IndexAt(pos, at), IndexAt(len, at));
      }
    });
  }

 private:
  std::string_view Part(std::string_view text, int64_t pos, int64_t len) const {
    const int64_t length = Length(text, utf8_);
    // As TensorFlow: a negative len means all bytes but no characters, and is not counted from the
    // end of characters.
    if (pos < -length || pos > length || (utf8_ && pos < 0 && len < 0)) {
      throw InvalidArgument("pos {} is out of range for string \"{}\"", pos, text);
    }
    const size_t begin = ByteOf(text, pos < 0 ? pos + length : pos, utf8_);
    const std::string_view rest = text.substr(begin);
    if (len < 0) return utf8_ ? std::string_view() : rest;
    return rest.substr(0, ByteOf(rest, len, utf8_));
  }

  const bool utf8_;
};

}  // namespace

void RegisterSubstrCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringLength").Make<LengthKernel>());
  registry.Add(KernelDef("Substr").Make<SubstrKernel>());
}

}  // namespace sextant

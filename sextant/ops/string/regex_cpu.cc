#include <re2/re2.h>

#include <memory>
#include <string>

#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

std::unique_ptr<RE2> Compile(const std::string& pattern) {
  auto regex = std::make_unique<RE2>(pattern, RE2::Quiet);
  if (!regex->ok()) {
    throw InvalidArgument("invalid regular expression \"{}\": {}", pattern, regex->error());
  }
  return regex;
}

const std::string& ScalarText(const Tensor& tensor, const char* what) {
  if (tensor.rank() != 0) {
    throw InvalidArgument("{} must be a scalar, got shape {}", what, tensor.shape().ToString());
  }
  return *tensor.data<std::string>();
}

// Holds the compiled expression as long as the pattern stays the same.
class RegexKernel : public Kernel {
 protected:
  const RE2& SetPattern(const std::string& pattern) {
    if (regex_ == nullptr || regex_->pattern() != pattern) regex_ = Compile(pattern);
    return *regex_;
  }
  const RE2& regex() const { return *regex_; }

 private:
  std::unique_ptr<RE2> regex_;
};

class ReplaceKernel : public RegexKernel {
 public:
  ReplaceKernel(KernelInit& init, bool is_static)
      : is_static_(is_static), global_(init.attr<bool>("replace_global")) {
    if (!is_static) return;
    SetPattern(init.attr<std::string>("pattern"));
    rewrite_ = init.attr<std::string>("rewrite");
  }

  void Compute(KernelContext& ctx) override {
    if (!is_static_) {
      SetPattern(ScalarText(ctx.input(1), "pattern"));
      rewrite_ = ScalarText(ctx.input(2), "rewrite");
    }
    const Tensor& in = ctx.input(0);
    const std::string* const src = in.data<std::string>();
    std::string* const out = ctx.AllocateOutput(0, in.shape()).data<std::string>();
    // As TensorFlow: a rewrite that names a group which is not there replaces nothing.
    const bool possible = RE2::MaxSubmatch(rewrite_) <= regex().NumberOfCapturingGroups();
    for (int64_t i = 0; i < in.num_elements(); ++i) {
      out[i] = src[i];
      if (!possible) continue;
      if (global_) {
        RE2::GlobalReplace(&out[i], regex(), rewrite_);
      } else {
        RE2::Replace(&out[i], regex(), rewrite_);
      }
    }
  }

 private:
  const bool is_static_, global_;
  std::string rewrite_;
};

class FullMatchKernel : public RegexKernel {
 public:
  FullMatchKernel(KernelInit& init, bool is_static) : is_static_(is_static) {
    if (is_static) SetPattern(init.attr<std::string>("pattern"));
  }

  void Compute(KernelContext& ctx) override {
    if (!is_static_) SetPattern(ScalarText(ctx.input(1), "pattern"));
    const Tensor& in = ctx.input(0);
    const std::string* const src = in.data<std::string>();
    bool* const out = ctx.AllocateOutput(0, in.shape()).data<bool>();
    for (int64_t i = 0; i < in.num_elements(); ++i) out[i] = RE2::FullMatch(src[i], regex());
  }

 private:
  const bool is_static_;
};

template <typename K>
KernelDef Def(const char* op, bool is_static) {
  return KernelDef(op).Make(
      [is_static](KernelInit& init) { return std::make_unique<K>(init, is_static); });
}

}  // namespace

void RegisterRegexCpu(KernelRegistry& registry) {
  registry.Add(Def<ReplaceKernel>("RegexReplace", false));
  registry.Add(Def<ReplaceKernel>("StaticRegexReplace", true));
  registry.Add(Def<FullMatchKernel>("RegexFullMatch", false));
  registry.Add(Def<FullMatchKernel>("StaticRegexFullMatch", true));
}

}  // namespace sextant

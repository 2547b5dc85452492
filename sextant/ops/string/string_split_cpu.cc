#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

using Pieces = std::vector<std::string_view>;
constexpr const char* kSpace = " \t\n\v\f\r";

void SplitAtAny(std::string_view text, std::string_view delimiters, bool skip_empty,
                Pieces* pieces) {
  if (text.empty()) return;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) pieces->push_back(text.substr(i, 1));
    return;
  }
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
    if (end > begin || !skip_empty) pieces->push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void SkipSpace(std::string_view* text) {
  text->remove_prefix(std::min(text->find_first_not_of(kSpace), text->size()));
}

void SplitAtSpace(std::string_view text, int64_t limit, Pieces* pieces) {
  SkipSpace(&text);
  for (int64_t cuts = 1; !text.empty(); ++cuts) {
    const size_t end = std::min(text.find_first_of(kSpace), text.size());
    pieces->push_back(text.substr(0, end));
    text.remove_prefix(end);
    SkipSpace(&text);
    // As TensorFlow: what is left after the last cut is a piece even when it is empty.
    if (cuts == limit) return pieces->push_back(text);
  }
}

void SplitAtText(std::string_view text, std::string_view separator, int64_t limit, Pieces* pieces) {
  for (int64_t cuts = 0; cuts != limit; ++cuts) {
    const size_t end = text.find(separator);
    if (end == std::string_view::npos) break;
    pieces->push_back(text.substr(0, end));
    text.remove_prefix(end + separator.size());
  }
  pieces->push_back(text);
}

class SplitKernel : public Kernel {
 public:
  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const Tensor& separator = ctx.input(1);
    CheckVector(in, "input");
    if (separator.rank() != 0) {
      throw InvalidArgument("the separator must be a scalar, got shape {}",
                            separator.shape().ToString());
    }
    pieces_.clear();
    ends_.clear();
    int64_t longest = 0;
    for (const std::string& text : in.flat<std::string>()) {
      const size_t before = pieces_.size();
      Split(text, *separator.data<std::string>(), &pieces_);
      ends_.push_back(static_cast<int64_t>(pieces_.size()));
      longest = std::max(longest, static_cast<int64_t>(pieces_.size() - before));
    }
    const auto total = static_cast<int64_t>(pieces_.size());
    int64_t* indices = ctx.AllocateOutput(0, Shape{total, 2}).data<int64_t>();
    std::copy(pieces_.begin(), pieces_.end(),
              ctx.AllocateOutput(1, Shape{total}).data<std::string>());
    int64_t* const shape = ctx.AllocateOutput(2, Shape{2}).data<int64_t>();
    shape[0] = in.num_elements();
    shape[1] = longest;
    int64_t piece = 0;
    for (size_t row = 0; row < ends_.size(); ++row) {
      for (int64_t k = 0; piece < ends_[row]; ++k, ++piece) {
        *indices++ = static_cast<int64_t>(row);
        *indices++ = k;
      }
    }
  }

 private:
  virtual void Split(std::string_view text, std::string_view separator, Pieces* pieces) const = 0;
  Pieces pieces_;
  std::vector<int64_t> ends_;
};

class StringSplitKernel : public SplitKernel {
 public:
  explicit StringSplitKernel(KernelInit& init) : skip_empty_(init.attr<bool>("skip_empty")) {}

 private:
  void Split(std::string_view text, std::string_view delimiters, Pieces* pieces) const override {
    SplitAtAny(text, delimiters, skip_empty_, pieces);
  }
  const bool skip_empty_;
};

class StringSplitV2Kernel : public SplitKernel {
 public:
  explicit StringSplitV2Kernel(KernelInit& init) : limit_(init.attr<int64_t>("maxsplit")) {}

 private:
  void Split(std::string_view text, std::string_view separator, Pieces* pieces) const override {
    if (limit_ == 0) return pieces->push_back(text);
    if (separator.empty()) return SplitAtSpace(text, limit_, pieces);
    SplitAtText(text, separator, limit_, pieces);
  }
  const int64_t limit_;
};

}  // namespace

void RegisterStringSplitCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringSplit").Make<StringSplitKernel>());
  registry.Add(KernelDef("StringSplitV2").Make<StringSplitV2Kernel>());
}

}  // namespace sextant

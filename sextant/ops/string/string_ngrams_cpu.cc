#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

class NGramsKernel : public Kernel {
 public:
  explicit NGramsKernel(KernelInit& init)
      : separator_(init.attr<std::string>("separator")),
        left_pad_(init.attr<std::string>("left_pad")),
        right_pad_(init.attr<std::string>("right_pad")),
        widths_(init.attr<std::vector<int64_t>>("ngram_widths")),
        pad_width_(init.attr<int64_t>("pad_width")),
        preserve_short_(init.attr<bool>("preserve_short_sequences")) {
    for (const int64_t width : widths_) {
      if (width <= 0 || width > std::numeric_limits<int32_t>::max()) {
        throw InvalidArgument("ngram_widths must be positive, got {}", width);
      }
    }
    if (preserve_short_ && widths_.empty() && pad_width_ < 0) {
      throw InvalidArgument("pad_width must not be negative without ngram_widths, got {}",
                            pad_width_);
    }
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& data = ctx.input(0);
    CheckVector(data, "data");
    CheckVector(ctx.input(1), "data_splits");
    ReadIndices(ctx.input(1), &splits_);
    CheckSplits(data.num_elements());
    ngrams_.clear();
    if (data.num_elements() == 0 || splits_.empty()) {
      // As in TensorFlow: without data no row is padded, without rows all strings are empty.
      ngrams_.resize(data.num_elements());
      ends_.assign(splits_.size(), 0);
      return Write(ctx);
    }
    ends_.assign(1, 0);
    for (size_t row = 0; row + 1 < splits_.size(); ++row) {
      AddRow(data.data<std::string>() + splits_[row], splits_[row + 1] - splits_[row]);
      ends_.push_back(static_cast<int64_t>(ngrams_.size()));
    }
    Write(ctx);
  }

 private:
  void Write(KernelContext& ctx) {
    const Shape shape{static_cast<int64_t>(ngrams_.size())};
    std::move(ngrams_.begin(), ngrams_.end(), ctx.AllocateOutput(0, shape).data<std::string>());
    Tensor& out = ctx.AllocateOutput(1, ctx.input(1).shape());
    if (out.dtype() == DType::kInt32) {
      if (shape.num_elements() > std::numeric_limits<int32_t>::max()) {
        throw InvalidArgument("{} n-grams need int64 splits", shape.num_elements());
      }
      std::ranges::copy(ends_, out.data<int32_t>());
    } else {
      std::ranges::copy(ends_, out.data<int64_t>());
    }
  }

  void CheckSplits(int64_t size) const {
    if (splits_.empty()) return;
    if (splits_.front() != 0) {
      throw InvalidArgument("data_splits must begin with 0, got {}", splits_.front());
    }
    for (size_t i = 1; i < splits_.size(); ++i) {
      if (splits_[i] < splits_[i - 1] || splits_[i] > size) {
        throw InvalidArgument("data_splits[{}] = {} is not in [{}, {}]", i, splits_[i],
                              splits_[i - 1], size);
      }
    }
    if (splits_.back() != size) {
      throw InvalidArgument("data_splits must end with {}, the size of data, got {}", size,
                            splits_.back());
    }
  }

  void AddRow(const std::string* row, int64_t size) {
    const size_t before = ngrams_.size();
    for (const int64_t width : widths_) {
      const int64_t pad = pad_width_ < 0 ? width - 1 : std::min(pad_width_, width - 1);
      CheckWork(size + 2 * pad - width + 1, width);
      for (int64_t i = -pad; i + width <= size + pad; ++i) AddNGram(row, size, i, width);
    }
    if (!preserve_short_ || size == 0 || ngrams_.size() > before) return;
    // pad_width is not negative here: else every width would have fitted.
    CheckWork(1, std::clamp<int64_t>(pad_width_, 1, kMaxStrings + 1));
    AddNGram(row, size, -pad_width_, size + 2 * pad_width_);
  }

  // Small attributes can ask for more than any memory holds.
  static void CheckWork(int64_t count, int64_t width) {
    if (count > 0 && count > kMaxStrings / width) {
      throw ResourceExhausted("{} n-grams of width {} in one row are too many", count, width);
    }
  }

  // Of elements [begin, begin + width) of the padded row.
  void AddNGram(const std::string* row, int64_t size, int64_t begin, int64_t width) {
    std::string& ngram = ngrams_.emplace_back();
    for (int64_t i = begin; i < begin + width; ++i) {
      if (i > begin) ngram += separator_;
      ngram += i < 0 ? left_pad_ : i < size ? row[i] : right_pad_;
    }
  }

  static constexpr int64_t kMaxStrings = int64_t{1} << 30;  // in the n-grams of one row
  const std::string separator_, left_pad_, right_pad_;
  const std::vector<int64_t> widths_;
  const int64_t pad_width_;
  const bool preserve_short_;
  std::vector<int64_t> splits_, ends_;
  std::vector<std::string> ngrams_;
};

}  // namespace

void RegisterStringNgramsCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringNGrams").Make<NGramsKernel>());
}

}  // namespace sextant

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/random/random_stream.h"

namespace sextant {
namespace {

// Blocks of a stream that a call takes for each candidate, however many it needs.
constexpr uint64_t kBlocksPerCandidate = 512;

// The words of a stream one by one.
class Words {
 public:
  explicit Words(const Philox& start) : philox_(start) {}
  uint32_t Next() {
    if (used_ == block_.size()) {
      block_ = philox_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }

 private:
  Philox philox_;
  Philox::Block block_{};
  size_t used_ = 4;
};

struct LogUniformClasses {
  explicit LogUniformClasses(int64_t count) : range(count), log_range(std::log1p(count)) {}
  int64_t Sample(Words& words) const {
    const uint32_t first = words.Next(), second = words.Next();
    // Rounding may give "range" itself.
    return (static_cast<int64_t>(std::exp(UniformDouble(first, second) * log_range)) - 1) % range;
  }
  double Probability(int64_t value) const {
    const auto x = static_cast<double>(value);
    return std::log((x + 2) / (x + 1)) / log_range;
  }
  int64_t range;
  double log_range;
};

struct UniformClasses {
  explicit UniformClasses(int64_t count) : range(count) {}
  int64_t Sample(Words& words) const {
    const uint64_t low = words.Next(), high = words.Next();
    return static_cast<int64_t>((high << 32 | low) % static_cast<uint64_t>(range));
  }
  double Probability(int64_t) const {
    return static_cast<double>(1.0f / static_cast<float>(range));
  }
  int64_t range;
};

void CheckClasses(const Tensor& classes, int64_t num_true) {
  if (classes.rank() != 2 || classes.dim(1) != num_true) {
    throw InvalidArgument("true_classes must be a matrix of num_true = {} columns, not {}",
                          num_true, classes.shape().ToString());
  }
}

template <typename Distribution>
class CandidateSamplerKernel : public Kernel {
 public:
  explicit CandidateSamplerKernel(KernelInit& init)
      : num_true_(init.attr<int64_t>("num_true")),
        num_sampled_(init.attr<int64_t>("num_sampled")),
        unique_(init.attr<bool>("unique")),
        distribution_(init.attr<int64_t>("range_max")),
        stream_(init) {
    if (unique_ && num_sampled_ > distribution_.range) {
      throw InvalidArgument("{} different classes cannot be sampled from {}", num_sampled_,
                            distribution_.range);
    }
  }

  void Compute(KernelContext& ctx) override {
    const Tensor& classes = ctx.input(0);
    CheckClasses(classes, num_true_);
    for (const int64_t value : classes.flat<int64_t>()) {
      if (value < 0 || value >= distribution_.range) {
        throw InvalidArgument("true class {} is not in [0, {})", value, distribution_.range);
      }
    }
    Words words(stream_.Reserve(ctx, kBlocksPerCandidate * static_cast<uint64_t>(num_sampled_)));
    Tensor& sampled = ctx.AllocateOutput(0, {num_sampled_});
    const int64_t tries = Sample(words, sampled.data<int64_t>());
    Expect(classes, tries, ctx.AllocateOutput(1, classes.shape()));
    Expect(sampled, tries, ctx.AllocateOutput(2, {num_sampled_}));
  }

 private:
  // How many were drawn until there were enough.
  int64_t Sample(Words& words, int64_t* sampled) {
    if (!unique_) {
      std::generate_n(sampled, num_sampled_, [&] { return distribution_.Sample(words); });
      return num_sampled_;
    }
    used_.clear();
    int64_t tries = 0;
    for (int64_t picked = 0; picked < num_sampled_; ++tries) {
      const int64_t value = distribution_.Sample(words);
      if (used_.insert(value).second) sampled[picked++] = value;
    }
    return tries;
  }

  void Expect(const Tensor& classes, int64_t tries, Tensor& counts) const {
    for (int64_t i = 0; i < classes.num_elements(); ++i) {
      const auto p = static_cast<float>(distribution_.Probability(classes.data<int64_t>()[i]));
      counts.data<float>()[i] = tries == num_sampled_
                                    ? p * static_cast<float>(num_sampled_)
                                    : -std::expm1(static_cast<float>(tries) * std::log1p(-p));
    }
  }

  const int64_t num_true_, num_sampled_;
  const bool unique_;
  const Distribution distribution_;
  RandomStream stream_;
  std::unordered_set<int64_t> used_;
};

class AllCandidatesKernel : public Kernel {
 public:
  explicit AllCandidatesKernel(KernelInit& init)
      : num_true_(init.attr<int64_t>("num_true")),
        num_sampled_(init.attr<int64_t>("num_sampled")) {}

  void Compute(KernelContext& ctx) override {
    CheckClasses(ctx.input(0), num_true_);
    int64_t* const sampled = ctx.AllocateOutput(0, {num_sampled_}).data<int64_t>();
    std::iota(sampled, sampled + num_sampled_, 0);
    Tensor& of_true = ctx.AllocateOutput(1, ctx.input(0).shape());
    std::fill_n(of_true.data<float>(), of_true.num_elements(), 1.0f);
    std::fill_n(ctx.AllocateOutput(2, {num_sampled_}).data<float>(), num_sampled_, 1.0f);
  }

 private:
  const int64_t num_true_, num_sampled_;
};

class AccidentalHitsKernel : public Kernel {
 public:
  explicit AccidentalHitsKernel(KernelInit& init) : num_true_(init.attr<int64_t>("num_true")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& classes = ctx.input(0);
    const Tensor& sampled = ctx.input(1);
    CheckClasses(classes, num_true_);
    if (sampled.rank() != 1) {
      throw InvalidArgument("sampled_candidates must be a vector, not {}",
                            sampled.shape().ToString());
    }
    std::unordered_map<int64_t, int64_t> positions;
    for (int64_t i = 0; i < sampled.num_elements(); ++i) {
      positions[sampled.data<int64_t>()[i]] = i;
    }
    std::vector<int32_t> rows;
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < classes.num_elements(); ++i) {
      const auto found = positions.find(classes.data<int64_t>()[i]);
      if (found == positions.end()) continue;
      rows.push_back(static_cast<int32_t>(i / num_true_));
      ids.push_back(found->second);
    }
    const auto count = static_cast<int64_t>(rows.size());
    std::copy(rows.begin(), rows.end(), ctx.AllocateOutput(0, {count}).data<int32_t>());
    std::copy(ids.begin(), ids.end(), ctx.AllocateOutput(1, {count}).data<int64_t>());
    std::fill_n(ctx.AllocateOutput(2, {count}).data<float>(), count,
                std::numeric_limits<float>::lowest());
  }

 private:
  const int64_t num_true_;
};

}  // namespace

void RegisterCandidateSamplerCpu(KernelRegistry& registry) {
  registry.Add(
      KernelDef("LogUniformCandidateSampler").Make<CandidateSamplerKernel<LogUniformClasses>>());
  registry.Add(KernelDef("UniformCandidateSampler").Make<CandidateSamplerKernel<UniformClasses>>());
  registry.Add(KernelDef("AllCandidateSampler").Make<AllCandidatesKernel>());
  registry.Add(KernelDef("ComputeAccidentalHits").Make<AccidentalHitsKernel>());
}

}  // namespace sextant

// The implementations of convolutions on blocked images, in three ordered lists: forward, gradient
// of the input, gradient of the filter. A kernel takes the first entry that accepts its problem,
// so an entry stands before those that it beats where it accepts; the last entry accepts every
// problem and is what the others are tested against.
//
// A new implementation is one class, one entry, and the reasons for which it refuses.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sextant/base/logging.h"
#include "sextant/ops/blocked/blocked_conv_problem.h"

namespace sextant {

// Images in the layouts of the problem; filters are [height, width, in, out].
class ForwardConv {
 public:
  struct Args {
    const float* input;
    const float* filter;
    bool filter_changed;  // filter or scale are others than in the last run
    const float* scale;   // per output channel, multiplies the filter; may be null
    const float* bias;    // per output channel, iff the epilogue has one
    float* output;        // holds the addend where the epilogue has one
  };
  virtual ~ForwardConv() = default;
  virtual void Run(KernelContext& ctx, const Args& args) = 0;
};

class InputGradConv {
 public:
  virtual ~InputGradConv() = default;
  virtual void Run(KernelContext& ctx, const float* filter, const float* out_backprop,
                   float* grad) = 0;
};

class FilterGradConv {
 public:
  virtual ~FilterGradConv() = default;
  virtual void Run(KernelContext& ctx, const float* input, const float* out_backprop,
                   float* grad) = 0;
};

template <typename Conv>
struct ConvImplementation {
  std::string_view name;
  // Why it cannot compute the problem or would lose to a later entry; empty when it accepts.
  std::string (*refusal)(const BlockedConvProblem& problem);
  // Null where it turns out only now that a library has no fast kernel for the problem.
  std::unique_ptr<Conv> (*make)(const BlockedConvProblem& problem);
};

std::span<const ConvImplementation<ForwardConv>> ForwardConvs();
std::span<const ConvImplementation<InputGradConv>> InputGradConvs();
std::span<const ConvImplementation<FilterGradConv>> FilterGradConvs();

// Refusals that entries of several lists share.
std::string WinogradRefusal(const BlockedConvProblem& problem);
std::string OnednnRefusal(const BlockedConvProblem& problem);
std::string NoRefusal(const BlockedConvProblem& problem);

// The implementation of the sizes that were met last.
template <typename Conv>
class ChosenConv {
 public:
  // Whether Choose must be called before get().
  bool Outdated(const ConvGeometry& geometry) const {
    return conv_ == nullptr || !(geometry == geometry_);
  }
  // Takes the first entry that accepts; debug lines name it and why those before it refused.
  void Choose(std::span<const ConvImplementation<Conv>> list, const BlockedConvProblem& problem,
              std::string_view node) {
    conv_ = nullptr;
    for (const ConvImplementation<Conv>& entry : list) {
      std::string reason = entry.refusal(problem);
      if (reason.empty()) conv_ = entry.make(problem);
      if (conv_ != nullptr) {
        LogDebug("{}: computed by {}", node, entry.name);
        name_ = entry.name;
        geometry_ = problem.geometry;
        return;
      }
      if (reason.empty()) reason = "no fast kernel for these sizes";
      LogDebug("{}: not by {}: {}", node, entry.name, reason);
    }
  }
  Conv& get() const { return *conv_; }
  std::string_view name() const { return name_; }

 private:
  std::unique_ptr<Conv> conv_;
  std::string_view name_;
  ConvGeometry geometry_;
};

}  // namespace sextant

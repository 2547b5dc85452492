#include "sextant/ops/blocked/blocked_conv_list.h"

#include <fmt/format.h>

#include "sextant/device/cpu/winograd_conv.h"

namespace sextant {

std::string WinogradRefusal(const BlockedConvProblem& p) {
  if (!p.winograd) return "switched off";
  if (!p.blocked_input) return "the input is not blocked";
  std::string reason = OnednnRefusal(p);
  return reason.empty() ? winograd::Refusal(p.sizes()) : reason;
}

std::string OnednnRefusal(const BlockedConvProblem& p) {
  if (p.block != onednn::ChannelBlock()) {
    return fmt::format("blocks of {} channels, this processor's are of {}", p.block,
                       onednn::ChannelBlock());
  }
  return p.output_shape().Plain("NHWC").num_elements() == 0 ? "no output" : "";
}

std::string NoRefusal(const BlockedConvProblem&) { return ""; }

}  // namespace sextant

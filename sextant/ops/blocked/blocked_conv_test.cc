// Every implementation of the convolutions on blocked images against the last of its list, over
// sizes that together reach all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "sextant/base/thread_team.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/blocked/blocked_conv_list.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/conv.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

struct ConvCase {
  int64_t batch, in_c, out_c, filter, stride, padding;
  bool blocked_input, channels_first;
  onednn::ConvEpilogue epilogue = {};
};

// Images of 13 x 10 pixels: no multiple of a tile.
const std::vector<ConvCase>& Cases() {
  static const std::vector<ConvCase> cases = {
      {9, 16, 32, 3, 1, 1, true, false},
      {12, 32, 48, 3, 1, 0, true, false, {.bias = true, .sum = true, .relu = true}},
      {20, 16, 16, 5, 1, 2, true, false, {.bias = true}},
      {3, 32, 16, 3, 2, 1, true, false, {.relu = true}},
      {2, 16, 32, 1, 1, 0, true, false, {.sum = true}},
      {1, 32, 64, 5, 1, 2, true, false},
      {3, 3, 32, 3, 1, 1, false, false, {.bias = true, .relu = true}},
      {3, 3, 16, 5, 2, 0, false, true},
      {37, 1, 32, 5, 1, 2, false, false},
      {2, 7, 16, 3, 2, 1, false, true},
  };
  return cases;
}

BlockedConvProblem ProblemOf(const ConvCase& c, int64_t block) {
  const auto axis = [&](int64_t in) {
    return ConvAxis{.in = in,
                    .filter = c.filter,
                    .stride = c.stride,
                    .pad_before = c.padding,
                    .pad_after = c.padding,
                    .out = (in + 2 * c.padding - c.filter) / c.stride + 1};
  };
  return {.geometry = {.batch = c.batch,
                       .in_c = c.in_c,
                       .out_c = c.out_c,
                       .filter_c = c.in_c,
                       .height = axis(13),
                       .width = axis(10),
                       .channels_first = c.channels_first},
          .block = block,
          .blocked_input = c.blocked_input,
          .channels_first = c.channels_first,
          .winograd = true,
          .epilogue = c.epilogue,
          .threads = 2};
}

// Aligned, as kernels expect it.
Tensor Values(int64_t size, uint32_t seed) { return PseudoRandom(Shape{size}, seed, -1, 1); }

class ConvImplementationTest : public ::testing::Test {
 protected:
  ConvImplementationTest() : team_(2), ctx_(nullptr, run_) {
    run_.team = &team_;
    run_.allocator = &HostAllocator();
  }

  // Runs all entries that accept one of the cases; "run" gives the result of one. Returns the names
  // of those that ran.
  template <typename Conv, typename F>
  std::multiset<std::string> Compare(std::span<const ConvImplementation<Conv>> list, const F& run) {
    std::multiset<std::string> names;
    for (const ConvCase& c : Cases()) {
      const BlockedConvProblem problem = ProblemOf(c, onednn::ChannelBlock());
      EXPECT_EQ(list.back().refusal(problem), "");
      const std::unique_ptr<Conv> reference = list.back().make(problem);
      const Tensor expected = run(*reference, problem);
      double scale = 1e-3;
      for (const float x : expected.flat<float>())
        scale = std::max(scale, std::abs(static_cast<double>(x)));
      for (const ConvImplementation<Conv>& entry : list) {
        if (!entry.refusal(problem).empty()) continue;
        const std::unique_ptr<Conv> conv = entry.make(problem);
        if (conv == nullptr) continue;
        names.insert(std::string(entry.name));
        const Tensor actual = run(*conv, problem);
        double difference = 0;
        for (size_t i = 0; i < expected.flat<float>().size(); ++i) {
          difference = std::max<double>(
              difference, std::abs(actual.data<float>()[i] - expected.data<float>()[i]));
        }
        EXPECT_LE(difference, (c.filter == 5 ? 4e-5 : 2e-5) * scale)
            << entry.name << " of case " << &c - Cases().data();
      }
    }
    return names;
  }
  // Whether vectors of the processor are long enough for our own kernels.
  static bool WinogradAccepts() {
    return WinogradRefusal(ProblemOf(Cases()[0], onednn::ChannelBlock())).empty();
  }

  ThreadTeam team_;
  RunEnvironment run_;
  KernelContext ctx_;
};

TEST_F(ConvImplementationTest, ForwardEntriesAgree) {
  const auto names = Compare(ForwardConvs(), [&](ForwardConv& conv, const BlockedConvProblem& p) {
    const onednn::ConvSizes sizes = p.sizes();
    const Tensor input = Values(sizes.batch * sizes.in_elements(), 1);
    const Tensor filter = Values(sizes.filter_elements(), 2), bias = Values(sizes.out_c, 3);
    const Tensor scale = Values(sizes.out_c, 4);
    Tensor output = Values(sizes.batch * sizes.out_elements(), 5);
    conv.Run(ctx_, {input.data<float>(), filter.data<float>(), true, scale.data<float>(),
                    bias.data<float>(), output.data<float>()});
    return output;
  });
  EXPECT_EQ(names.count("products"), Cases().size());
  if (!WinogradAccepts()) return;
  EXPECT_EQ(names.count("winograd"), 3);
  EXPECT_GE(names.count("onednn"), 9);
}

TEST_F(ConvImplementationTest, InputGradientEntriesAgree) {
  const auto names =
      Compare(InputGradConvs(), [&](InputGradConv& conv, const BlockedConvProblem& p) {
        const onednn::ConvSizes sizes = p.sizes();
        const Tensor filter = Values(sizes.filter_elements(), 2);
        const Tensor dy = Values(sizes.batch * sizes.out_elements(), 5);
        Tensor grad(DType::kFloat, Shape{sizes.batch * sizes.in_elements()});
        conv.Run(ctx_, filter.data<float>(), dy.data<float>(), grad.data<float>());
        return grad;
      });
  EXPECT_EQ(names.count("products"), Cases().size());
  if (!WinogradAccepts()) return;
  EXPECT_EQ(names.count("winograd"), 3);
  EXPECT_GE(names.count("onednn"), 5);
}

TEST_F(ConvImplementationTest, FilterGradientEntriesAgree) {
  const auto names =
      Compare(FilterGradConvs(), [&](FilterGradConv& conv, const BlockedConvProblem& p) {
        const onednn::ConvSizes sizes = p.sizes();
        const Tensor input = Values(sizes.batch * sizes.in_elements(), 1);
        const Tensor dy = Values(sizes.batch * sizes.out_elements(), 5);
        Tensor grad(DType::kFloat, Shape{sizes.filter_elements()});
        conv.Run(ctx_, input.data<float>(), dy.data<float>(), grad.data<float>());
        return grad;
      });
  EXPECT_EQ(names.count("products"), Cases().size());
  if (!WinogradAccepts()) return;
  EXPECT_EQ(names.count("winograd"), 3);
  EXPECT_EQ(names.count("few channels"), 4);
  EXPECT_GE(names.count("onednn"), 5);
}

TEST_F(ConvImplementationTest, RefusalsSayWhy) {
  const int64_t block = onednn::ChannelBlock();
  BlockedConvProblem problem = ProblemOf(Cases()[0], block);
  problem.winograd = false;
  EXPECT_EQ(WinogradRefusal(problem), "switched off");
  problem.block = 24 - block;
  EXPECT_EQ(OnednnRefusal(problem),
            fmt::format("blocks of {} channels, this processor's are of {}", 24 - block, block));
  if (!WinogradAccepts()) return;
  EXPECT_EQ(WinogradRefusal(ProblemOf(Cases()[3], block)), "strides");
  EXPECT_EQ(WinogradRefusal(ProblemOf(Cases()[4], block)), "a filter of 1x1");
  EXPECT_EQ(WinogradRefusal(ProblemOf(Cases()[5], block)), "few tiles");
  EXPECT_EQ(WinogradRefusal(ProblemOf(Cases()[6], block)), "the input is not blocked");
}

TEST_F(ConvImplementationTest, TracesNameTheChoice) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{9, 13, 10, 16});
  const Output filter = Placeholder(DType::kFloat, PartialShape{3, 3, 16, 16});
  const Output y = Sum(Square(Conv2D(x, filter, {.padding = "SAME"})), {0, 1, 2, 3});
  Session session(graph);
  StepTrace trace;
  session.Run({{x, Tensor::Zeros(DType::kFloat, Shape{9, 13, 10, 16})},
               {filter, Tensor::Zeros(DType::kFloat, Shape{3, 3, 16, 16})}},
              y, {.trace = &trace});
  std::string chosen;
  for (const StepTrace::Event& event : trace.events()) {
    if (event.op == "_BlockedConv2D") chosen = event.implementation;
  }
  // The first entry that accepts: which one that is depends on the processor.
  const BlockedConvProblem problem =
      ProblemOf({9, 16, 16, 3, 1, 1, true, false}, onednn::ChannelBlock());
  const auto convs = ForwardConvs();
  const auto first = std::ranges::find_if(convs, [&](const auto& entry) {
    return entry.refusal(problem).empty() && entry.make(problem) != nullptr;
  });
  EXPECT_EQ(chosen, first->name);
  EXPECT_NE(trace.ChromeTrace().find("\"implementation\": \"" + chosen + "\""), std::string::npos);
}

}  // namespace
}  // namespace sextant

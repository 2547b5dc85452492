// Counts heap allocations: a steady-state Run of a static graph makes none but for what it fetches.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "sextant/device/cpu/winograd_kernels.h"
#include "sextant/sextant.h"

namespace {
std::atomic<int64_t> allocations{0};
}

void* operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
void* operator new(size_t bytes, std::align_val_t align) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const auto a = static_cast<size_t>(align);
  if (void* memory = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace sextant {
namespace {

// Allocations of one call after some to warm up.
template <typename F>
int64_t CountAllocations(F&& f) {
  for (int i = 0; i < 5; ++i) f();
  const int64_t before = allocations;
  for (int i = 0; i < 10; ++i) f();
  return (allocations - before) / 10;
}

TEST(AllocationTest, SteadyStateTrainingStepAllocatesNothing) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 8});
  const Output y = Placeholder(DType::kFloat, PartialShape{-1, 3});
  const Variable w("w", RandomUniform({8, 3}, {.seed = 1}));
  const Variable b("b", Zeros({3}));
  const Output h = Tanh(MatMul(x, w) + b);
  const Output cost = Mean(Square(h - y), {0, 1});
  const auto gradients = Gradients(cost, {w.handle(), b.handle()});
  const Output rate = Const(Tensor(0.1f));
  const Operation update_w = ResourceApplyGradientDescent(w.handle(), rate, gradients[0]);
  const Operation update_b = ResourceApplyGradientDescent(b.handle(), rate, gradients[1]);
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const Callable step = session.MakeCallable({x, y}, {}, {update_w, update_b});
  const Tensor feeds[] = {Tensor::Zeros(DType::kFloat, Shape{16, 8}),
                          Tensor::Zeros(DType::kFloat, Shape{16, 3})};
  EXPECT_EQ(CountAllocations([&] { step.Call(feeds, {}); }), 0);
}

TEST(AllocationTest, ScheduledStepsAllocateNothing) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{4, 4});
  std::vector<Output> parts;
  for (int i = 0; i < 20; ++i) parts.push_back(Tanh(MatMul(x + i, x)));
  const Variable v("v", Zeros({4, 4}));
  const Operation assign = AssignVariable(v.handle(), AddN(parts));
  SessionOptions options;
  options.optimizer.parallel_steps = ParallelSteps::kAlways;
  Session session(graph, options);
  session.Run(GlobalVariablesInitializer());
  const Callable step = session.MakeCallable({x}, {}, {assign});
  const Tensor feed = Tensor::Zeros(DType::kFloat, Shape{4, 4});
  EXPECT_EQ(CountAllocations([&] { step.Call(std::span(&feed, 1), {}); }), 0);
}

// Convolutions that oneDNN computes are left out: it allocates a little for itself in every call.
TEST(AllocationTest, TrainingStepOnImagesAllocatesNothing) {
  if (winograd::BestKernels().lanes == 0) GTEST_SKIP() << "the processor has vectors too short";
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{-1, 16, 16, 16});
  const Variable w("w", RandomUniform({3, 3, 16, 32}, {.seed = 1}));
  const Variable scale("scale", Ones({32})), offset("offset", Zeros({32}));
  const Output none = Const(Tensor(DType::kFloat, Shape{0}));
  Output y = Conv2D(x, w, {.padding = "SAME"});
  y = Relu(FusedBatchNorm(y, scale, offset, none, none).y);
  y = MaxPool(y, {.ksize = {1, 2, 2, 1}, .strides = {1, 2, 2, 1}, .padding = "SAME"});
  const Output cost = Mean(Square(Mean(y, {1, 2})), {0, 1});
  const std::vector<Output> variables = {w.handle(), scale.handle(), offset.handle()};
  const auto gradients = Gradients(cost, variables);
  const Output rate = Const(Tensor(0.1f));
  std::vector<Operation> updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    updates.push_back(ResourceApplyGradientDescent(variables[i], rate, gradients[i]));
  }
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const Callable step = session.MakeCallable({x}, {}, updates);
  const Tensor feed = Tensor::Zeros(DType::kFloat, Shape{20, 16, 16, 16});
  EXPECT_EQ(CountAllocations([&] { step.Call(std::span(&feed, 1), {}); }), 0);
}

TEST(AllocationTest, FetchingCostsTheFetchedTensorOnly) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape{4});
  Output y = x;
  for (int i = 0; i < 50; ++i) y = Sigmoid(y) * 2.0 - y;
  Session session(graph);
  const Callable call = session.MakeCallable({x}, {y});
  const Tensor feed = Tensor::Of<float>({1, 2, 3, 4});
  Tensor result;
  EXPECT_LE(CountAllocations([&] { call.Call(std::span(&feed, 1), std::span(&result, 1)); }), 2);
}

}  // namespace
}  // namespace sextant

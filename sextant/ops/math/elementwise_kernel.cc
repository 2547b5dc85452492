#include "sextant/ops/math/elementwise_kernel.h"

#include "sextant/ops/math/broadcast_plan.h"

namespace sextant {
namespace {

const char* At(const Tensor& tensor, int64_t index, size_t size) {
  return static_cast<const char*>(tensor.raw_data()) + index * static_cast<int64_t>(size);
}
char* At(Tensor& tensor, int64_t index, size_t size) {
  return static_cast<char*>(tensor.raw_data()) + index * static_cast<int64_t>(size);
}

// One element that stands for all of "other", whose shape is the result's.
bool IsScalarFor(const Tensor& tensor, const Tensor& other) {
  return tensor.num_elements() == 1 && tensor.rank() <= other.rank();
}

KernelDef Definition(const char* op, DType in, DType out) {
  KernelDef def(op);
  if (!std::string_view(op).starts_with("Logical")) def.Types("T", {in});
  if (IsPlain(in) && DTypeSize(in) == DTypeSize(out)) def.InPlace(0, 0);
  return def;
}

}  // namespace

void UnaryKernel::Compute(KernelContext& ctx) {
  const Tensor& x = ctx.input(0);
  Tensor& y = ctx.AllocateOutput(0, x.shape());
  ctx.ParallelFor(x.num_elements(), cost_, [&](int64_t begin, int64_t end) {
    loop_(At(x, begin, in_size_), At(y, begin, out_size_), end - begin);
  });
}

void BinaryKernel::Compute(KernelContext& ctx) {
  const Tensor& a = ctx.input(0);
  const Tensor& b = ctx.input(1);
  if (a.shape() == b.shape()) return Run(ctx, a, 1, b, 1, ctx.AllocateOutput(0, a.shape()));
  if (!broadcasts_) {
    throw InvalidArgument("inputs must have one shape, got {} and {}", a.shape().ToString(),
                          b.shape().ToString());
  }
  if (IsScalarFor(b, a)) return Run(ctx, a, 1, b, 0, ctx.AllocateOutput(0, a.shape()));
  if (IsScalarFor(a, b)) return Run(ctx, a, 0, b, 1, ctx.AllocateOutput(0, b.shape()));

  const BroadcastPlan plan(a.shape(), b.shape());
  Tensor& out = ctx.AllocateOutput(0, plan.output());
  const double row_cost = cost_ * static_cast<double>(plan.row_size()) + 5.0;
  ctx.ParallelFor(plan.num_rows(), row_cost, [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t first, const int64_t* offsets) {
      loop_(At(a, offsets[0], in_size_), plan.step(0), At(b, offsets[1], in_size_), plan.step(1),
            At(out, first, out_size_), plan.row_size());
    });
  });
}

void BinaryKernel::Run(KernelContext& ctx, const Tensor& a, int64_t a_step, const Tensor& b,
                       int64_t b_step, Tensor& out) {
  ctx.ParallelFor(out.num_elements(), cost_, [&](int64_t begin, int64_t end) {
    loop_(At(a, begin * a_step, in_size_), a_step, At(b, begin * b_step, in_size_), b_step,
          At(out, begin, out_size_), end - begin);
  });
}

void AddUnaryKernel(KernelRegistry& registry, const char* op, DType in, DType out, UnaryLoop loop,
                    double cost) {
  registry.Add(Definition(op, in, out).Make([=](KernelInit&) {
    return std::make_unique<UnaryKernel>(loop, in, out, cost);
  }));
}

void AddBinaryKernel(KernelRegistry& registry, const char* op, DType in, DType out, BinaryLoop loop,
                     double cost) {
  KernelDef def = Definition(op, in, out);
  if (!def.in_place().empty()) def.InPlace(0, 1);
  const ElementwiseEntry* entry = FindElementwise(op);
  const bool broadcasts = entry == nullptr || ElementwiseBroadcasts(entry->function);
  registry.Add(def.Make([=](KernelInit&) {
    return std::make_unique<BinaryKernel>(loop, in, out, cost, broadcasts);
  }));
}

void AddFloatKernel(KernelRegistry& registry, const char* op) {
  const ElementwiseOp function = FindElementwise(op)->function;
  const double cost = FloatLoopCost(function);
  if (ElementwiseArity(function) == 1) {
    AddUnaryKernel(registry, op, DType::kFloat, DType::kFloat, FloatUnaryLoop(function), cost);
  } else {
    AddBinaryKernel(registry, op, DType::kFloat, DType::kFloat, FloatBinaryLoop(function), cost);
  }
}

}  // namespace sextant

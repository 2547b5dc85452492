#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/math/broadcast_plan.h"

namespace sextant {
namespace {

using SelectLoop = void (*)(const BroadcastPlan& plan, int64_t begin, int64_t end,
                            const bool* condition, const void* t, const void* e, void* out);

template <typename T>
void CopyStrided(const T* from, int64_t step, T* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
}

template <typename T>
void SelectRows(const BroadcastPlan& plan, int64_t begin, int64_t end, const bool* condition,
                const void* t, const void* e, void* out) {
  const int64_t size = plan.row_size();
  const int64_t c_step = plan.step(0), t_step = plan.step(1), e_step = plan.step(2);
  plan.ForRows(begin, end, [&](int64_t first, const int64_t* offsets) {
    const bool* row_condition = condition + offsets[0];
    const T* row_t = static_cast<const T*>(t) + offsets[1];
    const T* row_e = static_cast<const T*>(e) + offsets[2];
    T* row = static_cast<T*>(out) + first;
    if (c_step == 0) {
      const bool first_operand = *row_condition;
      CopyStrided(first_operand ? row_t : row_e, first_operand ? t_step : e_step, row, size);
    } else if (t_step == 1 && e_step == 1) {
      for (int64_t i = 0; i < size; ++i) row[i] = row_condition[i] ? row_t[i] : row_e[i];
    } else if (t_step == 1) {
      for (int64_t i = 0; i < size; ++i) row[i] = row_condition[i] ? row_t[i] : *row_e;
    } else {
      for (int64_t i = 0; i < size; ++i) row[i] = row_condition[i] ? *row_t : row_e[i * e_step];
    }
  });
}

class SelectV2Kernel : public Kernel {
 public:
  explicit SelectV2Kernel(KernelInit& init)
      : loop_(WithElement(init.input_type(1),
                          []<typename T>() -> SelectLoop { return &SelectRows<T>; })) {}

  void Compute(KernelContext& ctx) override { Run(ctx, ctx.input(0).shape()); }

 protected:
  // As if the condition had this shape.
  void Run(KernelContext& ctx, const Shape& condition_shape) {
    const BroadcastPlan plan(condition_shape, ctx.input(1).shape(), ctx.input(2).shape());
    const bool* condition = ctx.input(0).data<bool>();
    const void* t = ctx.input(1).raw_data();
    const void* e = ctx.input(2).raw_data();
    void* out = ctx.AllocateOutput(0, plan.output()).raw_data();
    const double cost = static_cast<double>(plan.row_size()) + 5.0;
    ctx.ParallelFor(plan.num_rows(), cost, [&](int64_t begin, int64_t end) {
      loop_(plan, begin, end, condition, t, e, out);
    });
  }

 private:
  const SelectLoop loop_;
};

class SelectKernel final : public SelectV2Kernel {
 public:
  using SelectV2Kernel::SelectV2Kernel;

  void Compute(KernelContext& ctx) override {
    const Shape& condition = ctx.input(0).shape();
    const Shape& t = ctx.input(1).shape();
    const Shape& e = ctx.input(2).shape();
    if (!(t == e)) {
      throw InvalidArgument("'then' and 'else' must have the same size. but received: {} vs. {}",
                            t.ToString(), e.ToString());
    }
    if (condition.rank() == 0 || condition == t) return Run(ctx, condition);
    if (condition.rank() != 1 || t.rank() == 0 || condition[0] != t[0]) {
      throw InvalidArgument(
          "'cond' must be a scalar, a vector as long as the first dimension of 'then', or of its "
          "shape, got {} and {}",
          condition.ToString(), t.ToString());
    }
    Shape rows = condition;
    while (rows.rank() < t.rank()) rows.Append(1);
    Run(ctx, rows);
  }
};

}  // namespace

void RegisterSelectCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("Select").InPlace(0, 1).InPlace(0, 2).Make<SelectKernel>());
  registry.Add(KernelDef("SelectV2").InPlace(0, 1).InPlace(0, 2).Make<SelectV2Kernel>());
}

}  // namespace sextant

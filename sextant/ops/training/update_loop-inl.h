// The frame of the update rules. A rule is a class template over Element:
//
//   template <typename E>
//   struct GradientDescent {
//     using N = typename E::Number;
//     static constexpr int kVariables = 1;
//     explicit GradientDescent(const Scalars<E>& s) : alpha(s[0]) {}
//     void operator()(N grad, N& var) const { var = var - grad * alpha; }
//     N alpha;
//   };
//
// Included once per instruction set, hence the unusual guard.
#if defined(SEXTANT_OPS_TRAINING_UPDATE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_OPS_TRAINING_UPDATE_LOOP_INL_H_
#undef SEXTANT_OPS_TRAINING_UPDATE_LOOP_INL_H_
#else
#define SEXTANT_OPS_TRAINING_UPDATE_LOOP_INL_H_
#endif

#include <algorithm>
#include <utility>

#include "sextant/ops/training/update_number-inl.h"
#include "sextant/ops/training/update_rule.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

// The scalars of a step as a rule sees them.
template <typename E>
struct Scalars {
  const UpdateTask& task;
  typename E::Type raw(int i) const {
    return *static_cast<const typename E::Type*>(task.scalars[i]);
  }
  typename E::Number operator[](int i) const { return E::Broadcast(raw(i)); }
  double value(int i) const { return E::Value(raw(i)); }
  // One that is an int64.
  typename E::Number integer(int i) const {
    return typename E::Number(static_cast<double>(*static_cast<const int64_t*>(task.scalars[i])));
  }
  bool flag() const { return task.flag; }
};

template <typename Rule, typename E>
struct UpdateRow {
  using T = typename E::Type;
  using N = typename E::Number;

  template <bool tail, size_t... I>
  void Step(int64_t at, int64_t count, std::index_sequence<I...>) const {
    N values[] = {tail ? E::LoadTail(variables[I] + at, count) : E::Load(variables[I] + at)...};
    N g = tail ? E::LoadTail(grad + at, count) : E::Load(grad + at);
    if (decayed) g = g + values[0] * decay;
    rule(g, values[I]...);
    (Put<tail>(values[I], variables[I] + at, count), ...);
  }
  template <bool tail>
  static void Put(N value, T* to, int64_t count) {
    tail ? E::StoreTail(value, to, count) : E::Store(value, to);
  }
  void Run(int64_t count) const {
    constexpr auto kAll = std::make_index_sequence<Rule::kVariables>();
    int64_t i = 0;
    for (; i + E::kLanes <= count; i += E::kLanes) Step<false>(i, E::kLanes, kAll);
    if (i < count) Step<true>(i, count - i, kAll);
  }

  const Rule& rule;
  const bool decayed;
  const N decay;
  T* variables[kMaxUpdateVariables];
  const T* grad;
};

// Rows of one element: as many at a time as a vector holds. One that comes again waits for the next
// vector, so that updates of a row follow each other.
template <typename Rule, typename E>
struct UpdateSingles {
  using T = typename E::Type;

  void Run(const UpdateTask& task, const T* grad) {
    for (int64_t i = 0; i < task.num_indices; ++i) {
      const int64_t index = task.indices[i];
      if (index < task.first_row || index >= task.last_row) continue;
      if (std::find(rows, rows + count, index) != rows + count) Flush(task);
      rows[count] = index;
      grads[count++] = grad[i];
      if (count == E::kLanes) Flush(task);
    }
    Flush(task);
  }
  void Flush(const UpdateTask& task) {
    if (count == 0) return;
    for (int v = 0; v < Rule::kVariables; ++v) {
      const T* const from = static_cast<const T*>(task.variables[v]);
      for (int64_t k = 0; k < count; ++k) values[v][k] = from[rows[k]];
      row.variables[v] = values[v];
    }
    row.grad = grads;
    row.Run(E::kLanes);
    for (int v = 0; v < Rule::kVariables; ++v) {
      T* const to = static_cast<T*>(task.variables[v]);
      for (int64_t k = 0; k < count; ++k) to[rows[k]] = values[v][k];
    }
    count = 0;
  }

  UpdateRow<Rule, E> row;
  int64_t count = 0;
  int64_t rows[E::kLanes] = {};
  T grads[E::kLanes] = {}, values[Rule::kVariables][E::kLanes] = {};
};

template <template <typename> class RuleTemplate, typename T>
void RunUpdate(const UpdateTask& task) {
  using E = Element<T>;
  using Rule = RuleTemplate<E>;
  const Rule rule(Scalars<E>{task});
  const auto* grad = static_cast<const T*>(task.grad);
  const bool decayed = task.decay != nullptr;
  const auto decay = decayed ? E::Broadcast(*static_cast<const T*>(task.decay)) : E::Broadcast(T());
  const auto run_row = [&](int64_t row, int64_t grad_row) HWY_ATTR {
    UpdateRow<Rule, E> at{rule, decayed, decay, {}, grad + grad_row * task.count};
    for (int i = 0; i < Rule::kVariables; ++i) {
      at.variables[i] = static_cast<T*>(task.variables[i]) + row * task.count;
    }
    at.Run(task.count);
  };
  if (task.indices == nullptr) return run_row(0, 0);
  if constexpr (E::kLanes > 1) {
    if (task.count == 1) {
      UpdateSingles<Rule, E>{{rule, decayed, decay, {}, nullptr}}.Run(task, grad);
      return;
    }
  }
  for (int64_t i = 0; i < task.num_indices; ++i) {
    const int64_t row = task.indices[i];
    if (row >= task.first_row && row < task.last_row) run_row(row, i);
  }
}

// The float loop of the rule at "index" of a family. What Highway exports, and so compiles and
// chooses for each instruction set; loops of other types are compiled once.
template <template <typename> class... Rules>
UpdateLoop FloatLoopAt(int index) {
  static constexpr UpdateLoop kLoops[] = {&RunUpdate<Rules, float>...};
  return kLoops[index];
}

#if HWY_ONCE
// A rule with its loops for these types.
template <template <typename> class Rule, typename... Ts>
UpdateRule MakeRule(UpdateRule rule) {
  rule.loops = {{DTypeOf<Ts>, &RunUpdate<Rule, Ts>}...};
  return rule;
}
template <template <typename> class Rule>
UpdateRule RealRule(UpdateRule rule) {
  return MakeRule<Rule, double, Half, BFloat16>(std::move(rule));
}
template <template <typename> class Rule>
UpdateRule ComplexRule(UpdateRule rule) {
  return MakeRule<Rule, double, Half, BFloat16, std::complex<float>, std::complex<double>>(
      std::move(rule));
}
#endif  // HWY_ONCE

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#endif  // SEXTANT_OPS_TRAINING_UPDATE_LOOP_INL_H_

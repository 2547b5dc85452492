#include "sextant/ops/training/update_rule.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace sextant {
namespace {

// Variables, slots and gradients of one step, in one element type.
template <typename T>
struct Values {
  std::array<std::vector<T>, kMaxUpdateVariables> variables;
  std::vector<T> grad;
  std::array<T, kMaxUpdateScalars> scalars;

  explicit Values(int count) {
    uint32_t state = 12345;
    const auto next = [&] {
      state = state * 1664525u + 1013904223u;
      return static_cast<float>(state >> 8) / 16777216.0f;
    };
    // The mean gradient of centered RMSProp is the first slot: its square is below the mean square.
    for (auto& variable : variables) {
      const float low = &variable == &variables[1] ? 0.2f : 1.5f;
      for (int i = 0; i < count; ++i) variable.push_back(static_cast<T>(next() + low));
    }
    for (int i = 0; i < count; ++i) grad.push_back(static_cast<T>(next() - 0.5f));
    for (T& scalar : scalars) scalar = static_cast<T>(next() * 0.5f + 0.25f);
  }
  void Run(const UpdateRule& rule, bool flag, int64_t* step) {
    UpdateTask task;
    for (int i = 0; i < kMaxUpdateVariables; ++i) task.variables[i] = variables[i].data();
    for (int i = 0; i < kMaxUpdateScalars; ++i) task.scalars[i] = &scalars[i];
    if (rule.name == "AdagradDA") task.scalars[3] = step;
    task.flag = flag;
    task.grad = grad.data();
    task.count = static_cast<int64_t>(grad.size());
    rule.loop(DTypeOf<T>)(task);
  }
};

TEST(UpdateRuleTest, VectorsAndTailsOfFloatsAgreeWithDoubles) {
  for (const auto* family : {&SgdRules(), &ProximalRules(), &AdagradRules(), &AdadeltaRules(),
                             &AdamRules(), &RmsPropRules(), &FtrlRules(), &SignRules()}) {
    for (const UpdateRule& rule : *family) {
      for (const int count : {0, 1, 3, 16, 37}) {
        for (const bool flag : {false, true}) {
          int64_t step = 3;
          Values<float> floats(count);
          Values<double> doubles(count);
          floats.Run(rule, flag, &step);
          doubles.Run(rule, flag, &step);
          for (int v = 0; v < kMaxUpdateVariables; ++v) {
            for (int i = 0; i < count; ++i) {
              EXPECT_NEAR(floats.variables[v][i], doubles.variables[v][i],
                          2e-5 * (1 + std::abs(doubles.variables[v][i])))
                  << rule.name << " variable " << v << " element " << i << " of " << count;
            }
          }
        }
      }
    }
  }
}

TEST(UpdateRuleTest, RowsOfOneFloatAreUpdatedInOrder) {
  // Row 4 comes again at once, row 9 a vector later; rows below 2 belong to another thread.
  const std::vector<int64_t> rows{4,  4,  9, 0, 17, 16, 15, 14, 13, 12,
                                  11, 10, 8, 9, 7,  6,  5,  3,  2,  1};
  for (const UpdateRule& rule : FtrlRules()) {
    Values<float> together(20), alone(20);
    const auto run = [&](Values<float>& values, const int64_t* row, int64_t first_grad,
                         int64_t count) {
      UpdateTask task;
      for (int i = 0; i < kMaxUpdateVariables; ++i) task.variables[i] = values.variables[i].data();
      for (int i = 0; i < kMaxUpdateScalars; ++i) task.scalars[i] = &values.scalars[i];
      task.grad = values.grad.data() + first_grad;
      task.count = 1;
      task.indices = row;
      task.num_indices = count;
      task.first_row = 2;
      task.last_row = 20;
      rule.loop(DType::kFloat)(task);
    };
    const Values<float> before(20);
    run(together, rows.data(), 0, std::ssize(rows));
    for (int64_t i = 0; i < std::ssize(rows); ++i) run(alone, &rows[i], i, 1);
    EXPECT_EQ(together.variables, alone.variables);
    for (int v = 0; v < 3; ++v) {
      EXPECT_EQ(together.variables[v][0], before.variables[v][0]);
      EXPECT_EQ(together.variables[v][18], before.variables[v][18]);
      EXPECT_NE(together.variables[v][2], before.variables[v][2]);
    }
  }
}

TEST(UpdateRuleTest, DecayIsPartOfTheGradient) {
  const UpdateRule& rule = *FindUpdateRule("Momentum");
  Values<float> folded(37), added(37);
  const float decay = 0.25f;
  for (int i = 0; i < 37; ++i) added.grad[i] += added.variables[0][i] * decay;
  added.Run(rule, false, nullptr);
  UpdateTask task;
  for (int i = 0; i < kMaxUpdateVariables; ++i) task.variables[i] = folded.variables[i].data();
  for (int i = 0; i < kMaxUpdateScalars; ++i) task.scalars[i] = &folded.scalars[i];
  task.decay = &decay;
  task.grad = folded.grad.data();
  task.count = 37;
  rule.loop(DType::kFloat)(task);
  EXPECT_EQ(folded.variables, added.variables);
}

TEST(UpdateRuleTest, UnknownNamesAndTypes) {
  EXPECT_EQ(FindUpdateRule("Newton"), nullptr);
  EXPECT_EQ(FindUpdateRule("Adam")->loop(DType::kInt32), nullptr);
}

}  // namespace
}  // namespace sextant

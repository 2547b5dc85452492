#include "sextant/graph/scope.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph.h"
#include "sextant/nn/layers.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/state/variable.h"

namespace sextant {
namespace {

class ScopeTest : public testing::Test {
 protected:
  static Variable Get(const char* name) {
    return GetVariable(name, [] { return Zeros({2}); });
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(ScopeTest, RootVariablesAreReused) {
  const Variable a = Get("a");
  EXPECT_THROW(Get("a"), Error);
  {
    const VariableScope reuse("", Reuse::kTrue);
    EXPECT_EQ(Get("a").handle(), a.handle());
    EXPECT_EQ(VariableScope::CurrentName(), "");
    EXPECT_THROW(Get("b"), Error);  // there is none
  }
  EXPECT_THROW(Get("a"), Error);
}

TEST_F(ScopeTest, EmptyNameStaysInTheScopesThatAreOpen) {
  const VariableScope outer("net");
  const Variable a = Get("a");
  const NameScope tower("tower_1");
  const VariableScope reuse("", Reuse::kAuto);
  EXPECT_EQ(Get("a").handle(), a.handle());
  EXPECT_EQ(VariableScope::CurrentName(), "net/");
  EXPECT_EQ(CurrentScope().name, "net/tower_1/");
}

// Towers at the root: the second one's layers are the first one's.
TEST_F(ScopeTest, TowersAtTheRootShareLayers) {
  for (int i = 0; i < 2; ++i) {
    const NameScope tower(i == 0 ? "tower_0" : "tower_1");
    const VariableScope reuse("", i == 0 ? Reuse::kFalse : Reuse::kTrue);
    for (int layer = 0; layer < 2; ++layer) layers::Dense(Ones({3, 4}), {.units = 4});
  }
  std::vector<std::string> names;
  for (const Variable& variable : CollectedVariables()) names.push_back(variable.name());
  EXPECT_EQ(names, (std::vector<std::string>{"dense/kernel", "dense/bias", "dense_1/kernel",
                                             "dense_1/bias"}));
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/random/stateless_random.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

TEST(StatelessRandomTest, IsAFunctionOfTheSeed) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = StatelessRandomUniform({3}, Const(Tensor::Of<int64_t>({1, 2})));
  Session session(graph);
  const Tensor expected = Tensor::Of<float>({0.8440604210f, 0.1920453310f, 0.9962232113f});
  EXPECT_TRUE(session.Run(x).Identical(expected));
  EXPECT_TRUE(session.Run(x).Identical(expected));
}

TEST(StatelessRandomTest, KeyAndCounterGiveTheSameNumbers) {
  Graph graph;
  const GraphScope scope(graph);
  const Output seed = Const(Tensor::Of<int32_t>({1, 2}));
  const auto parts = OpBuilder("StatelessRandomGetKeyCounterAlg").Input(seed).BuildAll();
  const Output x = OpBuilder("StatelessRandomNormalV2")
                       .Input(ConstInts({5}))
                       .Input(parts[0])
                       .Input(parts[1])
                       .Input(parts[2])
                       .Build();
  Session session(graph);
  EXPECT_EQ(session.Run(parts[0]).data<uint64_t>()[0], 0x908502c96d2f7fbau);
  EXPECT_EQ(session.Run(parts[1]).data<uint64_t>()[1], 0xf7734320619cb60bu);
  EXPECT_TRUE(session.Run(x).Identical(session.Run(StatelessRandomNormal({5}, seed))));
}

TEST(StatelessRandomTest, RejectsOtherAlgorithmsAndSeeds) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = OpBuilder("StatelessRandomUniformV2")
                       .Input(ConstInts({5}))
                       .Input(Const(Tensor::Of<uint64_t>({1})))
                       .Input(Const(Tensor::Of<uint64_t>({1, 2})))
                       .Input(Const(Tensor(2)))
                       .Build();
  Session session(graph);
  EXPECT_THROW(session.Run(x), Error);
  EXPECT_THROW(StatelessRandomUniform({3}, Const(Tensor::Of<int64_t>({1, 2, 3}))), Error);
}

}  // namespace
}  // namespace sextant

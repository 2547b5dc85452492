// Memory of values whose shapes are known only at run time is given back behind the last reader of
// the value and of all that shares its buffer, not at the end of the Run.
#include <gtest/gtest.h>

#include "sextant/sextant.h"

namespace sextant {
namespace {

// Twenty values of 10 MB, one after the other, each read through views of it.
TEST(SlotReleaseTest, BehindTheLastReaderOfAView) {
  Graph graph;
  const GraphScope use(graph);
  const Output size = Placeholder(DType::kInt32, Shape({1}));
  Output sum = Const(Tensor(0.0f));
  for (int i = 0; i < 20; ++i) {
    const Output ones = Fill(size + Cast(Floor(sum * 1e-9f), DType::kInt32), Const(Tensor(1.0f)));
    const Output view = Reshape(Identity(ones), {-1, 1});
    sum = sum + ReduceSum(view) - ReduceSum(Reshape(view, {-1})) + 1.0f;
  }
  const int32_t elements = 2'500'000;
  for (const int64_t limit : {int64_t{0}, int64_t{35} << 20}) {
    Session session(graph, {.memory_limit = limit});
    EXPECT_EQ(session.Run({{size, Tensor::Of<int32_t>({elements})}}, sum).scalar<float>(), 20);
  }
  // One of them does not fit.
  Session small(graph, {.memory_limit = int64_t{5} << 20});
  try {
    small.Run({{size, Tensor::Of<int32_t>({elements})}}, sum);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kResourceExhausted);
  }
}

}  // namespace
}  // namespace sextant

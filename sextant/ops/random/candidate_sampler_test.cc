// The expected values are those of TensorFlow.
#include "sextant/ops/random/candidate_sampler.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class CandidateSamplerTest : public testing::Test {
 protected:
  Candidates Build(const char* op, int64_t range, bool unique) {
    const auto outputs = OpBuilder(op)
                             .Input(Const(Tensor::Of<int64_t>({2, 2}, {0, 3, 7, 1})))
                             .Attr("num_true", 2)
                             .Attr("num_sampled", 5)
                             .Attr("unique", unique)
                             .Attr("range_max", range)
                             .Attr("seed", 1)
                             .Attr("seed2", 2)
                             .BuildAll();
    return {outputs[0], outputs[1], outputs[2]};
  }
  static void ExpectNear(const Tensor& got, std::initializer_list<double> values) {
    ASSERT_EQ(static_cast<size_t>(got.num_elements()), values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(got.data<float>()[i], values.begin()[i], 1e-6 * values.begin()[i]) << i;
    }
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(CandidateSamplerTest, LogUniform) {
  const Candidates c = Build("LogUniformCandidateSampler", 1000, true);
  Session session(graph_);
  auto values = session.Run({c.sampled, c.true_expected_count, c.sampled_expected_count});
  EXPECT_TRUE(values[0].Identical(Tensor::Of<int64_t>({4, 20, 6, 721, 306})));
  ExpectNear(values[1],
             {0.4697229266166687, 0.17880170047283173, 0.09802837669849396, 0.304335355758667});
  ExpectNear(values[2], {0.14825353026390076, 0.039726901799440384, 0.11050594598054886,
                         0.0012014236999675632, 0.002820952096953988});
  EXPECT_TRUE(session.Run(c.sampled).Identical(Tensor::Of<int64_t>({4, 5, 0, 13, 51})));
  const Candidates repeated = Build("LogUniformCandidateSampler", 1000, false);
  values = session.Run({repeated.sampled, repeated.true_expected_count});
  EXPECT_TRUE(values[0].Identical(Tensor::Of<int64_t>({4, 20, 6, 4, 721})));
  ExpectNear(values[1],
             {0.5016440749168396, 0.16149333119392395, 0.08524186909198761, 0.293442964553833});
}

TEST_F(CandidateSamplerTest, Uniform) {
  Session session(graph_);
  EXPECT_TRUE(session.Run(Build("UniformCandidateSampler", 8, true).sampled)
                  .Identical(Tensor::Of<int64_t>({7, 6, 3, 1, 5})));
  const Candidates c = Build("UniformCandidateSampler", int64_t{1} << 40, false);
  const auto values = session.Run({c.sampled, c.sampled_expected_count});
  EXPECT_TRUE(values[0].Identical(Tensor::Of<int64_t>(
      {910117045455, 950245201718, 355269394803, 1044823416721, 771281075797})));
  ExpectNear(values[1], {4.547473508864641e-12, 4.547473508864641e-12, 4.547473508864641e-12,
                         4.547473508864641e-12, 4.547473508864641e-12});
}

TEST_F(CandidateSamplerTest, RejectsTooFewClasses) {
  Session session(graph_);
  EXPECT_THROW(session.Run(Build("UniformCandidateSampler", 4, true).sampled), Error);
  EXPECT_THROW(session.Run(Build("UniformCandidateSampler", 6, true).sampled), Error);  // 7 > 5
}

TEST_F(CandidateSamplerTest, AccidentalHits) {
  const AccidentalHits hits =
      ComputeAccidentalHits(Const(Tensor::Of<int64_t>({3, 2}, {0, 3, 7, 1, 3, 3})),
                            Const(Tensor::Of<int64_t>({3, 9, 1, 3})));
  const auto values = Session(graph_).Run({hits.indices, hits.ids, hits.weights});
  EXPECT_TRUE(values[0].Identical(Tensor::Of<int32_t>({0, 1, 2, 2})));
  EXPECT_TRUE(values[1].Identical(Tensor::Of<int64_t>({3, 2, 3, 3})));
  EXPECT_EQ(values[2].data<float>()[0], -3.4028234663852886e+38f);
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/sparse/sparse_cross.h"

#include <limits>

#include "sextant/ops/sparse/sparse_test.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// The expected hashes are TensorFlow's.
class SparseCrossTest : public SparseTest {
 protected:
  static Output Column(std::initializer_list<std::string> values) {
    return Const(Tensor::Of<std::string>({static_cast<int64_t>(values.size()), 1}, values));
  }
  int64_t Hash(const CrossColumns& columns, const SparseCrossOptions& options) {
    return Run(SparseCrossHash(columns, options).values).scalar<int64_t>();
  }
};

TEST_F(SparseCrossTest, HashesAreTensorFlows) {
  const CrossColumns strings{
      .dense = {Column({"batch1-FC1-F1"}), Column({"batch1-FC2-F1"}), Column({"batch1-FC3-F1"})}};
  EXPECT_EQ(Hash(strings, {}), 1971693436396284976);
  EXPECT_EQ(Hash(strings, {.num_buckets = 100}), 83);
  EXPECT_EQ(Hash(strings, {.hash_key = 0xDECAFCAFFF}), 4847552627144134031);
  const Output seven = Const(Tensor::Of<int64_t>({1, 1}, {7}));
  EXPECT_EQ(Hash({.dense = {Column({"x"}), seven}}, {.num_buckets = 1000}), 783);
  const Output minus_one = Const(Tensor::Of<int64_t>({1, 1}, {-1}));
  const Output three = Const(Tensor::Of<int64_t>({1, 1}, {3}));
  EXPECT_EQ(Hash({.dense = {minus_one, three}}, {.num_buckets = 1000}), 339);
}

TEST_F(SparseCrossTest, CombinesSparseColumnsFirst) {
  const SparseTensor sparse =
      Sparse({3, 2}, {0, 0, 0, 1, 2, 0}, Tensor::Of<std::string>({"p", "q", "r"}));
  const Output dense = Const(Tensor::Of<int64_t>({3, 2}, {1, 2, 3, 4, 5, 6}));
  Expect(SparseCrossText({{sparse}, {dense}}), {3, 4}, {0, 0, 0, 1, 0, 2, 0, 3, 2, 0, 2, 1},
         Tensor::Of<std::string>({"p_X_1", "p_X_2", "q_X_1", "q_X_2", "r_X_5", "r_X_6"}));
  Expect(SparseCrossV2({{sparse}, {Column({"x", "y", "z"})}}, Const(Tensor("-"))), {3, 2},
         {0, 0, 0, 1, 2, 0}, Tensor::Of<std::string>({"p-x", "q-x", "r-z"}));
}

TEST_F(SparseCrossTest, HashedHasNoKey) {
  const Output zero = Const(Tensor(int64_t{0}));
  const CrossColumns columns{.dense = {Column({"a"}), Column({"b"})}};
  EXPECT_EQ(Run(SparseCrossHashed(columns, zero).values).scalar<int64_t>(), 9083183682105049815);
  const SparseTensor ints = Sparse({1, 1}, {0, 0}, Tensor::Of<int64_t>({7}));
  EXPECT_EQ(Run(SparseCrossHashed({.sparse = {ints}}, zero).values).scalar<int64_t>(),
            456183119178236718);
  EXPECT_EQ(
      Run(SparseCrossHashed({.sparse = {ints}}, zero, {.strong_hash = true, .salt = {1, 2}}).values)
          .scalar<int64_t>(),
      8054497223537440138);
}

TEST_F(SparseCrossTest, NoColumnsNoCombinations) {
  Expect(SparseCrossText({}), {0, 0}, {}, Tensor::Of<std::string>({}));
}

TEST_F(SparseCrossTest, RejectsOtherBatchSizes) {
  const CrossColumns columns{.dense = {Column({"a", "b"}), Column({"a"})}};
  EXPECT_NE(ErrorOf(SparseCrossText(columns).values).find("expected batch size 2, got 1"),
            std::string::npos);
}

TEST_F(SparseCrossTest, RowsAreCountedBeforeTheyAreAllocated) {
  const auto status = [&](int64_t rows, const std::vector<Output>& dense) {
    const SparseTensor sparse = Sparse({rows, 4}, {0, 0}, Tensor::Of<int64_t>({7}));
    const Output values = SparseCrossText({{sparse}, dense}).values;
    return StatusOf([&] { Run(values); });
  };
  const int64_t most = std::numeric_limits<int64_t>::max();
  const Status other = status(most, {Column({"a"})});
  EXPECT_EQ(other.code(), Code::kInvalidArgument);
  EXPECT_NE(other.message().find("expected batch size 9223372036854775807, got 1"),
            std::string::npos);
  EXPECT_EQ(status(most, {}).code(), Code::kResourceExhausted);
  EXPECT_EQ(status(int64_t{1} << 34, {}).code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace sextant

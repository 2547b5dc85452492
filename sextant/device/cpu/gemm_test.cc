#include "sextant/device/cpu/gemm.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>
#include <vector>

#include "sextant/base/thread_team.h"

namespace sextant {
namespace {

template <typename T>
struct Problem {
  int64_t rows, cols, depth;
  bool turn_a, turn_b;
  std::vector<T> a, b;

  Problem(int64_t m, int64_t n, int64_t k, bool ta, bool tb)
      : rows(m), cols(n), depth(k), turn_a(ta), turn_b(tb), a(m * k), b(k * n) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> value(-8, 8);
    for (T& x : a) x = static_cast<T>(value(random));
    for (T& x : b) x = static_cast<T>(value(random));
  }
  MatrixView<T> A() const { return {a.data(), turn_a ? 1 : depth, turn_a ? rows : 1}; }
  MatrixView<T> B() const { return {b.data(), turn_b ? 1 : cols, turn_b ? depth : 1}; }

  std::vector<T> Run(int threads) const {
    ThreadTeam team(threads);
    RunEnvironment run;
    run.team = &team;
    KernelContext ctx(nullptr, run);
    std::vector<T> c(rows * cols, T(99));
    Gemm<T>(ctx, rows, cols, depth, A(), B(), c.data(), cols);
    return c;
  }
  // Small integers: every order of summation gives the same result.
  std::vector<T> ExpectedRow(int64_t i) const {
    std::vector<T> c(cols);
    for (int64_t j = 0; j < cols; ++j) {
      for (int64_t k = 0; k < depth; ++k) {
        c[j] += A().data[i * A().row_stride + k * A().col_stride] *
                B().data[k * B().row_stride + j * B().col_stride];
      }
    }
    return c;
  }
  std::vector<T> Expected() const {
    std::vector<T> c;
    for (int64_t i = 0; i < rows; ++i) {
      const std::vector<T> row = ExpectedRow(i);
      c.insert(c.end(), row.begin(), row.end());
    }
    return c;
  }
};

TEST(GemmTest, EqualsTheDefinitionForAllShapesAndTranspositions) {
  const std::vector<std::tuple<int64_t, int64_t, int64_t>> shapes = {
      {1, 1, 1},
      {4, 4, 4},
      {3, 700, 41},
      {700, 3, 41},
      {1, 37, 513},
      {7, 19, 0},
      {5, 17, 33},
      {48, 16, 20},
      {49, 300, 70},
      {130, 33, 9},
      {33, 270, 600},
      // Strides that collide in the cache, remainders of rows and columns, few rows and many.
      {50, 256, 512},
      {8, 41, 256},
      {256, 7, 64},
      {193, 260, 300},
      {260, 1100, 64},
      {200, 24, 70},
      {37, 5, 290}};
  for (const auto& [m, n, k] : shapes) {
    for (int turn = 0; turn < 4; ++turn) {
      const Problem<float> single(m, n, k, turn & 1, turn & 2);
      EXPECT_EQ(single.Run(2), single.Expected()) << m << " " << n << " " << k << " " << turn;
      const Problem<double> precise(m, n, k, turn & 1, turn & 2);
      EXPECT_EQ(precise.Run(2), precise.Expected()) << m << " " << n << " " << k << " " << turn;
    }
  }
}

TEST(GemmTest, MultipliesInPartsWhatIsTooLargeToBePackedAtOnce) {
  const Problem<float> problem(610, 530, 8192, false, false);
  const std::vector<float> c = problem.Run(2);
  for (const int64_t row : {0, 599, 600, 609}) {
    const auto begin = c.begin() + row * problem.cols;
    EXPECT_EQ(std::vector<float>(begin, begin + problem.cols), problem.ExpectedRow(row)) << row;
  }
}

TEST(GemmTest, ResultsDoNotDependOnTheNumberOfThreads) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  for (Problem<float> problem :
       {Problem<float>(260, 530, 300, false, false), Problem<float>(64, 200, 200, false, false),
        Problem<float>(64, 200, 300, false, true)}) {
    for (float& x : problem.a) x = value(random);
    for (float& x : problem.b) x = value(random);
    EXPECT_EQ(problem.Run(1), problem.Run(3));
  }
}

}  // namespace
}  // namespace sextant

// The expected texts are numpy's: str() of the same array.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "sextant/tensor/tensor.h"

namespace sextant {
namespace {

template <typename T>
Tensor Counting(const Shape& shape, T first = 0) {
  Tensor t(DTypeOf<T>, shape);
  std::iota(t.flat<T>().begin(), t.flat<T>().end(), first);
  return t;
}

template <typename T>
std::string Print(std::initializer_list<T> values) {
  return Tensor::Of<T>(values).ToString();
}

TEST(TensorPrintTest, RealArrays) {
  EXPECT_EQ(Tensor::Of<float>({2, 2}, {1, 2, 3, 4.5}).ToString(), "[[1.  2. ]\n [3.  4.5]]");
  EXPECT_EQ(Print<float>({0.1f, 1.0f / 3, -2.5f}), "[ 0.1         0.33333334 -2.5       ]");
  EXPECT_EQ(Print<float>({0.0f, -0.0f}), "[ 0. -0.]");
  EXPECT_EQ(Print<float>({1000, 1}), "[1000.    1.]");
  EXPECT_EQ(Tensor::Of<float>({1, 1, 1}, {1.5f}).ToString(), "[[[1.5]]]");
}

TEST(TensorPrintTest, ScientificArrays) {
  EXPECT_EQ(Print<float>({1e-5f, 1}), "[1.e-05 1.e+00]");
  EXPECT_EQ(Print<float>({1e10f, -1}), "[ 1.e+10 -1.e+00]");
  EXPECT_EQ(Print<float>({1001, 1}), "[1.001e+03 1.000e+00]");
  EXPECT_EQ(Print<float>({0.0001f}), "[1.e-04]");
  EXPECT_EQ(Print<double>({0.0001}), "[0.0001]");
  EXPECT_EQ(Print<double>({1.0 / 3, 2.0 / 3, 1e100}),
            "[3.33333333e-001 6.66666667e-001 1.00000000e+100]");
  EXPECT_EQ(Print<double>({1e300, 1e-300}), "[1.e+300 1.e-300]");
  EXPECT_EQ(Print<double>({123456.789, 0.5}), "[1.23456789e+05 5.00000000e-01]");
  EXPECT_EQ(Print<Half>({Half(0.1f), Half(65504), Half(1e-7f)}), "[1.00e-01 6.55e+04 1.19e-07]");
}

TEST(TensorPrintTest, DigitsBeyondTheShortestAreExact) {
  EXPECT_EQ(Print<Half>({Half(8288), Half(5688)}), "[8288. 5688.]");
  EXPECT_EQ(Print<float>({34359792.0f}), "[34359792.]");
  EXPECT_EQ(Print<float>({1e-5f, 1.0f / 3}), "[9.9999997e-06 3.3333334e-01]");
}

TEST(TensorPrintTest, NonFiniteArrays) {
  EXPECT_EQ(Print<float>({NAN, INFINITY, -INFINITY, 1.5f}), "[ nan  inf -inf  1.5]");
  EXPECT_EQ(Print<float>({NAN, INFINITY}), "[nan inf]");
  EXPECT_EQ(Print<double>({NAN, 1e10}), "[   nan 1.e+10]");
}

TEST(TensorPrintTest, ComplexNumbers) {
  EXPECT_EQ(Print<std::complex<float>>({{1, 2}, {0.5, -1}}), "[1. +2.j 0.5-1.j]");
  EXPECT_EQ(Print<std::complex<double>>({{INFINITY, 1}, {1, NAN}}), "[inf +1.j  1.+nanj]");
  EXPECT_EQ(Tensor::Scalar(std::complex<double>(1, 2)).ToString(), "(1+2j)");
  EXPECT_EQ(Tensor::Scalar(std::complex<double>(0, 2)).ToString(), "2j");
}

TEST(TensorPrintTest, Scalars) {
  EXPECT_EQ(Tensor(0.1f).ToString(), "0.1");
  EXPECT_EQ(Tensor(-0.0f).ToString(), "-0.0");
  EXPECT_EQ(Tensor(1e16f).ToString(), "1e+16");
  EXPECT_EQ(Tensor(1e-5f).ToString(), "1e-05");
  EXPECT_EQ(Tensor(123456789.0f).ToString(), "123456790.0");
  EXPECT_EQ(Tensor(1e22).ToString(), "1e+22");
  EXPECT_EQ(Tensor::Scalar(Half(0.1f)).ToString(), "0.1");
  EXPECT_EQ(Tensor::Scalar(~uint64_t{0}).ToString(), "18446744073709551615");
  EXPECT_EQ(Tensor(true).ToString(), "True");
  EXPECT_EQ(Tensor("a").ToString(), "b'a'");
}

TEST(TensorPrintTest, IntegersBoolsAndStrings) {
  EXPECT_EQ(Counting<int32_t>({2, 3}).ToString(), "[[0 1 2]\n [3 4 5]]");
  EXPECT_EQ(Print<bool>({true, false}), "[ True False]");
  EXPECT_EQ(Print<bool>({true}), "[ True]");
  EXPECT_EQ(Print<std::string>({"a", "it's", std::string("\0\xff\n\"'", 5)}),
            R"([b'a' b"it's" b'\x00\xff\n"\''])");
  EXPECT_EQ(Counting<int64_t>({2, 3, 4}).ToString(),
            "[[[ 0  1  2  3]\n  [ 4  5  6  7]\n  [ 8  9 10 11]]\n\n"
            " [[12 13 14 15]\n  [16 17 18 19]\n  [20 21 22 23]]]");
}

TEST(TensorPrintTest, EmptyAndInvalid) {
  EXPECT_EQ(Tensor(DType::kFloat, Shape{0, 3}).ToString(), "[]");
  EXPECT_EQ(Tensor(DType::kFloat, Shape{2, 0}).ToString(), "[]");
  EXPECT_EQ(Tensor().ToString(), "no tensor");
}

TEST(TensorPrintTest, LongLinesWrap) {
  EXPECT_EQ(Counting<int32_t>({25}, -5).ToString(),
            "[-5 -4 -3 -2 -1  0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18\n 19]");
}

TEST(TensorPrintTest, LargeTensorsAreTruncated) {
  EXPECT_EQ(Counting<int32_t>({2000}).ToString(), "[   0    1    2 ... 1997 1998 1999]");
  EXPECT_EQ(Counting<float>({30, 40}).ToString(),
            "[[0.000e+00 1.000e+00 2.000e+00 ... 3.700e+01 3.800e+01 3.900e+01]\n"
            " [4.000e+01 4.100e+01 4.200e+01 ... 7.700e+01 7.800e+01 7.900e+01]\n"
            " [8.000e+01 8.100e+01 8.200e+01 ... 1.170e+02 1.180e+02 1.190e+02]\n"
            " ...\n"
            " [1.080e+03 1.081e+03 1.082e+03 ... 1.117e+03 1.118e+03 1.119e+03]\n"
            " [1.120e+03 1.121e+03 1.122e+03 ... 1.157e+03 1.158e+03 1.159e+03]\n"
            " [1.160e+03 1.161e+03 1.162e+03 ... 1.197e+03 1.198e+03 1.199e+03]]");
}

}  // namespace
}  // namespace sextant

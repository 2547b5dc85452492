#include "sextant/formats/npy.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/tensor/float16.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using namespace std::string_literals;

// What numpy.save of NumPy 1.26 writes: the header is padded to 128 bytes here.
std::string Npy(const std::string& header, const std::string& data) {
  std::string text = header;
  text.resize(117, ' ');
  return "\x93NUMPY\x01\x00\x76\x00"s + text + "\n" + data;
}

TEST(NpyTest, WritesTheBytesOfNumPy) {
  EXPECT_EQ(NpyBytes(Tensor::Of<float>(Shape{2, 3}, {0, 1, 2, 3, 4, 5})),
            Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0\0\xa0\x40"s));
  EXPECT_EQ(NpyBytes(Tensor::Of<std::string>({"a", "bcd"})),
            Npy("{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", "a\0\0bcd"s));
  EXPECT_EQ(NpyBytes(Tensor(true)),
            Npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\1"));
  EXPECT_EQ(NpyBytes(Tensor(DType::kUInt64, Shape{0, 3})),
            Npy("{'descr': '<u8', 'fortran_order': False, 'shape': (0, 3), }", ""));
}

TEST(NpyTest, ReadsColumnMajorBigEndianNumbers) {
  const Tensor tensor = ParseNpy(Npy("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }",
                                     "\0\0\0\3\0\1\0\4\0\2\0\5"s),
                                 "test");
  EXPECT_TRUE(tensor.Identical(Tensor::Of<int16_t>(Shape{2, 3}, {0, 1, 2, 3, 4, 5})));
}

TEST(NpyTest, ReadsUnicodeAsUtf8) {
  const Tensor tensor = ParseNpy(Npy("{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }",
                                     "\xe9\0\0\0\0\0\0\0x\0\0\0y\0\0\0"s),
                                 "test");
  EXPECT_TRUE(tensor.Identical(Tensor::Of<std::string>({"\xc3\xa9", "xy"})));
}

TEST(NpyTest, ReadsWhatItWroteOfEveryType) {
  for (const DType dtype :
       {DType::kBool, DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kUInt8,
        DType::kUInt16, DType::kUInt32, DType::kUInt64, DType::kHalf, DType::kFloat, DType::kDouble,
        DType::kComplex64, DType::kComplex128, DType::kString}) {
    const Tensor tensor = Tensor::Zeros(dtype, Shape{2, 1, 3});
    EXPECT_TRUE(ParseNpy(NpyBytes(tensor), "test").Identical(tensor)) << DTypeName(dtype);
  }
  const Tensor wide = ParseNpy(NpyBytes(Tensor::Scalar(BFloat16(1.5f))), "test");
  EXPECT_TRUE(wide.Identical(Tensor(1.5f)));
}

TEST(NpyTest, RefusesPicklesAndRecords) {
  const Status pickle = StatusOf([] {
    ParseNpy(Npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "\x80\x04"), "a.npy");
  });
  EXPECT_EQ(pickle.message(),
            "a.npy: arrays of type '|O' cannot be read; save strings with a dtype of 'S' or 'U'");
  EXPECT_EQ(StatusOf([] {
              ParseNpy(
                  Npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "0000"),
                  "a.npy");
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { ParseNpy("PK\x03\x04 something", "a.npy"); }).message(),
            "a.npy is not an .npy file");
}

TEST(NpyTest, SaysWhenTheFileIsCutOff) {
  const std::string bytes = NpyBytes(Tensor::Of<float>(Shape{2, 3}, {0, 1, 2, 3, 4, 5}));
  for (size_t i = 0; i < bytes.size(); ++i) {
    const Code code = StatusOf([&] { ParseNpy(bytes.substr(0, i), "cut"); }).code();
    EXPECT_TRUE(code == Code::kDataLoss || (i < 10 && code == Code::kInvalidArgument)) << i;
  }
  const Status huge = StatusOf([] {
    ParseNpy(
        Npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }", ""),
        "huge");
  });
  EXPECT_EQ(huge.code(), Code::kDataLoss);
}

TEST(NpyTest, ReadsAndWritesFiles) {
  const std::string path = JoinPath(testing::TempDir(), "npy_test.npy");
  WriteNpy(path, Tensor::Of<int32_t>({1, 2}));
  EXPECT_TRUE(ReadNpy(path).Identical(Tensor::Of<int32_t>({1, 2})));
}

}  // namespace
}  // namespace sextant

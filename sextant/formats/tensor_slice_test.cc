#include "sextant/formats/tensor_slice.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/formats/ordered_code.h"
#include "sextant/testing/hex.h"

namespace sextant {
namespace {

std::string SignedHex(int64_t value) {
  std::string code;
  PutOrderedSigned(&code, value);
  return Hex(code);
}

TEST(OrderedCodeTest, HasTheKnownBytes) {
  const std::pair<int64_t, const char*> known[] = {{0, "80"},
                                                   {5, "85"},
                                                   {63, "bf"},
                                                   {64, "c040"},
                                                   {100, "c064"},
                                                   {8191, "dfff"},
                                                   {8192, "e02000"},
                                                   {-1, "7f"},
                                                   {-64, "40"},
                                                   {-65, "3fbf"},
                                                   {-0x800, "3800"},
                                                   {0x424242, "f0424242"},
                                                   {INT64_MAX, "ffc07fffffffffffffff"},
                                                   {INT64_MIN, "003f8000000000000000"}};
  for (const auto& [value, hex] : known) EXPECT_EQ(SignedHex(value), hex) << value;
  std::string code;
  PutOrderedNumber(&code, 0);
  PutOrderedNumber(&code, 1);
  PutOrderedNumber(&code, 256);
  PutOrderedString(&code, std::string_view("a\0\xFF", 3));
  EXPECT_EQ(Hex(code),
            "00"
            "0101"
            "020100"
            "6100ffff000001");
}

TEST(OrderedCodeTest, KeysOfSlices) {
  EXPECT_EQ(Hex(SliceKey("w", TensorSlice::Parse("0,5:0,20"))),
            "007700010102808580"
            "94");
  EXPECT_EQ(Hex(SliceKey("w", TensorSlice::Parse("5,5:0,20"))), "00770001010285858094");
  EXPECT_EQ(Hex(SliceKey("w", TensorSlice::Parse("-"))),
            "0077000101"
            "01"
            "807f");
}

TEST(TensorSliceTest, ParsesAndPrints) {
  for (const char* text : {"-", "0,5", "0,5:-", "-:3,4:-", "12,1"}) {
    EXPECT_EQ(TensorSlice::Parse(text).ToString(), text);
  }
  for (const char* bad :
       {"", ":", "1", "1,", ",1", "-1,2", "0,0", "0,-1", "a,b", "0,5:", "1,2,3", "--"}) {
    EXPECT_THROW(TensorSlice::Parse(bad), Error) << bad;
  }
}

TEST(TensorSliceTest, ParsesShapesWithSlices) {
  const ShapeAndSlice parsed = ShapeAndSlice::Parse("3 4 0,2:-");
  EXPECT_EQ(parsed.shape, Shape({3, 4}));
  EXPECT_EQ(parsed.slice.ShapeIn(parsed.shape), Shape({2, 4}));
  for (const char* bad : {"", "3", "3 4", "3 4 0,2", "3 4 0,4:-", "3 4 3,1:-", "x 0,1", "-3 0,1",
                          "3  0,1", "3 9223372036854775807,1", "3 1,9223372036854775807"}) {
    try {
      ShapeAndSlice::Parse(bad);
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument) << bad;
    }
  }
}

TEST(TensorSliceTest, RunsOfCommonElements) {
  // Rows 1..2 of a [4,3] tensor, and columns 1..2 of it.
  const Shape shape{4, 3};
  const TensorSlice rows = TensorSlice::Parse("1,2:-").In(shape);
  const TensorSlice columns = TensorSlice::Parse("-:1,2").In(shape);
  std::vector<std::vector<int64_t>> runs;
  ForEachCommonRun(rows, columns, [&](int64_t a, int64_t b, int64_t count) {
    runs.push_back({a, b, count});
  });
  EXPECT_EQ(runs, (std::vector<std::vector<int64_t>>{{1, 2, 2}, {4, 4, 2}}));
  runs.clear();
  const TensorSlice all = TensorSlice::Full(2).In(shape);
  ForEachCommonRun(all, rows, [&](int64_t a, int64_t b, int64_t count) {
    runs.push_back({a, b, count});
  });
  EXPECT_EQ(runs, (std::vector<std::vector<int64_t>>{{3, 0, 6}}));
  EXPECT_FALSE(TensorSlice::Parse("0,1:-").In(shape).Intersection(rows));
}

}  // namespace
}  // namespace sextant

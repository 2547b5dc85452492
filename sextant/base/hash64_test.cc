// The expected numbers are those of TensorFlow.
#include "sextant/base/hash64.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Hash64Test, IsThatOfTensorFlow) {
  constexpr uint64_t kBuckets = uint64_t{1} << 62;
  EXPECT_EQ(Hash64("") % kBuckets, 105434511174508091u);
  EXPECT_EQ(Hash64("a") % kBuckets, 2996632905371535868u);
  EXPECT_EQ(Hash64("hello world foo") % kBuckets, 277947307550435082u);
  EXPECT_EQ(Hash64("12345678") % kBuckets, 421129128932463287u);
  EXPECT_EQ(Hash64("123456789abcdefgh\xc3\xbf") % kBuckets, 223918939878125729u);
}

}  // namespace
}  // namespace sextant

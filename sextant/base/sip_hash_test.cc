#include "sextant/base/sip_hash.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace sextant {
namespace {

// From the paper "SipHash: a fast short-input PRF", appendix A.
TEST(SipHashTest, VectorOfThePaper) {
  std::string bytes;
  for (char c = 0; c < 15; ++c) bytes.push_back(c);
  EXPECT_EQ(SipHash(0x0706050403020100, 0x0f0e0d0c0b0a0908, bytes), 0xa129ca6149be45e5);
}

TEST(SipHashTest, TensorFlowsStrongHash) {
  const uint64_t buckets = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(SipHash(1, 2, "a") % buckets, 5158252350249958646u);
  EXPECT_EQ(SipHash(1, 2, "7") % buckets, 2903071730630827929u);
  EXPECT_EQ(SipHash(1, 2, std::string_view("\7\0\0\0\0\0\0\0", 8)) % buckets, 5932296293751666080u);
}

}  // namespace
}  // namespace sextant

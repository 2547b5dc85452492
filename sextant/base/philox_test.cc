// The expected numbers are those of TensorFlow 2.15 for the same seeds.
#include "sextant/base/philox.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

using Block = Philox::Block;

TEST(PhiloxTest, MatchesKnownBlocks) {
  EXPECT_EQ(Philox::At(0, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint64_t ones = ~uint64_t{0};
  EXPECT_EQ(Philox::At(ones, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(PhiloxTest, SeedsOfStatefulOps) {
  Philox generator = Philox::ForSeeds(87654321, 1);
  EXPECT_EQ(generator.Next(), (Block{0xab1e98c7, 0xcdf5cfa7, 0xf1867731, 0x4c3f748e}));
  EXPECT_EQ(generator.Next(), (Block{0x00eaf265, 0xc4836362, 0xa50b474a, 0x8f3a73d9}));
  EXPECT_EQ(Philox::ForSeeds(-1, 0).key(), ~uint64_t{0});
}

TEST(PhiloxTest, ZeroSeedsAreRandom) {
  EXPECT_NE(Philox::ForSeeds(0, 0).Next(), Philox::ForSeeds(0, 0).Next());
  EXPECT_EQ(Philox::ForSeeds(0, 42).Next(), Philox::ForSeeds(0, 42).Next());
}

TEST(PhiloxTest, SeedsOfStatelessOps) {
  Philox generator = Philox::ForStatelessSeed(1, 2);
  EXPECT_EQ(generator.key(), 0x908502c96d2f7fba);
  EXPECT_EQ(generator.counter(), (Philox::Counter{0, 0xf7734320619cb60b}));
  const Block block = generator.Next();
  EXPECT_FLOAT_EQ(UniformFloat(block[0]), 0.8440604210f);
  EXPECT_FLOAT_EQ(UniformFloat(block[1]), 0.1920453310f);
  EXPECT_FLOAT_EQ(UniformFloat(block[2]), 0.9962232113f);
}

TEST(PhiloxTest, SkipCarriesAndEqualsDrawing) {
  Philox skipped(7, {~uint64_t{0} - 1, 5});
  Philox drawn = skipped;
  skipped.Skip(3);
  for (int i = 0; i < 3; ++i) drawn.Next();
  EXPECT_EQ(skipped.counter(), (Philox::Counter{1, 6}));
  EXPECT_EQ(skipped.counter(), drawn.counter());
  Philox last(0, {~uint64_t{0}, ~uint64_t{0}});
  last.Skip(1);
  EXPECT_EQ(last.counter(), Philox::Counter{});
}

TEST(PhiloxTest, ConvertsWordsAsTensorFlowDoes) {
  Philox generator = Philox::ForSeeds(87654321, 1);
  const Block a = generator.Next(), b = generator.Next();
  EXPECT_EQ(std::bit_cast<uint32_t>(UniformFloat(a[0])), 0x3e74c638u);
  EXPECT_EQ(std::bit_cast<uint32_t>(UniformFloat(a[1])), 0x3f6b9f4eu);
  EXPECT_EQ(std::bit_cast<uint32_t>(UniformFloat(a[2])), 0x3d4ee620u);
  EXPECT_EQ(std::bit_cast<uint64_t>(UniformDouble(a[0], a[1])), 0x3fed318f9beb9f4eu);
  EXPECT_EQ(std::bit_cast<uint64_t>(UniformDouble(a[2], a[3])), 0x3fd9dcc530fdd238u);
  EXPECT_EQ(std::bit_cast<uint64_t>(UniformDouble(b[0], b[1])), 0x3fe5e4cb8906c6c4u);
  const uint16_t halves[] = {0x3238, 0x3b4e, 0x3a62, 0x3070};
  const uint16_t bfloats[] = {0x3f0e, 0x3e9c, 0x3ec4, 0x3de0};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(UniformHalfBits(a[i]), halves[i]) << i;
    EXPECT_EQ(UniformBFloat16Bits(a[i]), bfloats[i]) << i;
  }
  EXPECT_EQ(UniformHalfBits(0xFFFFFC00u), 0);
  EXPECT_EQ(UniformBFloat16Bits(0x80u), 0);
  EXPECT_EQ(UniformBits64(a[0], a[1]) % (uint64_t{1} << 40), 720130447559u);
}

TEST(PhiloxTest, SecondRunStartsAfterTheReserveOfTheFirst) {
  Philox generator = Philox::ForSeeds(87654321, 1);
  generator.Skip(256 * 3);
  const Block block = generator.Next();
  EXPECT_FLOAT_EQ(UniformFloat(block[0]), 0.8514761925f);
  EXPECT_FLOAT_EQ(UniformFloat(block[1]), 0.2871236801f);
  EXPECT_FLOAT_EQ(UniformFloat(block[2]), 0.7976276875f);
}

}  // namespace
}  // namespace sextant

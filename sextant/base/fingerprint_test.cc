// The expected numbers are those of TensorFlow.
#include "sextant/base/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace sextant {
namespace {

TEST(FingerprintTest, ShortStrings) {
  EXPECT_EQ(Fingerprint64(""), 11160318154034397263u);
  EXPECT_EQ(Fingerprint64("a"), 12917804110809363939u);
  EXPECT_EQ(Fingerprint64("b"), 11795596070477164822u);
  EXPECT_EQ(Fingerprint64("c"), 11430444447143000872u);
  EXPECT_EQ(Fingerprint64("d"), 4470636696479570465u);
  EXPECT_EQ(Fingerprint64("Hello"), 15404698994557526151u);
  EXPECT_EQ(Fingerprint64("World"), 18308117990299812472u);
  EXPECT_EQ(Fingerprint64("abcdefgh"), 18368443631171807497u);
  EXPECT_EQ(Fingerprint64("0123456789abcdef"), 6105018409752412263u);
  EXPECT_EQ(Fingerprint64("0123456789abcdefg"), 12024047538191061578u);
  EXPECT_EQ(Fingerprint64("the quick brown fox jumps over!!"), 12533713262667876566u);
  EXPECT_EQ(Fingerprint64("the quick brown fox jumps over the lazy dog"), 12423751071000433619u);
}

TEST(FingerprintTest, LongStrings) {
  std::string alphabet;
  for (int i = 0; i < 1000; ++i) alphabet.push_back(static_cast<char>('a' + i % 26));
  const auto prefix = [&](size_t n) {
    return Fingerprint64(std::string_view(alphabet).substr(0, n));
  };
  EXPECT_EQ(prefix(64), 11261912070464707578u);
  EXPECT_EQ(prefix(65), 2608948203458330154u);
  EXPECT_EQ(prefix(100), 15335908545242240226u);
  EXPECT_EQ(prefix(128), 14061449006046005066u);
  EXPECT_EQ(prefix(129), 11176984671211548628u);
  EXPECT_EQ(prefix(200), 2725806534515858166u);
  EXPECT_EQ(prefix(1000), 4310402935697217687u);
}

TEST(FingerprintTest, CatDependsOnOrder) {
  const uint64_t hello = Fingerprint64("Hello"), world = Fingerprint64("World");
  EXPECT_EQ(FingerprintCat64(hello, world), 16877292868973613377u);
  EXPECT_EQ(FingerprintCat64(world, hello), 7158413233176775252u);
}

TEST(FingerprintTest, CrossOfThreeStrings) {
  uint64_t hash = 956888297470;
  for (const char* value : {"batch1-FC1-F1", "batch1-FC2-F1", "batch1-FC3-F1"}) {
    hash = FingerprintCat64(hash, Fingerprint64(value));
  }
  EXPECT_EQ(hash % ((uint64_t{1} << 63) - 1), 1971693436396284976u);
  EXPECT_EQ(hash % 100, 83u);
}

}  // namespace
}  // namespace sextant

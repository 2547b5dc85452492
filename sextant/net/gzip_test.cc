#include "sextant/net/gzip.h"

#include <gtest/gtest.h>

#include "sextant/testing/status_of.h"

namespace sextant::net {
namespace {

TEST(Gzip, UnpacksWhatItPacked) {
  std::string text;
  for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919);
  EXPECT_EQ(Gunzip(Gzip(text), 1 << 20), text);
  EXPECT_EQ(Gunzip(Gzip(""), 1 << 20), "");
  EXPECT_LT(Gzip(text).size(), text.size());
}

TEST(Gzip, BoundsWhatItUnpacks) {
  const std::string bomb = Gzip(std::string(64 << 20, '\0'));
  EXPECT_EQ(StatusOf([&] { Gunzip(bomb, size_t{1} << 30); }).code(), Code::kResourceExhausted);
  EXPECT_EQ(StatusOf([&] { Gunzip(Gzip(std::string(100, 'a')), 99); }).code(),
            Code::kResourceExhausted);
}

TEST(Gzip, RefusesDamagedData) {
  const std::string packed = Gzip("some text that is long enough to be packed");
  EXPECT_EQ(StatusOf([&] { Gunzip("no gzip", 100); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Gunzip(packed.substr(0, packed.size() - 9), 100); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { Gunzip(packed + "x", 100); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant::net

#include "sextant/datasets/pickle.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/datasets/cifar10.h"
#include "sextant/datasets/test_archive.h"

namespace sextant::datasets {
namespace {

std::string TestFile(const std::string& name) {
  const std::string path = std::string(SEXTANT_SOURCE_DIR) + "/testdata/pickle/" + name;
  return FileSystem::ForPath(path).ReadFile(path);
}

std::string WhyNot(std::string_view bytes) {
  try {
    const Pickle pickle(bytes, "batch");
    return "";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDataLoss);
    return e.message();
  }
}

TEST(Pickle, ReadsBatchesOfPython2) {
  const LabelledImages images = ParseCifarPickle(MakeCifarPickle({4, 0, 9}), "batch");
  ASSERT_EQ(images.size(), 3);
  EXPECT_EQ(images.labels, std::string("\4\0\11", 3));
  EXPECT_EQ(images.image(2)[0], 2);
  EXPECT_EQ(images.image(2)[3], 2 + 21);
}

// Written by Python 3.11 with numpy 2.4: pixel k of the set is 7 k % 251.
TEST(Pickle, ReadsBatchesOfPython3) {
  const LabelledImages two = ParseCifarPickle(TestFile("batch_protocol2.pickle"), "batch");
  EXPECT_EQ(two.labels, "\3\11");
  EXPECT_EQ(static_cast<unsigned char>(two.image(1)[5]), 7 * (3072 + 5) % 251);
  const LabelledImages one = ParseCifarPickle(TestFile("batch_protocol4.pickle"), "batch");
  EXPECT_EQ(one.labels, "\3");
  EXPECT_EQ(static_cast<unsigned char>(one.image(0)[3071]), 7 * 3071 % 251);
}

TEST(Pickle, CallsNothing) {
  EXPECT_EQ(WhyNot("\x80\x02"
                   "cos\nsystem\nU\4true\x85R."),
            "batch is no pickle of a data set: a call of os.system at offset 2");
  EXPECT_NE(WhyNot("\x80\x04\x8c\2os\x8c\6system\x93."), "");
}

TEST(Pickle, RefusesWhatIsNoPickle) {
  EXPECT_NE(WhyNot(""), "");
  EXPECT_NE(WhyNot("."), "");
  EXPECT_NE(WhyNot("hello"), "");
  EXPECT_NE(WhyNot("\x80\x02t."), "");
  EXPECT_NE(WhyNot("\x80\x02h\5."), "");
  EXPECT_NE(WhyNot("\x80\x02U\x50short."), "");
  EXPECT_NE(WhyNot("\x80\x02K\1K\2Rs."), "");
  EXPECT_NE(WhyNot(std::string(3'000'000, ']')).find("too many"), std::string::npos);
  EXPECT_NE(WhyNot(std::string(3'000'000, '(')).find("too many"), std::string::npos);
}

// A text of 1 MB, turned into bytes again and again.
TEST(Pickle, BoundsWhatCallsMake) {
  std::string bytes("X\0\0\x10\0", 5);
  bytes += std::string(1 << 20, 'a') + "q\1c_codecs\nencode\nq\2";
  for (int i = 0; i < 1000; ++i) bytes += "h\2h\1U\6latin1\x86R";
  EXPECT_NE(WhyNot(bytes + "."), "");
}

TEST(Pickle, SurvivesDamage) {
  const std::string whole = MakeCifarPickle({1});
  for (size_t i = 0; i < whole.size(); i = i < 400 || i + 20 > whole.size() ? i + 1 : i + 97) {
    EXPECT_THROW(ParseCifarPickle(whole.substr(0, i), "batch"), Error);
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[i] ^= static_cast<char>(1 << bit);
      try {
        EXPECT_EQ(ParseCifarPickle(flipped, "batch").size(), 1);
      } catch (const Error&) {
      }
    }
  }
}

}  // namespace
}  // namespace sextant::datasets

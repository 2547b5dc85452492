#include "sextant/base/nearest_name.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

const std::vector<std::string> kNames = {"train_steps", "train_files", "seed", "model_dir", "tree"};

TEST(NearestNameTest, FindsMisspeltNames) {
  EXPECT_EQ(NearestName("trian_steps", kNames), "train_steps");   // swapped
  EXPECT_EQ(NearestName("train_stps", kNames), "train_steps");    // left out
  EXPECT_EQ(NearestName("train_stepss", kNames), "train_steps");  // inserted
  EXPECT_EQ(NearestName("traim_steps", kNames), "train_steps");   // replaced
  EXPECT_EQ(NearestName("Train-Steps", kNames), "train_steps");
  EXPECT_EQ(NearestName("modeldir", kNames), "model_dir");
  EXPECT_EQ(NearestName("seeds", kNames), "seed");
  EXPECT_EQ(NearestName("mod", kNames), "model_dir");  // what it begins with
}

TEST(NearestNameTest, FindsNothingInWhatIsNotLikeIt) {
  EXPECT_EQ(NearestName("foo", kNames), "");
  EXPECT_EQ(NearestName("", kNames), "");
  EXPECT_EQ(NearestName("x", std::vector<std::string>{"y"}), "");
  EXPECT_EQ(NearestName("tree", std::vector<std::string>{}), "");
  EXPECT_EQ(NearestName(std::string(1 << 20, 't'), kNames), "");
}

TEST(NearestNameTest, MakesSentences) {
  const std::vector<std::string> names = {"dnn", "linear"};
  EXPECT_EQ(DidYouMean("liner", names), "; did you mean linear?");
  EXPECT_EQ(DidYouMean("mnist", names), "");
  EXPECT_EQ(DidYouMeanOneOf("liner", names), "; did you mean linear? There are dnn, linear");
  EXPECT_EQ(DidYouMeanOneOf("mnist", names), "; there are dnn, linear");
  EXPECT_EQ(DidYouMeanOneOf("x", std::vector<std::string>{"dnn"}), "; there is dnn");
  EXPECT_EQ(DidYouMeanOneOf("x", std::vector<std::string>{}), "; there are none");
  const std::string many = DidYouMeanOneOf("x", std::vector<std::string>(1000, "name"));
  EXPECT_TRUE(many.ends_with(", name and 970 more")) << many;
  EXPECT_EQ(JoinWithOr(names), "dnn or linear");
  EXPECT_EQ(JoinWithOr(kNames), "train_steps, train_files, seed, model_dir or tree");
}

}  // namespace
}  // namespace sextant

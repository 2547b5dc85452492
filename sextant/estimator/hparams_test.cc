#include "sextant/estimator/hparams.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

HParams Some() {
  return {{"learning_rate", 0.1},
          {"layers", 4},
          {"sync", false},
          {"optimizer", "Adam"},
          {"hidden", std::vector<int64_t>{100, 70}},
          {"names", std::vector<std::string>{"a"}}};
}

TEST(HParamsTest, GivesValuesByType) {
  const HParams params = Some();
  EXPECT_EQ(params.Get<double>("learning_rate"), 0.1);
  EXPECT_EQ(params.Get<int64_t>("layers"), 4);
  EXPECT_EQ(params.Get<double>("layers"), 4.0);
  EXPECT_FALSE(params.Get<bool>("sync"));
  EXPECT_EQ(params.Get<std::string>("optimizer"), "Adam");
  EXPECT_EQ(params.Get<std::vector<int64_t>>("hidden"), (std::vector<int64_t>{100, 70}));
  EXPECT_EQ(params.Get<std::vector<double>>("hidden"), (std::vector<double>{100, 70}));
  EXPECT_EQ(params.Get<int64_t>("absent", 7), 7);
}

TEST(HParamsTest, ParsesAssignments) {
  HParams params = Some();
  params.Parse("learning_rate=1e-3, layers=6,sync=true,optimizer=SGD,hidden=[64, 32,16],names=[]");
  EXPECT_EQ(params.Get<double>("learning_rate"), 0.001);
  EXPECT_EQ(params.Get<int64_t>("layers"), 6);
  EXPECT_TRUE(params.Get<bool>("sync"));
  EXPECT_EQ(params.Get<std::string>("optimizer"), "SGD");
  EXPECT_EQ(params.Get<std::vector<int64_t>>("hidden"), (std::vector<int64_t>{64, 32, 16}));
  EXPECT_TRUE(params.Get<std::vector<std::string>>("names").empty());
  params.Parse("hidden[1]=5,learning_rate=2");
  EXPECT_EQ(params.Get<std::vector<int64_t>>("hidden"), (std::vector<int64_t>{64, 5, 16}));
  EXPECT_EQ(params.Get<double>("learning_rate"), 2.0);
  params.Parse("");
}

TEST(HParamsTest, ReadsWhatItWritesAsJson) {
  HParams params = Some();
  const std::string json = params.ToJson();
  EXPECT_EQ(json, R"({"hidden":[100,70],"layers":4,"learning_rate":0.1,"names":["a"],)"
                  R"("optimizer":"Adam","sync":false})");
  params.Parse("layers=9,names=[b,c]");
  params.ParseJson(json);
  EXPECT_EQ(params.ToJson(), json);
  params.ParseJson(R"({"learning_rate": 3, "hidden": []})");
  EXPECT_EQ(params.Get<double>("learning_rate"), 3.0);
}

template <typename Fn>
void ExpectError(Code code, const std::string& part, const Fn& fn) {
  try {
    fn();
    ADD_FAILURE() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(HParamsTest, SaysWhatIsWrongAndChangesNothing) {
  HParams params = Some();
  const std::string before = params.ToJson();
  const auto refuses = [&](const char* text, const std::string& part) {
    ExpectError(Code::kInvalidArgument, part, [&] { params.Parse(text); });
  };
  refuses("layers=5,rate=1", "there is no hyper-parameter 'rate'; there are hidden, layers");
  refuses("layers=2.5", "hyper-parameter layers is an integer; '2.5' is not");
  refuses("sync=maybe", "is a boolean; 'maybe' is not");
  refuses("learning_rate=", "is a number; '' is not");
  refuses("layers=[1,2]", "layers is an integer, not a list");
  refuses("hidden[2]=1", "has 2 elements, there is no hidden[2]");
  refuses("hidden=[1,x]", "'x' is not");
  refuses("layers", "cannot read the hyper-parameters at 'layers'");
  refuses("hidden=[1,2", "cannot read");
  refuses("hidden[x]=2", "cannot read");
  ExpectError(Code::kInvalidArgument, "is an integer; 1.5 is not",
              [&] { params.ParseJson(R"({"layers": 1.5})"); });
  ExpectError(Code::kInvalidArgument, "must be a JSON object", [&] { params.ParseJson("[]"); });
  EXPECT_EQ(params.ToJson(), before);
  ExpectError(Code::kNotFound, "there is no hyper-parameter 'x'", [&] { params.Get<bool>("x"); });
  ExpectError(Code::kInvalidArgument, "optimizer is a text, not an integer",
              [&] { params.Get<int64_t>("optimizer"); });
}

}  // namespace
}  // namespace sextant

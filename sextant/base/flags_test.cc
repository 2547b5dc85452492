#include "sextant/base/flags.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

using Texts = std::vector<std::string>;

class FlagsTest : public testing::Test {
 protected:
  FlagsTest() {
    flags_.Add("data-dir", &data_dir_, "where the data is", {.aliases = {"dd"}});
    flags_.Add("steps", &steps_, "how many", {.min = 1, .max = 100});
    flags_.Add("rate", &rate_, "of learning", {.min = 0});
    flags_.Add("sync", &sync_, "all together");
    flags_.Add("files", &files_, "to read");
    flags_.Add("strategy", &strategy_, "where variables live", {.choices = {"CPU", "GPU"}});
    flags_.Add("seed", &seed_, "of random numbers");
  }
  std::string Refusal(const Texts& arguments) {
    try {
      flags_.Parse(arguments);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      return e.message();
    }
    return "accepted";
  }

  std::string data_dir_ = "data", strategy_ = "CPU";
  int64_t steps_ = 30;
  double rate_ = 0.1;
  bool sync_ = false;
  Texts files_ = {"usual"};
  std::optional<int64_t> seed_;
  Flags flags_{"Trains."};
};

TEST_F(FlagsTest, ReadsEveryKindOfValue) {
  flags_.Parse({"--data_dir=a=b", "--steps", "40", "--rate=2.5e-3", "--sync", "--files", "x", "y",
                "--strategy", "GPU", "--files=z", "--seed", "-5"});
  EXPECT_EQ(data_dir_, "a=b");
  EXPECT_EQ(steps_, 40);
  EXPECT_EQ(rate_, 2.5e-3);
  EXPECT_TRUE(sync_);
  EXPECT_EQ(files_, (Texts{"x", "y", "z"}));
  EXPECT_EQ(strategy_, "GPU");
  EXPECT_EQ(seed_, -5);
  EXPECT_TRUE(flags_.given("steps"));
}

TEST_F(FlagsTest, KeepsDefaultsAndKnowsAliases) {
  flags_.Parse({"--dd", "elsewhere"});
  EXPECT_EQ(data_dir_, "elsewhere");
  EXPECT_TRUE(flags_.given("data_dir"));
  EXPECT_FALSE(flags_.given("steps"));
  EXPECT_EQ(steps_, 30);
  EXPECT_EQ(files_, Texts{"usual"});
  EXPECT_FALSE(seed_);
}

TEST_F(FlagsTest, BoolsAreSaidInSixWays) {
  const std::vector<std::pair<Texts, bool>> cases = {
      {{"--sync"}, true},        {{"--sync=True"}, true}, {{"--sync", "True"}, true},
      {{"--sync=false"}, false}, {{"--nosync"}, false},   {{"--no-sync"}, false},
      {{"--sync", "0"}, false}};
  for (const auto& [arguments, expected] : cases) {
    sync_ = !expected;
    flags_.Parse(arguments);
    EXPECT_EQ(sync_, expected) << arguments[0];
  }
  sync_ = false;
  flags_.Parse({"--sync", "--steps", "2"});
  EXPECT_TRUE(sync_);
  EXPECT_EQ(steps_, 2);
}

TEST_F(FlagsTest, RefusesInOneSentenceAndChangesNothing) {
  EXPECT_EQ(Refusal({"--rate=1", "--stepz=3"}), "there is no flag --stepz; did you mean --steps?");
  EXPECT_EQ(rate_, 0.1);
  EXPECT_EQ(Refusal({"--steps"}), "--steps needs a value");
  EXPECT_EQ(Refusal({"--steps", "--sync"}), "--steps needs a value");
  EXPECT_EQ(Refusal({"--steps=ten"}), "--steps must be an integer, not 'ten'");
  EXPECT_EQ(Refusal({"--steps=0"}), "--steps must be at least 1, not 0");
  EXPECT_EQ(Refusal({"--steps=101"}), "--steps must be at most 100, not 101");
  EXPECT_EQ(Refusal({"--rate=nan"}), "--rate must be a number, not nan");
  EXPECT_EQ(Refusal({"--rate=inf"}), "--rate must be a finite number, not inf");
  EXPECT_EQ(Refusal({"--rate=-inf"}), "--rate must be at least 0, not -inf");
  EXPECT_EQ(Refusal({"--sync=perhaps"}), "--sync must be True or False, not 'perhaps'");
  EXPECT_EQ(Refusal({"--strategy=TPU"}), "--strategy must be CPU or GPU, not 'TPU'");
  EXPECT_EQ(Refusal({"--nosteps"}), "there is no flag --nosteps; did you mean --steps?");
  EXPECT_EQ(Refusal({"--q"}), "there is no flag --q; --help lists them");
  EXPECT_EQ(Refusal({"train"}), "unexpected argument 'train'; flags begin with --");
}

TEST_F(FlagsTest, ArgumentsOfAKind) {
  Texts modes;
  flags_.AddArguments("MODE", &modes, "what to do",
                      {.required = true, .max = 1, .choices = {"train", "eval"}});
  EXPECT_EQ(Refusal({"--steps=3"}), "MODE is required: train or eval");
  EXPECT_EQ(Refusal({"trian"}), "MODE must be train or eval, not 'trian'");
  EXPECT_EQ(Refusal({"train", "eval"}), "unexpected argument 'eval'; there is MODE already");
  EXPECT_EQ(Refusal({"eval", "--steps=3"}), "accepted");
  EXPECT_EQ(modes, Texts{"eval"});
}

TEST_F(FlagsTest, ArgumentsAndRequiredFlags) {
  Texts modes;
  std::string job_dir;
  flags_.AddArguments("MODE", &modes, "what to do");
  flags_.Add("job-dir", &job_dir, "of the results", {.required = true});
  EXPECT_EQ(Refusal({"train"}), "--job-dir is required");
  flags_.Parse({"train", "--job-dir=j", "--", "--eval"});
  EXPECT_EQ(modes, (Texts{"train", "--eval"}));
  EXPECT_EQ(job_dir, "j");
}

TEST_F(FlagsTest, HelpNamesFlagsDefaultsAndChoices) {
  const std::string help = flags_.Help("prog");
  EXPECT_NE(help.find("usage: prog [flags]"), std::string::npos);
  EXPECT_NE(help.find("--data-dir, --dd\n      where the data is (default: data)"),
            std::string::npos);
  EXPECT_NE(help.find("where variables live (CPU or GPU; default: CPU)"), std::string::npos);
  EXPECT_NE(help.find("of random numbers (default: none)"), std::string::npos);
}

TEST_F(FlagsTest, MainGivesTheExitCode) {
  const auto run = [&](std::vector<const char*> argv, const std::function<void()>& body) {
    return flags_.Main(static_cast<int>(argv.size()), argv.data(), body);
  };
  EXPECT_EQ(run({"bin/prog", "--steps=7"}, [&] { EXPECT_EQ(steps_, 7); }), 0);
  EXPECT_EQ(run({"prog", "--help"}, [] { ADD_FAILURE(); }), 0);
  testing::internal::CaptureStderr();
  EXPECT_EQ(run({"bin/prog", "--step=7"}, [] { ADD_FAILURE(); }), 2);
  EXPECT_EQ(run({"bin/prog"}, [] { throw NotFound("no file x"); }), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "prog: there is no flag --step; did you mean --steps?\n"
            "prog: no file x\n");
}

}  // namespace
}  // namespace sextant

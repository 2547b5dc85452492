#include "sextant/cli/argument_files.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::cli {
namespace {

class ArgumentFilesTest : public testing::Test {
 protected:
  ArgumentFilesTest() { files_.CreateDirectories(directory_); }
  ~ArgumentFilesTest() override { files_.DeleteRecursively(directory_); }

  std::string Write(const std::string& name, const std::string& text) {
    std::string path = JoinPath(directory_, name);
    files_.WriteFileAtomically(path, text);
    return path;
  }
  static std::vector<std::string> Expanded(std::vector<std::string> arguments) {
    ExpandArgumentFiles(arguments);
    return arguments;
  }
  static void ExpectError(const std::vector<std::string>& arguments, const std::string& part) {
    try {
      Expanded(arguments);
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }

  const std::string directory_ = fmt::format("{}argument_files_{}", testing::TempDir(), getpid());
  FileSystem& files_ = FileSystem::ForPath(directory_);
};

TEST_F(ArgumentFilesTest, ByteOrderMarksAreNoData) {
  const std::string flags = Write("bom.flags", "\xef\xbb\xbf--train_steps=100\n");
  const std::string config = Write("bom.json", "\xef\xbb\xbf{\"seed\": 7}");
  EXPECT_EQ(Expanded({"--flagfile", flags, "--config=" + config}),
            (std::vector<std::string>{"--seed=7", "--train_steps=100"}));
}

TEST_F(ArgumentFilesTest, PutsFilesBeforeTheCommandLine) {
  const std::string more = Write("more.flags", "--seed 7\n");
  const std::string flags =
      Write("a.flags", "# a comment\n\n--train_steps=100\r\n--json\n--flagfile=" + more + "\n");
  const std::string config = Write(
      "a.json",
      R"({"num_layers": 4, "hidden_units": [10, 5], "sync": true, "train_files": ["a", "b"]})");
  const std::vector<std::string> expected = {"--num_layers=4",
                                             "--hidden_units=10,5",
                                             "--sync=true",
                                             "--train_files=a",
                                             "--train_files=b",
                                             "--train_steps=100",
                                             "--json",
                                             "--seed=7",
                                             "--train_steps=200",
                                             "rest"};
  EXPECT_EQ(Expanded({"--flagfile", flags, "--train_steps=200", "--config=" + config, "rest"}),
            expected);
}

TEST_F(ArgumentFilesTest, LeavesOtherArgumentsAlone) {
  const std::vector<std::string> arguments = {"a", "--", "--config", "x"};
  EXPECT_EQ(Expanded(arguments), arguments);
}

TEST_F(ArgumentFilesTest, SaysWhatIsWrong) {
  ExpectError({"--config"}, "--config needs a file");
  ExpectError({"--config", ""}, "--config is empty; give it a file or leave it out");
  ExpectError({"--flagfile="}, "--flagfile is empty; give it a file or leave it out");
  ExpectError({"--flagfile", Write("e", "\n--flagfile\n")}, "e, line 2: --flagfile is empty");
  ExpectError({"--config", directory_ + "/absent"}, "absent");
  ExpectError({"--config", Write("x", "[1]")}, "is no JSON object");
  ExpectError({"--config", Write("y", R"({"a": {"b": 1}})")}, "\"a\" in ");
  ExpectError({"--flagfile", Write("z", "--a=1\nb\n")}, "z, line 2, is no flag");
  const std::string loop = JoinPath(directory_, "loop");
  ExpectError({"--flagfile", Write("loop", "--flagfile " + loop)}, "nested more than 10 deep");
}

}  // namespace
}  // namespace sextant::cli

#include "sextant/cli/command.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sextant/base/error.h"

namespace sextant::cli {
namespace {

struct Values {
  std::string text = "default";
  int64_t number = 7;
  bool flag = false;
  std::vector<std::string> several;
  std::vector<std::string> files;
};

// Runs `sextant tool try ...` and leaves what it printed to stderr in `err`.
struct Program {
  Program() {
    Command& group = program.AddCommand("tool", "A group.", "sextant tool try a");
    Command& command =
        group.AddCommand("try", "Tries.", "sextant tool try a b\nsextant tool try c");
    command.AddOption("--text DIR", &values.text, "text");
    command.AddOption("--number N", &values.number, "number", 0, 9);
    command.AddOption("--several", &values.several, "more");
    command.AddFlag("-f,--flag", &values.flag, "flag");
    command.AddArgument("FILE", &values.files, "files");
    command.OnRun([this] {
      if (values.text == "bad") throw InvalidArgument("that is bad");
      if (values.text == "worse") throw std::runtime_error("unforeseen");
      return values.text == "five" ? 5 : 0;
    });
  }
  int Run(std::vector<std::string> arguments) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int code = RunProgram(program, std::move(arguments));
    err = testing::internal::GetCapturedStderr();
    out = testing::internal::GetCapturedStdout();
    return code;
  }

  Values values;
  Command program{"sextant", "A program."};
  std::string err, out;
};

TEST(Command, FillsInOptions) {
  Program p;
  EXPECT_EQ(p.Run({"tool", "try", "a", "--te", "x", "--number=3", "-f", "--several", "1",
                   "--several", "2", "b"}),
            0);
  EXPECT_EQ(p.values.text, "x");
  EXPECT_EQ(p.values.number, 3);
  EXPECT_TRUE(p.values.flag);
  EXPECT_EQ(p.values.several, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(p.values.files, (std::vector<std::string>{"a", "b"}));
}

TEST(Command, KeepsDefaults) {
  Program p;
  EXPECT_EQ(p.Run({"tool", "try", "a"}), 0);
  EXPECT_EQ(p.values.text, "default");
  EXPECT_EQ(p.values.number, 7);
  EXPECT_FALSE(p.values.flag);
}

TEST(Command, ReturnsTheCommandsExitCode) {
  EXPECT_EQ(Program().Run({"tool", "try", "--text", "five", "a"}), 5);
}

TEST(Command, TurnsErrorsIntoOneLine) {
  Program p;
  EXPECT_EQ(p.Run({"tool", "try", "--text", "bad", "a"}), 1);
  EXPECT_EQ(p.err, "sextant tool try: that is bad\n");
  Program q;
  EXPECT_EQ(q.Run({"tool", "try", "--text", "worse", "a"}), 1);
  EXPECT_EQ(q.err, "sextant tool try: unforeseen\n");
}

TEST(Command, RefusesWhatItDoesNotUnderstand) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"tool"},
      {"nothing"},
      {"tool", "nothing"},
      {"tool", "try"},
      {"tool", "try", "a", "--nothing"},
      {"tool", "try", "a", "--number", "x"},
      {"tool", "try", "a", "--number", "10"},
      {"tool", "try", "a", "--text"},
  };
  for (const auto& arguments : wrong) {
    Program p;
    EXPECT_EQ(p.Run(arguments), 2) << testing::PrintToString(arguments);
    EXPECT_TRUE(p.err.starts_with("sextant")) << p.err;
    EXPECT_EQ(std::count(p.err.begin(), p.err.end(), '\n'), 1) << p.err;
    EXPECT_EQ(p.out, "");
  }
}

TEST(Command, RefusesEmptyTextUnlessItIsAllowed) {
  const auto expect = [](std::vector<std::string> arguments, const std::string& message) {
    Program p;
    arguments.insert(arguments.begin(), {"tool", "try"});
    EXPECT_EQ(p.Run(arguments), 2) << testing::PrintToString(arguments);
    EXPECT_EQ(p.err, "sextant tool try: " + message + ". Try sextant tool try --help.\n");
  };
  expect({"a", "--text", ""}, "--text is empty; give it a value or leave it out");
  expect({"a", "--text="}, "--text has no value");
  expect({"a", "--several", "x", "--several", ""},
         "--several is empty; give it a value or leave it out");
  expect({""}, "FILE is empty; give it a value");
  expect({"a", "--", ""}, "FILE is empty; give it a value");
  Program p;
  EXPECT_EQ(p.Run({"tool", "try", "--text", "", "--text", "five", "a"}), 5);  // the last counts

  Program q;
  std::string text = "default";
  std::vector<std::string> several, rest;
  Command& command = q.program.AddCommand("lax", "Takes anything.", "sextant lax ''");
  command.AddOption("--text", &text, "text");
  command.AddOption("--several", &several, "more");
  command.AddArgument("REST", &rest, "anything");
  command.AllowEmpty({"--text", "--several", "REST"});
  command.OnRun([] { return 0; });
  EXPECT_EQ(q.Run({"lax", "--text", "", "--several", "", "x", "--", ""}), 0) << q.err;
  EXPECT_EQ(text, "");
  EXPECT_EQ(several, std::vector<std::string>{""});
  EXPECT_EQ(rest, (std::vector<std::string>{"x", ""}));
}

TEST(Command, HelpShowsExamplesAndCommands) {
  Program p;
  EXPECT_EQ(p.Run({"tool", "try", "--help"}), 0);
  EXPECT_NE(p.out.find("Usage: sextant tool try [OPTIONS] FILE..."), std::string::npos) << p.out;
  EXPECT_NE(p.out.find("--text DIR"), std::string::npos) << p.out;
  EXPECT_NE(p.out.find("Example:\n  sextant tool try a b\n  sextant tool try c\n"),
            std::string::npos)
      << p.out;
  Program q;
  EXPECT_EQ(q.Run({"--help"}), 0);
  EXPECT_NE(q.out.find("sextant tool"), std::string::npos) << q.out;
}

TEST(Command, HelpKeepsLongNamesOfCommandsApart) {
  Program p;
  p.program.AddCommand("tool_with_a_rather_long_name", "Works.", "");
  EXPECT_EQ(p.Run({"--help"}), 0);
  EXPECT_NE(p.out.find("  sextant tool_with_a_rather_long_name  Works.\n"), std::string::npos)
      << p.out;
  EXPECT_NE(p.out.find("  sextant tool                          A group.\n"), std::string::npos)
      << p.out;
}

TEST(Command, PrintsTheVersion) {
  Program p;
  EXPECT_EQ(p.Run({"--version"}), 0);
  EXPECT_TRUE(p.out.starts_with("sextant 0.")) << p.out;
}

}  // namespace
}  // namespace sextant::cli

#include "sextant/base/logging.h"

#include <gtest/gtest.h>

#include "sextant/base/log_format.h"

namespace sextant {
namespace {

TEST(LoggingTest, WritesOneFormattedLineToStderr) {
  SetLogLevel(LogLevel::kInfo);
  testing::internal::CaptureStderr();
  LogWarning("step {} of {}", 3, 7);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(" W step 3 of 7\n"), std::string::npos) << line;
}

TEST(LoggingTest, BeginsLinesAsTensorFlowDoes) {
  SetLogLevel(LogLevel::kInfo);
  SetLogFormat(LogFormat::kTensorFlow);
  testing::internal::CaptureStderr();
  LogInfo("loss = {}, step = {}", 1.5, 0);
  LogWarning("careful");
  SetLogFormat(LogFormat::kTime);
  LogInfo("as before");
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(
      lines.starts_with("INFO:tensorflow:loss = 1.5, step = 0\n"
                        "WARNING:tensorflow:careful\n2"))
      << lines;
  EXPECT_TRUE(lines.ends_with(" I as before\n")) << lines;
}

TEST(LoggingTest, DropsLinesBelowTheLevel) {
  SetLogLevel(LogLevel::kWarning);
  testing::internal::CaptureStderr();
  LogInfo("quiet");
  LogError("{}", "loud {}");
  const std::string lines = testing::internal::GetCapturedStderr();
  EXPECT_EQ(lines.find("quiet"), std::string::npos);
  EXPECT_NE(lines.find(" E loud {}\n"), std::string::npos) << lines;
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  SetLogLevel(LogLevel::kOff);
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  EXPECT_FALSE(LogEnabled(LogLevel::kOff));
  SetLogLevel(LogLevel::kInfo);
}

}  // namespace
}  // namespace sextant

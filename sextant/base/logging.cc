#include "sextant/base/logging.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "sextant/base/log_format.h"
#include "sextant/base/printable.h"

namespace sextant {
namespace {

spdlog::level::level_enum SpdlogLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

constexpr const char* kTimePattern = "%Y-%m-%d %H:%M:%S.%e %^%L%$ %v";

std::atomic<LogFormat> log_format = LogFormat::kTime;

const char* PythonLevel(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    default:
      return "ERROR";
  }
}

LogLevel LevelOfEnvironment() {
  const char* text = std::getenv("SEXTANT_LOG_LEVEL");
  const std::string_view name = text == nullptr ? "" : text;
  if (name == "debug") return LogLevel::kDebug;
  if (name == "warning") return LogLevel::kWarning;
  if (name == "error") return LogLevel::kError;
  if (name == "off") return LogLevel::kOff;
  return LogLevel::kInfo;
}

spdlog::logger& Logger() {
  // Never destroyed: other threads may log while statics are torn down.
  static spdlog::logger& logger = [&]() -> spdlog::logger& {
    auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
    auto& made = *new spdlog::logger("sextant", std::move(sink));
    made.set_pattern(kTimePattern);
    made.set_level(SpdlogLevel(LevelOfEnvironment()));
    return made;
  }();
  return logger;
}

}  // namespace

void SetLogLevel(LogLevel level) { Logger().set_level(SpdlogLevel(level)); }

void SetLogFormat(LogFormat format) {
  log_format = format;
  Logger().set_pattern(format == LogFormat::kTime ? kTimePattern : "%v");
}

bool LogEnabled(LogLevel level) {
  return level != LogLevel::kOff && Logger().should_log(SpdlogLevel(level));
}

void LogLine(LogLevel level, std::string_view message) {
  if (!LogEnabled(level)) return;
  std::string shown = Printable(message);
  if (log_format == LogFormat::kTensorFlow) {
    shown = fmt::format("{}:tensorflow:{}", PythonLevel(level), shown);
  }
  Logger().log(SpdlogLevel(level), spdlog::string_view_t(shown.data(), shown.size()));
}

}  // namespace sextant

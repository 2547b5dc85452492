// Log lines on stderr. Thread-safe. SEXTANT_LOG_LEVEL (debug, info, warning, error, off) sets the
// lowest level that is written; info without it.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#pragma GCC visibility push(default)

namespace sextant {

enum class LogLevel : int { kDebug, kInfo, kWarning, kError, kOff };

// Overrides SEXTANT_LOG_LEVEL.
void SetLogLevel(LogLevel level);
bool LogEnabled(LogLevel level);
// One line; the message is not formatted again.
void LogLine(LogLevel level, std::string_view message);

template <typename... Args>
void Log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (LogEnabled(level)) LogLine(level, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void LogDebug(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogInfo(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void LogError(fmt::format_string<Args...> format, Args&&... args) {
  Log(LogLevel::kError, format, std::forward<Args>(args)...);
}

}  // namespace sextant

#pragma GCC visibility pop

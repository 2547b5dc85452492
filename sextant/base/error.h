// Errors: a Status is a canonical code (gRPC's numbers) and a message; an Error is a Status thrown.
//
// A function that cannot do its job throws Error. An Error becomes a Status again only where an
// exception may not pass: at thread, RPC and main boundaries.
#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

enum class Code : int {
  kOk = 0,
  kCancelled = 1,
  kUnknown = 2,
  kInvalidArgument = 3,
  kDeadlineExceeded = 4,
  kNotFound = 5,
  kAlreadyExists = 6,
  kPermissionDenied = 7,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kAborted = 10,
  kOutOfRange = 11,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
  kDataLoss = 15,
  kUnauthenticated = 16,
};

// "INVALID_ARGUMENT", "DATA_LOSS", ...
std::string_view CodeName(Code code);

class SEXTANT_API Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }
  // "INVALID_ARGUMENT: message", or "OK".
  std::string ToString() const;
  // Throws Error unless ok().
  void ThrowIfError() const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

class SEXTANT_API Error : public std::exception {
 public:
  explicit Error(const Status& status);
  Error(Code code, std::string message) : Error(Status(code, std::move(message))) {}

  Code code() const { return status_.code(); }
  const std::string& message() const { return status_.message(); }
  const Status& status() const { return status_; }
  const char* what() const noexcept override { return what_.c_str(); }

  // The same error with "prefix" in front of its message: outer layers add node or file names.
  Error WithPrefix(std::string_view prefix) const;

 private:
  Status status_;
  std::string what_;
};

// The Status of the exception being handled: an Error's own, RESOURCE_EXHAUSTED for bad_alloc,
// INTERNAL for any other. REQUIRES: called inside a catch block.
Status CurrentStatus();

// throw InvalidArgument("expected rank {}, got shape {}", 2, shape.ToString());
template <Code code, typename... Args>
Error MakeError(fmt::format_string<Args...> format, Args&&... args) {
  return Error(code, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
Error InvalidArgument(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kInvalidArgument>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error NotFound(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kNotFound>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error FailedPrecondition(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kFailedPrecondition>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error OutOfRange(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kOutOfRange>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error Unimplemented(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kUnimplemented>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error DataLoss(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kDataLoss>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error ResourceExhausted(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kResourceExhausted>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error AlreadyExists(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kAlreadyExists>(format, std::forward<Args>(args)...);
}
template <typename... Args>
Error Internal(fmt::format_string<Args...> format, Args&&... args) {
  return MakeError<Code::kInternal>(format, std::forward<Args>(args)...);
}

}  // namespace sextant

#pragma GCC visibility pop

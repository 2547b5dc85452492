#include "sextant/base/error.h"

#include <array>
#include <new>
#include <stdexcept>
#include <system_error>
#include <typeinfo>

#include "sextant/base/flush_at_terminate.h"
#include "sextant/base/printable.h"

namespace sextant {
namespace {

// Longer ones are cut to much less, so that prefixes find room.
constexpr size_t kMostMessageBytes = 1500, kCutMessageBytes = 900;

// Messages quote what files and users wrote.
std::string Shown(std::string_view message) {
  std::string shown = Printable(message, LineEnds::kKeep);
  return shown.size() <= kMostMessageBytes ? shown : WithoutMiddle(shown, kCutMessageBytes);
}

// std::thread throws it when there is no memory for its stack, or no process left. Errors of files
// are of classes derived from it.
bool IsThreadNotStarted(const std::system_error& error) {
  return typeid(error) == typeid(std::system_error) &&
         error.code() == std::errc::resource_unavailable_try_again;
}

}  // namespace

std::string_view CodeName(Code code) {
  static constexpr std::array<std::string_view, 17> kNames = {"OK",
                                                              "CANCELLED",
                                                              "UNKNOWN",
                                                              "INVALID_ARGUMENT",
                                                              "DEADLINE_EXCEEDED",
                                                              "NOT_FOUND",
                                                              "ALREADY_EXISTS",
                                                              "PERMISSION_DENIED",
                                                              "RESOURCE_EXHAUSTED",
                                                              "FAILED_PRECONDITION",
                                                              "ABORTED",
                                                              "OUT_OF_RANGE",
                                                              "UNIMPLEMENTED",
                                                              "INTERNAL",
                                                              "UNAVAILABLE",
                                                              "DATA_LOSS",
                                                              "UNAUTHENTICATED"};
  const auto index = static_cast<size_t>(code);
  return index < kNames.size() ? kNames[index] : "UNKNOWN";
}

std::string Status::ToString() const {
  return ok() ? "OK" : fmt::format("{}: {}", CodeName(code_), message_);
}

void Status::ThrowIfError() const {
  if (!ok()) throw Error(*this);
}

Error::Error(const Status& status)
    : status_(status.code(), Shown(status.message())), what_(status_.ToString()) {
  InstallFlushAtTerminate();
}

Error Error::WithPrefix(std::string_view prefix) const {
  return Error(code(), std::string(prefix) + message());
}

Status CurrentStatus() {
  try {
    throw;
  } catch (const Error& e) {
    return e.status();
  } catch (const std::length_error&) {  // of a container larger than there can be
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");
  } catch (const std::system_error& e) {
    if (!IsThreadNotStarted(e)) return Status(Code::kInternal, Shown(e.what()));
    return Status(Code::kResourceExhausted,
                  fmt::format("a thread could not be started: {}; use fewer threads, or raise the "
                              "limits of memory and processes (ulimit -v, ulimit -u)",
                              e.code().message()));
  } catch (const std::exception& e) {
    return Status(Code::kInternal, Shown(e.what()));
  } catch (...) {
    return Status(Code::kInternal, "unknown exception");
  }
}

}  // namespace sextant

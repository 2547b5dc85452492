// Result: an element made ahead of the consumer, or the failure in its place.
//
// A thread keeps what it catches as an exception_ptr, which takes no memory: a handler that made a
// Status would itself throw when memory is short, and end the process. The consumer's thread makes
// an Error of it.
#pragma once

#include <exception>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/data/element.h"
#include "sextant/data/state.h"

namespace sextant::data {

struct Result {
  std::exception_ptr failure;  // null: none
  Element element;             // when there is none
};

inline Status StatusOf(const std::exception_ptr& failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    return CurrentStatus();
  }
}

inline void ThrowIfFailed(const std::exception_ptr& failure) {
  if (failure) [[unlikely]]
    StatusOf(failure).ThrowIfError();
}

inline void SaveResult(StateWriter& writer, const std::exception_ptr& failure,
                       const Element& element) {
  const Status status = StatusOf(failure);
  writer.PutInt("code", static_cast<int64_t>(status.code()));
  if (status.ok()) {
    writer.PutElement("element", element);
  } else {
    writer.PutBytes("error", status.message());
  }
}

inline Result RestoreResult(StateReader& reader) {
  const auto code = static_cast<Code>(reader.GetInt("code"));
  if (code == Code::kOk) return {{}, reader.GetElement("element")};
  return {std::make_exception_ptr(Error(code, reader.GetBytes("error"))), {}};
}

}  // namespace sextant::data

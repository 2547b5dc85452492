// Outcome: an element made ahead of the consumer, or the error in its place.
#pragma once

#include <string_view>

#include "sextant/base/error.h"
#include "sextant/data/element.h"
#include "sextant/data/state.h"

namespace sextant::data {

struct Outcome {
  Status status;
  Element element;  // when status is OK
};

inline void SaveOutcome(StateWriter& writer, const Status& status, const Element& element) {
  writer.Int("code", static_cast<int64_t>(status.code()));
  if (status.ok()) {
    writer.Whole("element", element);
  } else {
    writer.Bytes("error", status.message());
  }
}

inline Outcome RestoreOutcome(StateReader& reader) {
  const auto code = static_cast<Code>(reader.Int("code"));
  if (code == Code::kOk) return {{}, reader.Whole("element")};
  return {Status(code, reader.Bytes("error")), {}};
}

}  // namespace sextant::data

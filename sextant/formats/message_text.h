// Protobuf messages from bytes and from text, with errors that say where.
#pragma once

#include <string>
#include <string_view>

#include "sextant/base/export.h"

namespace google::protobuf {
class Message;
}

namespace sextant {

// Throws DATA_LOSS "WHAT: N bytes are not a TYPE" when the bytes do not parse; WHAT is a path or
// the like.
SEXTANT_API void ParseMessage(std::string_view bytes, std::string_view what,
                              google::protobuf::Message* message);
// False when the bytes do not parse. Nothing is printed, as protobuf by itself does for texts that
// are no UTF-8.
[[nodiscard]] SEXTANT_API bool TryParseMessage(std::string_view bytes,
                                               google::protobuf::Message* message);
// Throws INVALID_ARGUMENT "WHAT: line 3, column 5: ..." when the text does not parse. It may begin
// with a byte order mark.
SEXTANT_API void ParseMessageText(std::string_view text, std::string_view what,
                                  google::protobuf::Message* message);
std::string MessageText(const google::protobuf::Message& message);
// The same bytes for the same message: map entries are sorted by key.
std::string SerializeSorted(const google::protobuf::Message& message);

}  // namespace sextant

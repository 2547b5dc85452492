// Attributes of nodes as short text for people.
#pragma once

#include <string>

namespace sextant::proto {
class AttrValue;
}

namespace sextant {

// "float", "[?,3]", "\"SAME\"", "[1, 2, 2, 1]", "int32 [2] [5, 7]". Constants of more than eight
// elements are shown by type and shape alone, long lists and texts are cut.
std::string AttrText(const proto::AttrValue& value);

}  // namespace sextant

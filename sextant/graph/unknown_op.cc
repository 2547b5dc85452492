#include "sextant/graph/unknown_op.h"

namespace sextant {

std::string_view ImportedType(const Node& node) {
  const std::string_view type = node.type();
  return type.substr(0, type.find(' '));
}

Error UnknownOpError(const Node& node) {
  const std::string_view type = ImportedType(node);
  const std::string& wrong = node.op().doc();  // set by GraphDefImporter
  if (!wrong.empty()) return InvalidArgument("[{} {}] {}", type, node.name(), wrong);
  return NotFound("[{} {}] op type '{}' is not registered", type, node.name(), type);
}

}  // namespace sextant

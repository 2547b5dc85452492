#include "sextant/graph/graph.h"

namespace sextant {

const Attr* Node::FindAttr(std::string_view name) const {
  if (const Attr* attr = sextant::FindAttr(attrs_, name)) return attr;
  const AttrDef* def = op_->FindAttr(name);
  return def && def->default_value ? &*def->default_value : nullptr;
}

const Attr& Node::RequireAttr(std::string_view name) const {
  const Attr* attr = FindAttr(name);
  if (!attr) ThrowAttr(name, "is missing");
  return *attr;
}

void Node::ThrowAttr(std::string_view name, const char* what) const {
  throw InvalidArgument("[{} {}] attribute '{}': {}", type(), name_, name, what);
}

std::span<const Output> Node::inputs(std::string_view name) const {
  size_t begin = 0;
  for (const ArgDef& arg : op_->inputs()) {
    size_t count = 1;
    if (!arg.number_attr.empty()) {
      count = static_cast<size_t>(attr<int64_t>(arg.number_attr));
    } else if (!arg.type_list_attr.empty()) {
      count = attr<std::vector<DType>>(arg.type_list_attr).size();
    }
    if (arg.name == name) return inputs().subspan(begin, count);
    begin += count;
  }
  throw InvalidArgument("[{} {}] has no input '{}'", type(), name_, name);
}

}  // namespace sextant

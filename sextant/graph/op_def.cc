#include "sextant/graph/op_def.h"

#include <algorithm>
#include <charconv>

namespace sextant {
namespace {

std::string_view Trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \n\t");
  if (first == std::string_view::npos) return {};
  return s.substr(first, s.find_last_not_of(" \n\t") - first + 1);
}

// Splits at "separator" outside brackets and quotes.
std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == separator && depth == 0 && !quoted)) {
      const std::string_view part = Trim(text.substr(start, i - start));
      if (!part.empty()) parts.push_back(part);
      start = i + 1;
    } else if (text[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted) {
      depth += (text[i] == '[' || text[i] == '(') - (text[i] == ']' || text[i] == ')');
    }
  }
  return parts;
}

std::string Join(const std::vector<std::string_view>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// The text in quotes; \t and \n in it stand for a tab and a line end.
std::string Unquote(std::string_view s) {
  if (s.size() < 2 || s.front() != '\'') return std::string(s);
  std::string text(s.substr(1, s.size() - 2));
  for (const auto& [escape, character] : {std::pair{"\\t", "\t"}, std::pair{"\\n", "\n"}}) {
    for (size_t at; (at = text.find(escape)) != std::string::npos;) text.replace(at, 2, character);
  }
  return text;
}

std::vector<std::string_view> ListItems(std::string_view bracketed) {
  return Split(bracketed.substr(1, bracketed.size() - 2), ',');
}

[[noreturn]] void Malformed(std::string_view what) {
  throw InvalidArgument("malformed op signature: '{}'", what);
}

int64_t ParseInt(std::string_view s) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size()) Malformed(s);
  return value;
}

DType ParseType(std::string_view s) {
  const DType type = DTypeFromName(s);
  if (type == DType::kInvalid) Malformed(s);
  return type;
}

Attr ParseDefault(std::string_view type, std::string_view text) {
  if (type == "bool") return text == "True";
  if (type == "int") return ParseInt(text);
  if (type == "float") return std::stof(std::string(text));
  if (type == "string") return Unquote(text);
  if (type == "type") return ParseType(text);
  if (type == "shape") {
    if (text == "unknown_rank") return PartialShape();
    std::vector<int64_t> dims;
    for (std::string_view item : ListItems(text)) dims.push_back(ParseInt(item));
    return PartialShape(dims);
  }
  // The default of ImageSummary's bad_color, the only tensor default the table has.
  if (type == "tensor") return Tensor::Of<uint8_t>({255, 0, 0, 255});
  if (!type.starts_with("list(")) Malformed(text);
  const auto items = ListItems(text);
  if (items.empty()) return Attr(Attr::Value(EmptyList{}));
  const std::string_view element = type.substr(5, type.size() - 6);
  if (element == "int") {
    std::vector<int64_t> values;
    for (auto item : items) values.push_back(ParseInt(item));
    return values;
  }
  if (element == "float") {
    std::vector<float> values;
    for (auto item : items) values.push_back(std::stof(std::string(item)));
    return values;
  }
  if (element == "bool") {
    std::vector<bool> values;
    for (auto item : items) values.push_back(item == "True");
    return values;
  }
  if (element == "string") {
    std::vector<std::string> values;
    for (auto item : items) values.push_back(Unquote(item));
    return values;
  }
  if (element == "type") {
    std::vector<DType> values;
    for (auto item : items) values.push_back(ParseType(item));
    return values;
  }
  Malformed(text);
}

// "name:type", "name:type=default>=minimum in [allowed]", the last three each optional.
AttrDef ParseAttr(std::string_view text) {
  AttrDef attr;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) Malformed(text);
  attr.name = Trim(text.substr(0, colon));
  std::string_view rest = Trim(text.substr(colon + 1));
  if (const size_t in = rest.find(" in ["); in != std::string_view::npos) {
    for (std::string_view item : ListItems(Trim(rest.substr(in + 4)))) {
      if (item.starts_with('\'')) {
        attr.allowed_strings.push_back(Unquote(item));
      } else {
        attr.allowed_types.push_back(ParseType(item));
      }
    }
    rest = Trim(rest.substr(0, in));
  }
  if (const size_t least = rest.find(">="); least != std::string_view::npos) {
    attr.minimum = ParseInt(rest.substr(least + 2));
    rest = rest.substr(0, least);
  }
  const size_t equals = rest.find('=');
  attr.type = rest.substr(0, equals);
  if (equals != std::string_view::npos) {
    attr.default_value = ParseDefault(attr.type, rest.substr(equals + 1));
  }
  return attr;
}

ArgDef ParseArg(std::string_view text) {
  ArgDef arg;
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) Malformed(text);
  arg.name = text.substr(0, colon);
  std::string_view type = Trim(text.substr(colon + 1));
  if (type.starts_with("ref(")) {
    arg.is_ref = true;
    type = type.substr(4, type.size() - 5);
  }
  if (const size_t star = type.find('*'); star != std::string_view::npos) {
    arg.number_attr = type.substr(0, star);
    type = type.substr(star + 1);
  }
  arg.type = DTypeFromName(type);
  // An attribute name: whether it names one type or a list is told by Attrs.
  if (arg.type == DType::kInvalid) arg.type_attr = type;
  return arg;
}

// Turns "type_attr" into "type_list_attr" where the attribute is a list of types.
void ResolveLists(std::vector<ArgDef>& args, const OpDef& op) {
  for (ArgDef& arg : args) {
    const AttrDef* attr = arg.type_attr.empty() ? nullptr : op.FindAttr(arg.type_attr);
    if (attr && attr->type == "list(type)") {
      arg.type_list_attr = arg.type_attr;
      arg.type_attr.clear();
    }
  }
}

}  // namespace

OpDef& OpDef::Inputs(std::string_view list) {
  const auto parts = Split(list, ',');
  inputs_text_ = Join(parts, ", ");
  for (std::string_view part : parts) inputs_.push_back(ParseArg(part));
  ResolveLists(inputs_, *this);
  return *this;
}

OpDef& OpDef::Outputs(std::string_view list) {
  const auto parts = Split(list, ',');
  outputs_text_ = Join(parts, ", ");
  for (std::string_view part : parts) outputs_.push_back(ParseArg(part));
  ResolveLists(outputs_, *this);
  return *this;
}

OpDef& OpDef::Attrs(std::string_view list) {
  const auto parts = Split(list, ';');
  attrs_text_ = Join(parts, "; ");
  for (std::string_view part : parts) attrs_.push_back(ParseAttr(part));
  ResolveLists(inputs_, *this);
  ResolveLists(outputs_, *this);
  return *this;
}

const AttrDef* OpDef::FindAttr(std::string_view name) const {
  for (const AttrDef& attr : attrs_) {
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

OpDef OpDef::Unknown(std::string name) {
  OpDef def(std::move(name));
  def.unknown_ = true;
  def.stateful_ = true;
  return def;
}

std::string OpDef::Signature() const {
  std::string flags;
  if (stateful_) flags += 'S';
  if (commutative_) flags += 'C';
  if (aggregate_) flags += 'A';
  if (allows_uninitialized_input_) flags += 'U';
  if (deprecated_) flags += fmt::format(" deprecated@{}", deprecated_);
  return fmt::format("{}\t{}\t{}\t{}\t{}", name_, inputs_text_, outputs_text_, attrs_text_, flags);
}

}  // namespace sextant

#include "sextant/testing/op_case.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sextant/graph/op_registry.h"
#include "sextant/testing/case_values.h"

namespace sextant::testing {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text), random_(text) {}

  OpCase Parse() {
    OpCase result;
    result.text = std::string(text_);
    try {
      result.call = ParseCall(Word());
      if (Accept(':')) Number();  // which output interests the reader; all are checked
      while (Accept('!')) {
        const std::string mark = Word();
        if (mark == "nograd") {
          result.check_gradient = false;
        } else if (mark == "noshape") {
          result.exact_shape = false;
        } else {
          throw InvalidArgument("unknown mark !{}", mark);
        }
      }
      if (!AtEnd()) throw InvalidArgument("text behind the case");
    } catch (const std::exception& e) {  // std::stoll and its like do not throw Error
      throw InvalidArgument("at position {} of \"{}\": {}", position_, text_, e.what());
    }
    return result;
  }

 private:
  void SkipSpaces() {
    while (position_ < text_.size() && text_[position_] == ' ') ++position_;
  }
  bool AtEnd() {
    SkipSpaces();
    return position_ == text_.size();
  }
  bool Peek(char c) {
    SkipSpaces();
    return position_ < text_.size() && text_[position_] == c;
  }
  bool Accept(char c) {
    if (!Peek(c)) return false;
    ++position_;
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) throw InvalidArgument("expected '{}'", c);
  }
  std::string TextOf(std::string_view extra) {
    SkipSpaces();
    const size_t begin = position_;
    while (position_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[position_])) || text_[position_] == '_' ||
            extra.find(text_[position_]) != std::string_view::npos)) {
      ++position_;
    }
    if (begin == position_) throw InvalidArgument("expected a word or number");
    return std::string(text_.substr(begin, position_ - begin));
  }
  std::string Word() { return TextOf(""); }
  std::string Number() { return TextOf("+-."); }
  std::string Element() {
    if (!Accept('"')) return Number();
    std::string value;
    while (position_ < text_.size() && text_[position_] != '"') {
      if (text_[position_] == '\\' && position_ + 1 < text_.size()) ++position_;
      value += text_[position_++];
    }
    Expect('"');
    return value;
  }
  // "{a, b}"
  template <typename F>
  void Braced(F&& element) {
    Expect('{');
    while (!Accept('}')) {
      element();
      if (!Peek('}')) Expect(',');
    }
  }
  // "[2,?]", or "?" for an unknown rank.
  PartialShape ParseShape() {
    if (Accept('?')) return {};
    Expect('[');
    std::vector<int64_t> dims;
    while (!Accept(']')) {
      dims.push_back(Accept('?') ? PartialShape::kUnknown : std::stoll(Number()));
      if (!Peek(']')) Expect(',');
    }
    return PartialShape(dims);
  }
  DType ParseType() {
    const std::string name = Word();
    const DType dtype = DTypeFromName(name);
    if (dtype == DType::kInvalid) throw InvalidArgument("'{}' is not an element type", name);
    return dtype;
  }

  CaseCall ParseCall(std::string op) {
    CaseCall call;
    call.op = std::move(op);
    const OpDef* def = OpRegistry::Global().Find(call.op);
    if (def == nullptr) throw InvalidArgument("no op named {}", call.op);
    Expect('(');
    while (!Peek(';') && !Peek(')')) {
      call.inputs.push_back(ParseInput());
      if (!Peek(';') && !Peek(')')) Expect(',');
    }
    if (Accept(';')) {
      while (!Peek(')')) {
        const std::string name = Word();
        const AttrDef* attr = def->FindAttr(name);
        if (attr == nullptr) throw InvalidArgument("{} has no attribute '{}'", call.op, name);
        Expect('=');
        call.attrs.emplace_back(name, ParseAttr(attr->type));
        if (!Peek(')')) Expect(',');
      }
    }
    Expect(')');
    return call;
  }

  Attr ParseAttr(const std::string& type) {
    if (type == "int") return Attr(static_cast<int64_t>(std::stoll(Number())));
    if (type == "float") return Attr(std::stof(Number()));
    if (type == "bool") return Attr(ParseBool());
    if (type == "string") return Attr(Element());
    if (type == "type") return Attr(ParseType());
    if (type == "shape") return Attr(ParseShape());
    if (type == "list(int)") return ParseList<int64_t>([&] { return std::stoll(Number()); });
    if (type == "list(float)") return ParseList<float>([&] { return std::stof(Number()); });
    if (type == "list(bool)") return ParseList<bool>([&] { return ParseBool(); });
    if (type == "list(string)") return ParseList<std::string>([&] { return Element(); });
    if (type == "list(type)") return ParseList<DType>([&] { return ParseType(); });
    if (type == "list(shape)") return ParseList<PartialShape>([&] { return ParseShape(); });
    throw InvalidArgument("attributes of type {} cannot be written", type);
  }
  bool ParseBool() {
    const std::string word = Word();
    if (word != "true" && word != "false") throw InvalidArgument("'{}' is not a bool", word);
    return word == "true";
  }
  template <typename T, typename F>
  Attr ParseList(F&& element) {
    std::vector<T> values;
    Braced([&] { values.push_back(element()); });
    return Attr(std::move(values));
  }

  CaseInput ParseInput() {
    using enum CaseInput::Kind;
    CaseInput input;
    if (Accept('[')) {
      input.kind = kList;
      while (!Accept(']')) {
        input.list.push_back(ParseInput());
        if (!Peek(']')) Expect(',');
      }
      return input;
    }
    input.kind = Accept('#')   ? kConst
                 : Accept('@') ? kVariable
                 : Accept('&') ? kRefVariable
                               : kPlaceholder;
    std::string word = Word();
    const DType dtype = DTypeFromName(word);
    if (dtype == DType::kInvalid) {
      input.kind = kCall;
      input.call = std::make_shared<const CaseCall>(ParseCall(std::move(word)));
      if (Accept(':')) input.output = std::stoi(Number());
      return input;
    }
    input.value = ParseValue(dtype);
    return input;
  }

  Tensor ParseValue(DType dtype) {
    if (Accept('=')) {
      const std::string element = Element();
      return LiteralTensor(dtype, Shape(), {&element, 1});
    }
    const bool shape_given = Peek('[');
    Shape shape = shape_given ? ParseShape().AsShape() : Shape();
    if (Peek('{')) {
      std::vector<std::string> elements;
      Braced([&] { elements.push_back(Element()); });
      if (!shape_given) shape = Shape{static_cast<int64_t>(elements.size())};
      return LiteralTensor(dtype, shape, elements);
    }
    if (!shape_given)
      throw InvalidArgument("expected '=', '{{' or '[' behind {}", DTypeName(dtype));
    double low = IsInteger(dtype) ? 0 : -2, high = IsInteger(dtype) ? 9 : 2;
    if (Accept(':')) {
      const std::string range = Number();
      const size_t dots = range.find("..");
      if (dots == std::string::npos) throw InvalidArgument("'{}' is not a range low..high", range);
      low = std::stod(range.substr(0, dots));
      high = std::stod(range.substr(dots + 2));
    }
    return RandomTensor(dtype, shape, low, high, random_);
  }

  std::string_view text_;
  size_t position_ = 0;
  CaseRandom random_;
};

}  // namespace

OpCase ParseOpCase(std::string_view text) { return Parser(text).Parse(); }

std::vector<OpCase> ReadOpCases(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with("cases.txt")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<OpCase> cases;
  for (const auto& file : files) {
    std::ifstream in(file);
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      if (line.empty() || line.starts_with("//")) continue;
      const std::string where =
          fmt::format("{}:{}", std::filesystem::relative(file, folder).string(), number);
      try {
        cases.push_back(ParseOpCase(line));
      } catch (const Error& e) {
        throw e.WithPrefix(where + ": ");
      }
      cases.back().where = where;
    }
  }
  return cases;
}

}  // namespace sextant::testing

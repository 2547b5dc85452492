#include "sextant/cli/python_literal.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/base/utf8.h"
#include "sextant/cli/numpy_array.h"

namespace sextant::cli {
namespace {

constexpr int kMaxDepth = 64;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  explicit Parser(std::string_view text) : whole_(text), text_(text) {}
  std::string_view rest() const { return text_; }
  char Peek() {
    while (!text_.empty() && (text_.front() == ' ' || text_.front() == '\n')) {
      text_.remove_prefix(1);
    }
    return text_.empty() ? '\0' : text_.front();
  }

  PythonLiteral Value(int depth = 0) {
    if (depth > kMaxDepth) throw InvalidArgument("lists are nested more than {} deep", kMaxDepth);
    PythonLiteral value = Primary(depth);
    while (Accept('.')) value = Method(Name(), value, depth);
    return value;
  }
  [[noreturn]] void Fail(std::string_view what) const {
    throw InvalidArgument("expected {} at character {} of '{}'", what,
                          whole_.size() - text_.size() + 1, whole_);
  }

 private:
  bool Accept(char c) {
    if (Peek() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void Expect(char c) {
    if (!Accept(c)) Fail(fmt::format("'{}'", c));
  }
  std::string Name() {
    Peek();
    size_t end = 0;
    while (end < text_.size() && IsNameCharacter(text_[end])) ++end;
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end);
    return name;
  }

  PythonLiteral Primary(int depth) {
    const char c = Peek();
    if (Accept('[')) return Items(']', depth);
    if (Accept('(')) {
      PythonLiteral items = Items(')', depth);
      // (1) is 1; (1,) is a tuple.
      auto& list = *std::get<std::shared_ptr<PythonList>>(items);
      if (list.items.size() == 1 && !trailing_comma_) return std::move(list.items[0]);
      return items;
    }
    if (Accept('{')) return Dict(depth);
    if (c == '\'' || c == '"') return Strings();
    if ((c == 'b' || c == 'u') && text_.size() > 1 && (text_[1] == '\'' || text_[1] == '"')) {
      return Strings();
    }
    if ((c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.') return Number();
    const std::string_view before = text_;
    std::string name = Name();
    if (name == "True") return true;
    if (name == "False") return false;
    if (name == "None") return std::monostate();
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (name == "float" || name == "int" || name == "bool" || name == "str") return name;
    if ((name == "np" || name == "numpy") && Accept('.')) {
      const std::string function = Name();
      if (Peek() != '(') return NumpyConstant(function, before);
      return NumpyArray(function, Arguments(depth));
    }
    text_ = before;
    Fail("a number, a string, a list or np.zeros, ones, full, arange, array");
  }

  // np.float32, np.inf
  PythonLiteral NumpyConstant(const std::string& name, std::string_view before) {
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (NumpyDType(name) != DType::kInvalid) return name;
    text_ = before;
    Fail("a type or a function of NumPy that is known");
  }

  PythonLiteral Method(const std::string& name, const PythonLiteral& object, int depth) {
    if (Peek() != '(') Fail("'('");
    return NumpyMethod(name, ArrayOf(object), Arguments(depth));
  }

  NumpyArguments Arguments(int depth) {
    NumpyArguments arguments;
    Expect('(');
    while (!Accept(')')) {
      // "name=" in front of a value
      const std::string_view before = text_;
      const std::string name = Name();
      if (!name.empty() && Peek() == '=') {
        Accept('=');
        arguments.named.emplace_back(name, Value(depth + 1));
      } else {
        text_ = before;
        arguments.positional.push_back(Value(depth + 1));
      }
      if (!Accept(',') && Peek() != ')') Fail("',' or ')'");
    }
    return arguments;
  }

  PythonLiteral Items(char end, int depth) {
    auto list = std::make_shared<PythonList>();
    bool comma = true;
    while (!Accept(end)) {
      if (!comma) Fail(fmt::format("',' or '{}'", end));
      list->items.push_back(Value(depth + 1));
      comma = Accept(',');
    }
    trailing_comma_ = comma;
    return list;
  }

  PythonLiteral Dict(int depth) {
    auto dict = std::make_shared<PythonDict>();
    bool comma = true;
    while (!Accept('}')) {
      if (!comma) Fail("',' or '}'");
      const char c = Peek();
      if (c != '\'' && c != '"' && c != 'b' && c != 'u') Fail("a string as the key");
      std::string key = Strings();
      Expect(':');
      dict->items.emplace_back(std::move(key), Value(depth + 1));
      comma = Accept(',');
    }
    return dict;
  }

  // Adjacent strings are one.
  std::string Strings() {
    std::string text = String();
    while (Peek() == '\'' || Peek() == '"') text += String();
    return text;
  }

  std::string String() {
    if (Peek() == 'b' || Peek() == 'u') text_.remove_prefix(1);
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') Fail("a string");
    text_.remove_prefix(1);
    std::string value;
    while (true) {
      if (text_.empty()) Fail("the end of the string");
      char c = text_.front();
      text_.remove_prefix(1);
      if (c == quote) return value;
      if (c != '\\') {
        value += c;
        continue;
      }
      if (text_.empty()) Fail("the end of the string");
      c = text_.front();
      text_.remove_prefix(1);
      if (c == 'x') {
        value += static_cast<char>(HexDigits(2));
      } else if (c == 'u') {
        const auto code = HexDigits(4);
        if (code >= 0xd800 && code < 0xe000) Fail("a character");
        AppendUtf8(code, &value);
      } else if (c >= '0' && c <= '7') {
        int code = c - '0';
        for (int i = 0; i < 2 && !text_.empty() && text_[0] >= '0' && text_[0] <= '7'; ++i) {
          code = code * 8 + (text_[0] - '0');
          text_.remove_prefix(1);
        }
        value += static_cast<char>(code);
      } else {
        constexpr std::string_view kNames = "nrtabfv", kCodes = "\n\r\t\a\b\f\v";
        const size_t known = kNames.find(c);
        if (known != std::string_view::npos) {
          value += kCodes[known];
        } else {
          if (c != '\\' && c != '\'' && c != '"') value += '\\';
          value += c;
        }
      }
    }
  }

  char32_t HexDigits(int count) {
    uint32_t code = 0;
    const auto [end, error] = std::from_chars(
        text_.data(), text_.data() + std::min<size_t>(text_.size(), count), code, 16);
    if (error != std::errc() || end != text_.data() + count) Fail("hexadecimal digits");
    text_.remove_prefix(count);
    return code;
  }

  PythonLiteral Number() {
    bool negative = false;
    while (Peek() == '-' || Peek() == '+') {
      if (Accept('-')) negative = !negative;
      Accept('+');
    }
    if (IsNameCharacter(Peek()) && (Peek() < '0' || Peek() > '9')) {  // -np.inf
      const PythonLiteral value = Primary(0);
      if (!std::holds_alternative<double>(value)) Fail("a number");
      return negative ? -std::get<double>(value) : std::get<double>(value);
    }
    std::string digits;
    size_t length = 0;
    const bool hexadecimal = text_.starts_with("0x") || text_.starts_with("0X");
    for (; length < text_.size(); ++length) {
      const char c = text_[length];
      const bool sign =
          (c == '-' || c == '+') && length > 0 && (text_[length - 1] | 0x20) == 'e' && !hexadecimal;
      if (!IsNameCharacter(c) && c != '.' && !sign) break;
      if (c != '_') digits += c;
    }
    PythonLiteral value;
    const char* begin = digits.data() + (hexadecimal ? 2 : 0);
    const char* end = digits.data() + digits.size();
    int64_t integer = 0;
    const auto as_int = std::from_chars(begin, end, integer, hexadecimal ? 16 : 10);
    if (as_int.ec == std::errc() && as_int.ptr == end && begin != end) {
      value = negative ? -integer : integer;
    } else {
      double real = 0;
      const auto as_real = std::from_chars(begin, end, real);
      if (hexadecimal || as_real.ec != std::errc() || as_real.ptr != end || begin == end) {
        Fail("a number");
      }
      value = negative ? -real : real;
    }
    text_.remove_prefix(length);
    return value;
  }

  const std::string_view whole_;
  std::string_view text_;
  bool trailing_comma_ = false;
};

}  // namespace

PythonLiteral TakePythonLiteral(std::string_view* text) {
  Parser parser(*text);
  PythonLiteral value = parser.Value();
  *text = parser.rest();
  return value;
}

PythonLiteral ParsePythonLiteral(std::string_view text) {
  Parser parser(text);
  PythonLiteral value = parser.Value();
  if (parser.Peek() != '\0') parser.Fail("the end");
  return value;
}

}  // namespace sextant::cli

#include "sextant/graph/attr.h"

#include <algorithm>
#include <bit>

#include "sextant/base/error.h"

namespace sextant {
namespace {

// In the order of Attr::Value.
constexpr const char* kKinds[] = {"nothing",     "string",       "int",        "float",
                                  "bool",        "type",         "shape",      "tensor",
                                  "func",        "placeholder",  "empty list", "list(string)",
                                  "list(int)",   "list(float)",  "list(bool)", "list(type)",
                                  "list(shape)", "list(tensor)", "list(func)"};
static_assert(std::size(kKinds) == std::variant_size_v<Attr::Value>);

bool Same(const FuncAttr& a, const FuncAttr& b);

// Equality of one element; NaN equals itself, so that an attribute always equals its copy.
template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
bool Same(float a, float b) { return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b); }
bool Same(const Tensor& a, const Tensor& b) { return a.Identical(b); }
bool Same(const AttrPlaceholder& a, const AttrPlaceholder& b) { return a.name == b.name; }
bool Same(const EmptyList&, const EmptyList&) { return true; }
template <typename T>
bool Same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const T& x, const T& y) { return Same(x, y); });
}
bool Same(const FuncAttr& a, const FuncAttr& b) {
  static const AttrMap kNone;
  const AttrMap& x = a.attrs ? *a.attrs : kNone;
  const AttrMap& y = b.attrs ? *b.attrs : kNone;
  return a.name == b.name && x.size() == y.size() &&
         std::all_of(x.begin(), x.end(), [&](const auto& item) {
           const Attr* other = FindAttr(y, item.first);
           return other != nullptr && item.second == *other;
         });
}

std::string Print(std::monostate) { return "nothing"; }
std::string Print(const std::string& value) { return fmt::format("\"{}\"", value); }
std::string Print(int64_t value) { return fmt::format("{}", value); }
std::string Print(float value) { return fmt::format("{}", value); }
std::string Print(bool value) { return value ? "true" : "false"; }
std::string Print(DType value) { return DTypeName(value); }
std::string Print(const PartialShape& value) { return value.ToString(); }
std::string Print(const Tensor& value) {
  return value.num_elements() <= 8 ? value.ToString() : value.Describe();
}
std::string Print(const FuncAttr& value) { return value.name; }
std::string Print(const AttrPlaceholder& value) { return "$" + value.name; }
std::string Print(const EmptyList&) { return "[]"; }
template <typename T>
std::string Print(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + Print(value);
  return "[" + text + "]";
}

template <typename T>
constexpr bool kIsList = false;
template <typename T>
constexpr bool kIsList<std::vector<T>> = true;

bool IsEmptyList(const Attr::Value& value) {
  return std::visit(
      [](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (kIsList<T>) return v.empty();
        return std::is_same_v<T, EmptyList>;
      },
      value);
}

}  // namespace

bool Attr::operator==(const Attr& other) const {
  if (IsEmptyList(value_) && IsEmptyList(other.value_)) return true;
  if (value_.index() != other.value_.index() || undecoded_ || other.undecoded_) return false;
  return std::visit(
      [&](const auto& value) {
        return Same(value, std::get<std::decay_t<decltype(value)>>(other.value_));
      },
      value_);
}

std::string Attr::ToString() const {
  if (undecoded_) return fmt::format("{} that is not decoded", kKinds[value_.index()]);
  return std::visit([](const auto& value) { return Print(value); }, value_);
}

void Attr::ThrowWrongKind(size_t wanted) const {
  if (undecoded_ && wanted == value_.index()) {
    throw Unimplemented("the tensor's element type is not supported, or it is too large to decode");
  }
  throw InvalidArgument("expected {}, got {} {}", kKinds[wanted], kKinds[value_.index()],
                        ToString());
}

const Attr* FindAttr(const AttrMap& attrs, std::string_view name) {
  for (const auto& [key, value] : attrs) {
    if (key == name) return &value;
  }
  return nullptr;
}

void SetAttr(AttrMap& attrs, std::string_view name, Attr value) {
  for (auto& [key, old] : attrs) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  attrs.emplace_back(name, std::move(value));
}

}  // namespace sextant

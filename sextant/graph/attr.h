// Attr: the value of one attribute of a node, in any of the forms a GraphDef knows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"
#include "sextant/tensor/tensor.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class AttrValue;
}  // namespace sextant::proto

namespace sextant {

class Attr;
// Attributes of one node in the order they were set; few, so searched linearly.
using AttrMap = std::vector<std::pair<std::string, Attr>>;

// A function of the library and the attributes it is instantiated with.
struct SEXTANT_API FuncAttr {
  std::string name;                      // as the GraphDef spells it
  std::shared_ptr<const AttrMap> attrs;  // null = none
};
// Inside a function body: the name of the function's own attribute that gives the value.
struct SEXTANT_API AttrPlaceholder {
  std::string name;  // as the GraphDef spells it
};
// A list without elements: a GraphDef does not say of what.
struct SEXTANT_API EmptyList {};

class SEXTANT_API Attr {
 public:
  using Value =
      std::variant<std::monostate, std::string, int64_t, float, bool, DType, PartialShape, Tensor,
                   FuncAttr, AttrPlaceholder, EmptyList, std::vector<std::string>,
                   std::vector<int64_t>, std::vector<float>, std::vector<bool>, std::vector<DType>,
                   std::vector<PartialShape>, std::vector<Tensor>, std::vector<FuncAttr>>;

  Attr() = default;
  // Any alternative of Value; int, double and const char* are taken for int64, float and string.
  Attr(Value value) : value_(std::move(value)) {}            // NOLINT
  Attr(int value) : value_(static_cast<int64_t>(value)) {}   // NOLINT
  Attr(int64_t value) : value_(value) {}                     // NOLINT
  Attr(bool value) : value_(value) {}                        // NOLINT
  Attr(float value) : value_(value) {}                       // NOLINT
  Attr(double value) : value_(static_cast<float>(value)) {}  // NOLINT
  Attr(const char* value) : value_(std::string(value)) {}    // NOLINT
  Attr(std::string value) : value_(std::move(value)) {}      // NOLINT
  Attr(DType value) : value_(value) {}                       // NOLINT
  Attr(PartialShape value) : value_(std::move(value)) {}     // NOLINT
  Attr(Tensor value) : value_(std::move(value)) {}           // NOLINT
  Attr(FuncAttr value) : value_(std::move(value)) {}         // NOLINT
  template <typename T>
  Attr(std::vector<T> values) : value_(std::move(values)) {}  // NOLINT

  const Value& value() const { return value_; }
  template <typename T>  // whether it is a T
  bool Is() const {
    return std::holds_alternative<T>(value_);
  }
  // The value as T, a list type too (an EmptyList is any list). Throws INVALID_ARGUMENT otherwise,
  // and UNIMPLEMENTED for a tensor of a type that Tensor cannot hold.
  template <typename T>
  const T& Get() const;

  // Same kind and equal content (tensors bit for bit). Lists without elements are all equal.
  bool operator==(const Attr& other) const;
  std::string ToString() const;

  // A tensor of a type that Tensor cannot hold, or that takes more than "expansion" bytes above
  // those of its proto (one value and a shape), is kept in its encoded form only (see undecoded).
  // Throws INVALID_ARGUMENT on a malformed value.
  static Attr FromProto(const proto::AttrValue& proto, size_t expansion = kTensorExpansion);
  static constexpr size_t kTensorExpansion = size_t{64} << 20;
  // What the tensors of a message take at most, all in all, above its own bytes.
  static constexpr size_t kMaxExpansion = size_t{1} << 29;
  // What was imported is written as it was, byte for byte.
  void ToProto(proto::AttrValue* proto) const;
  // Whether the value is a tensor, or a list with one, that is kept in its encoded form only.
  bool undecoded() const { return undecoded_; }

 private:
  // The place of T among the alternatives of Value.
  template <typename T, size_t i = 0>
  static constexpr size_t IndexOf() {
    if constexpr (std::is_same_v<T, std::variant_alternative_t<i, Value>>) {
      return i;
    } else {
      return IndexOf<T, i + 1>();
    }
  }
  [[noreturn]] void ThrowWrongKind(size_t wanted) const;

  Value value_;
  bool undecoded_ = false;
  // How an imported value was written, where encoding it again could give other bytes.
  std::shared_ptr<const proto::AttrValue> encoded_;
};

const Attr* FindAttr(const AttrMap& attrs, std::string_view name);
// Sets or replaces.
void SetAttr(AttrMap& attrs, std::string_view name, Attr value);

template <typename T>
const T& Attr::Get() const {
  if (!undecoded_) {
    if (const T* value = std::get_if<T>(&value_)) return *value;
  }
  if constexpr (IndexOf<T>() >= IndexOf<std::vector<std::string>>()) {
    static const T kEmpty{};
    if (Is<EmptyList>()) return kEmpty;
  }
  ThrowWrongKind(IndexOf<T>());
}

}  // namespace sextant

#pragma GCC visibility pop

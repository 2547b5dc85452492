#include "sextant/tensor/dtype.h"

#include <fmt/format.h>

#include <array>

#include "sextant/tensor/handle.h"

namespace sextant {
namespace {

enum class Kind : uint8_t { kNone, kFloating, kInteger, kComplex, kOther, kObject };

struct Entry {
  std::string_view name;
  size_t size;
  Kind kind;
};

// Indexed by DType.
constexpr std::array<Entry, 24> kTypes = {{
    {"invalid", 0, Kind::kNone},
    {"float", 4, Kind::kFloating},
    {"double", 8, Kind::kFloating},
    {"int32", 4, Kind::kInteger},
    {"uint8", 1, Kind::kInteger},
    {"int16", 2, Kind::kInteger},
    {"int8", 1, Kind::kInteger},
    {"string", sizeof(std::string), Kind::kObject},
    {"complex64", 8, Kind::kComplex},
    {"int64", 8, Kind::kInteger},
    {"bool", 1, Kind::kOther},
    {"qint8", 1, Kind::kOther},
    {"quint8", 1, Kind::kOther},
    {"qint32", 4, Kind::kOther},
    {"bfloat16", 2, Kind::kFloating},
    {"qint16", 2, Kind::kOther},
    {"quint16", 2, Kind::kOther},
    {"uint16", 2, Kind::kInteger},
    {"complex128", 16, Kind::kComplex},
    {"half", 2, Kind::kFloating},
    {"resource", sizeof(ResourceHandle), Kind::kObject},
    {"variant", sizeof(Variant), Kind::kObject},
    {"uint32", 4, Kind::kInteger},
    {"uint64", 8, Kind::kInteger},
}};
constexpr std::string_view kRefSuffix = "_ref";

const Entry* Find(DType dtype) {
  const auto i = static_cast<size_t>(dtype);
  return i < kTypes.size() ? &kTypes[i] : nullptr;
}

Kind KindOf(DType dtype) {
  const Entry* entry = Find(dtype);
  return entry ? entry->kind : Kind::kNone;
}

}  // namespace

std::string DTypeName(DType dtype) {
  const Entry* entry = Find(RemoveRef(dtype));
  if (!entry) return fmt::format("dtype({})", static_cast<int>(dtype));
  return IsRef(dtype) ? fmt::format("{}{}", entry->name, kRefSuffix) : std::string(entry->name);
}

DType DTypeFromName(std::string_view name) {
  const bool ref = name.ends_with(kRefSuffix);
  if (ref) name.remove_suffix(kRefSuffix.size());
  for (size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i].name != name) continue;
    const auto dtype = static_cast<DType>(i);
    return ref ? MakeRef(dtype) : dtype;
  }
  return DType::kInvalid;
}

size_t DTypeSize(DType dtype) {
  const Entry* entry = Find(dtype);
  return entry ? entry->size : 0;
}

bool IsFloating(DType dtype) { return KindOf(dtype) == Kind::kFloating; }
bool IsInteger(DType dtype) { return KindOf(dtype) == Kind::kInteger; }
bool IsComplex(DType dtype) { return KindOf(dtype) == Kind::kComplex; }
bool IsPlain(DType dtype) {
  const Kind kind = KindOf(dtype);
  return kind != Kind::kObject && kind != Kind::kNone;
}

}  // namespace sextant

#include "sextant/graph/attr_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/proto/graph.pb.h"
#include "sextant/tensor/numpy_name.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant {
namespace {

constexpr int64_t kFewElements = 8;
constexpr int kListItems = 12;

std::string ShapeText(const proto::TensorShapeProto& shape) {
  if (shape.unknown_rank()) return "unknown shape";
  std::string text = "[";
  for (const auto& dim : shape.dim()) {
    text += (text.size() > 1 ? "," : "") + (dim.size() < 0 ? "?" : std::to_string(dim.size()));
  }
  return text + "]";
}

std::string QuotedText(const std::string& text) {
  if (!IsPrintable(text)) return fmt::format("({} bytes)", text.size());
  return "\"" + Shortened(text, 80) + "\"";
}

std::string TensorText(const proto::TensorProto& proto) {
  const std::string type = NumpyName(static_cast<DType>(proto.dtype()));
  const std::string shape = ShapeText(proto.tensor_shape());
  int64_t elements = 1;
  for (const auto& dim : proto.tensor_shape().dim()) {
    if (dim.size() > kFewElements) return fmt::format("{} {}", type, shape);
    elements *= std::max<int64_t>(dim.size(), 0);
    if (elements > kFewElements) return fmt::format("{} {}", type, shape);
  }
  try {
    return fmt::format("{} {} {}", type, shape,
                       Shortened(TensorFromProto(proto, 1 << 20).ToString(), 200));
  } catch (const Error&) {
    return fmt::format("{} {}", type, shape);
  }
}

template <typename Items, typename Fn>
std::string ListText(const Items& items, const Fn& text_of) {
  std::string text = "[";
  for (int i = 0; i < std::min<int>(items.size(), kListItems); ++i) {
    text += (i == 0 ? "" : ", ") + text_of(items[i]);
  }
  if (items.size() > kListItems) text += fmt::format(", ... {} in all", items.size());
  return text + "]";
}

std::string TypeText(int type) { return NumpyName(static_cast<DType>(type)); }

}  // namespace

std::string AttrText(const proto::AttrValue& value) {
  using Value = proto::AttrValue;
  switch (value.value_case()) {
    case Value::kS:
      return QuotedText(value.s());
    case Value::kI:
      return fmt::format("{}", value.i());
    case Value::kF:
      return fmt::format("{}", value.f());
    case Value::kB:
      return value.b() ? "true" : "false";
    case Value::kType:
      return TypeText(value.type());
    case Value::kShape:
      return ShapeText(value.shape());
    case Value::kTensor:
      return TensorText(value.tensor());
    case Value::kFunc:
      return value.func().name();
    case Value::kPlaceholder:
      return value.placeholder();
    case Value::kList:
      break;
    default:
      return "";
  }
  const auto& list = value.list();
  if (list.s_size() > 0) return ListText(list.s(), QuotedText);
  if (list.i_size() > 0) return ListText(list.i(), [](int64_t i) { return std::to_string(i); });
  if (list.f_size() > 0) return ListText(list.f(), [](float f) { return fmt::format("{}", f); });
  if (list.b_size() > 0) {
    return ListText(list.b(), [](bool b) { return std::string(b ? "true" : "false"); });
  }
  if (list.type_size() > 0) return ListText(list.type(), TypeText);
  if (list.shape_size() > 0) return ListText(list.shape(), ShapeText);
  if (list.func_size() > 0) {
    return ListText(list.func(), [](const auto& function) { return function.name(); });
  }
  return fmt::format("[{}]", list.tensor_size() > 0 ? "tensors" : "");
}

}  // namespace sextant

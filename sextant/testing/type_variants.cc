#include <algorithm>
#include <cmath>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/op_registry.h"
#include "sextant/testing/case_checks.h"
#include "sextant/testing/case_graph.h"
#include "sextant/testing/case_values.h"

namespace sextant::testing {
namespace {

// Results depend on the type itself, or on random bits drawn per type.
bool ComparesWithDouble(const OpDef& op) {
  return !op.stateful() && op.name() != "NextAfter" && !op.name().starts_with("Stateless");
}

bool Contains(const std::vector<DType>& types, DType type) {
  return std::ranges::count(types, type) > 0;
}

// Whether a kernel of the op claims the type for all of the attributes at once, and the op allows
// it.
bool IsClaimed(const OpDef& op, const std::vector<const AttrDef*>& attrs, DType type) {
  const auto allows = [&](const AttrDef* attr) {
    return attr->allowed_types.empty() || Contains(attr->allowed_types, type);
  };
  if (!std::ranges::all_of(attrs, allows)) return false;
  return std::ranges::any_of(KernelRegistry::Global().All(op.name()), [&](const KernelDef* kernel) {
    return std::ranges::all_of(kernel->types(), [&](const auto& constraint) {
      const bool applies = std::ranges::any_of(
          attrs, [&](const AttrDef* attr) { return attr->name == constraint.first; });
      return !applies || Contains(constraint.second, type);
    });
  });
}

// Integers are rounded away from zero, so that no divisor becomes zero.
double Representable(double value, DType type) {
  switch (type) {
    case DType::kBool:
      return value > 0;
    case DType::kFloat:
    case DType::kComplex64:
      return static_cast<float>(value);
    case DType::kHalf:
      return static_cast<float>(Half(static_cast<float>(value)));
    case DType::kBFloat16:
      return static_cast<float>(BFloat16(static_cast<float>(value)));
    case DType::kComplex128:
      return value;
    case DType::kUInt8:
    case DType::kUInt16:
    case DType::kUInt32:
    case DType::kUInt64:
      return std::ceil(std::abs(value));
    default:
      return std::copysign(std::ceil(std::abs(value)), value);
  }
}

Tensor Rounded(const Tensor& value, DType type) {
  Tensor result = value.Clone();
  for (double& x : result.flat<double>()) x = Representable(x, type);
  return result;
}

// REQUIRES: the values were Rounded to the type.
Tensor Converted(const Tensor& value, DType type) {
  std::vector<std::string> elements;
  for (const double x : value.flat<double>()) {
    elements.push_back(type == DType::kBool ? (x != 0 ? "true" : "false") : fmt::format("{}", x));
  }
  for (std::string& element : elements) {
    if (!IsFloating(type) && element.ends_with(".0")) element.resize(element.size() - 2);
  }
  return LiteralTensor(type, value.shape(), elements);
}

// Replaces every double input by f of it.
template <typename F>
void ReplaceDoubles(std::vector<CaseInput>& inputs, F&& f) {
  for (CaseInput& input : inputs) {
    if (input.value.dtype() == DType::kDouble) input.value = f(input.value);
    ReplaceDoubles(input.list, f);
  }
}

// The type attributes that are double in the case.
std::vector<const AttrDef*> DoubleAttrs(const OpCase& op_case, const OpDef& op) {
  std::vector<const AttrDef*> attrs;
  const CaseGraph graph(op_case, StaticShapes::kFull);
  for (const AttrDef& attr : op.attrs()) {
    if (attr.type == "type" && graph.node()->attr<DType>(attr.name) == DType::kDouble)
      attrs.push_back(&attr);
  }
  return attrs;
}

std::vector<Tensor> RunOnce(const OpCase& op_case) {
  const CaseGraph graph(op_case, StaticShapes::kFull);
  Session session(graph.node()->graph());
  return graph.Run(session, graph.outputs());
}

double At(const Tensor& tensor, int64_t i) { return ElementAsComplex(tensor, i).real(); }

std::string Compare(const std::vector<Tensor>& actual, const std::vector<Tensor>& expected,
                    DType type) {
  const double tolerance = type == DType::kFloat ? 2e-5 : type == DType::kHalf ? 1e-2 : 8e-2;
  for (size_t k = 0; k < expected.size(); ++k) {
    if (!(actual[k].shape() == expected[k].shape())) {
      return fmt::format("output {} is {}, in double {}", k, actual[k].Describe(),
                         expected[k].Describe());
    }
    if (expected[k].dtype() != DType::kDouble || !IsFloating(actual[k].dtype())) continue;
    double scale = 1;
    for (int64_t i = 0; i < expected[k].num_elements(); ++i) {
      if (std::isfinite(At(expected[k], i))) scale = std::max(scale, std::abs(At(expected[k], i)));
    }
    for (int64_t i = 0; i < expected[k].num_elements(); ++i) {
      const double a = At(actual[k], i), e = At(expected[k], i);
      if (a == e || (std::isnan(a) && std::isnan(e)) || std::abs(a - e) <= tolerance * scale)
        continue;
      return fmt::format("output {} at element {} is {}, in double {}", k, i, a, e);
    }
  }
  return "";
}

std::string CheckType(const OpCase& op_case, const OpDef& op, DType type) {
  OpCase reference = op_case;
  ReplaceDoubles(reference.call.inputs, [&](const Tensor& t) { return Rounded(t, type); });
  OpCase variant = reference;
  ReplaceDoubles(variant.call.inputs, [&](const Tensor& t) { return Converted(t, type); });
  for (auto& [name, value] : variant.call.attrs) {
    if (value.Is<DType>() && value.Get<DType>() == DType::kDouble) value = Attr(type);
  }
  const std::vector<Tensor> actual = RunOnce(variant);
  if (!IsFloating(type) || !ComparesWithDouble(op)) return "";
  return Compare(actual, RunOnce(reference), type);
}

}  // namespace

std::string CheckTypes(const OpCase& op_case) {
  static constexpr DType kOthers[] = {
      DType::kFloat,  DType::kHalf,  DType::kBFloat16,  DType::kInt8,      DType::kInt16,
      DType::kInt32,  DType::kInt64, DType::kUInt8,     DType::kUInt16,    DType::kUInt32,
      DType::kUInt64, DType::kBool,  DType::kComplex64, DType::kComplex128};
  const OpDef& op = *OpRegistry::Global().Find(op_case.call.op);
  const bool nested = std::ranges::any_of(op_case.call.inputs,
                                          [](const CaseInput& i) { return i.call != nullptr; });
  const std::vector<const AttrDef*> attrs = DoubleAttrs(op_case, op);
  if (nested || attrs.empty() || op.name() == "Bitcast") return "";
  for (const DType type : kOthers) {
    if (!IsClaimed(op, attrs, type)) continue;
    std::string problem;
    try {
      problem = CheckType(op_case, op, type);
    } catch (const Error& e) {
      // Values meant for reals may not suit other numbers.
      if (IsFloating(type) || e.code() != Code::kInvalidArgument) problem = e.what();
    }
    if (!problem.empty()) return fmt::format("{}: {}", DTypeName(type), problem);
  }
  return "";
}

}  // namespace sextant::testing

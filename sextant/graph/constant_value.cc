// What can be told of small integer tensors without running the graph. Elements are known or not
// one by one, so that a shape of which only some sizes are known still says something.
#include <algorithm>
#include <limits>

#include "sextant/graph/index_type.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

namespace {

using Element = std::optional<int64_t>;

// Shape vectors are short; what is longer is not worth following.
constexpr int64_t kMaxElements = 256;
// Nodes visited for one question. It bounds the cost of building a graph by a constant per node.
constexpr int kMaxVisits = 256;
constexpr int kMaxDepth = 32;

struct Ints {
  Shape shape;
  std::vector<Element> elements;

  bool known() const {
    return std::ranges::all_of(elements, [](const Element& e) { return e.has_value(); });
  }
};
using MaybeInts = std::optional<Ints>;

Ints Vector(std::vector<Element> elements) {
  return {Shape{static_cast<int64_t>(elements.size())}, std::move(elements)};
}

Element Arithmetic(const std::string& op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  if (op == "Add" || op == "AddV2") {
    overflow = __builtin_add_overflow(a, b, &result);
  } else if (op == "Sub") {
    overflow = __builtin_sub_overflow(a, b, &result);
  } else if (op == "Mul") {
    overflow = __builtin_mul_overflow(a, b, &result);
  } else if (op == "Maximum") {
    result = std::max(a, b);
  } else if (op == "Minimum") {
    result = std::min(a, b);
  } else {  // FloorDiv, FloorMod
    if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min())) return std::nullopt;
    const int64_t quotient = a / b - (a % b != 0 && (a < 0) != (b < 0));
    result = op == "FloorDiv" ? quotient : a - quotient * b;
  }
  return overflow ? Element() : Element(result);
}

bool IsArithmetic(const std::string& op) {
  return op == "Mul" || op == "AddV2" || op == "Add" || op == "Sub" || op == "FloorDiv" ||
         op == "FloorMod" || op == "Maximum" || op == "Minimum";
}

class IntEvaluator {
 public:
  MaybeInts Evaluate(Output output, int depth = 0) {
    if (!output || !IsIndex(output.dtype()) || --visits_ < 0 || depth > kMaxDepth) {
      return std::nullopt;
    }
    MaybeInts value = Compute(*output.node(), output.index(), depth + 1);
    if (value && static_cast<int64_t>(value->elements.size()) > kMaxElements) return std::nullopt;
    if (!value) value = Unknown(output.shape());
    if (value && output.dtype() == DType::kInt32) {  // what would wrap round is not known
      for (Element& e : value->elements) {
        if (e && *e != static_cast<int32_t>(*e)) e.reset();
      }
    }
    return value;
  }

 private:
  // A tensor of known shape, with nothing known of its elements.
  static MaybeInts Unknown(const PartialShape& shape) {
    if (!shape.fully_known() || shape.num_elements() > kMaxElements) return std::nullopt;
    const Shape known = shape.AsShape();
    return Ints{known, std::vector<Element>(known.num_elements())};
  }

  static MaybeInts OfConstant(const Node& node) {
    const Tensor& value = node.attr<Tensor>("value");
    if (!IsIndex(value.dtype()) || value.num_elements() > kMaxElements) return std::nullopt;
    const std::vector<int64_t> ints = value.AsInt64s();
    return Ints{value.shape(), {ints.begin(), ints.end()}};
  }

  static MaybeInts OfShape(const PartialShape& shape) {
    if (!shape.rank_known()) return std::nullopt;
    std::vector<Element> sizes;
    for (int64_t size : shape.dims()) {
      sizes.push_back(size == PartialShape::kUnknown ? Element() : Element(size));
    }
    return Vector(std::move(sizes));
  }

  MaybeInts Compute(const Node& node, int index, int depth) {
    const std::string& op = node.type();
    if (op == "Const") return OfConstant(node);
    if (node.num_inputs() == 0) return std::nullopt;
    if (op == "Shape" || op == "ShapeN") return OfShape(node.input(index).shape());
    if (op == "VariableShape") {  // values of variables have the declared shape
      const Output variable = node.input(0);
      const HandleShape* handle = variable.node()->output_handle(variable.index());
      return handle != nullptr ? OfShape(handle->shape) : std::nullopt;
    }
    if (op == "Size" || op == "Rank") {
      const PartialShape& shape = node.input(0).shape();
      if (!shape.rank_known()) return std::nullopt;
      const int64_t size = op == "Rank" ? shape.rank() : shape.num_elements();
      return Ints{Shape(), {size < 0 ? Element() : Element(size)}};
    }
    if (op == "Identity" || op == "StopGradient" || op == "PreventGradient" || op == "Snapshot" ||
        op == "EnsureShape" || (op == "Cast" && IsIndex(node.input(0).dtype()))) {
      return Evaluate(node.input(0), depth);
    }
    if (op == "IdentityN") return Evaluate(node.input(index), depth);
    if (op == "Reshape" || op == "ExpandDims" || op == "Squeeze") return Reshaped(node, depth);
    if (op == "Pack") return Pack(node, depth);
    if (op == "ConcatV2" || op == "Concat") return Concat(node, depth);
    if (op == "StridedSlice" || op == "Slice") return Slice(node, depth);
    if (op == "GatherV2" || op == "Gather") return Gather(node, depth);
    if (op == "Fill") return Fill(node, depth);
    if (op == "Range") return Range(node, depth);
    if (op == "Prod") return Product(node, depth);
    if (IsArithmetic(op)) return Binary(node, depth);
    return std::nullopt;
  }

  // The known elements of input i, all of them or nothing.
  std::optional<std::vector<int64_t>> Known(const Node& node, int i, int depth) {
    const MaybeInts value = Evaluate(node.input(i), depth);
    if (!value || !value->known()) return std::nullopt;
    std::vector<int64_t> result;
    for (const Element& e : value->elements) result.push_back(*e);
    return result;
  }

  MaybeInts Reshaped(const Node& node, int depth) {
    const PartialShape& shape = node.output_shape(0);
    MaybeInts value = Evaluate(node.input(0), depth);
    if (!value || !shape.fully_known() ||
        shape.num_elements() != static_cast<int64_t>(value->elements.size())) {
      return std::nullopt;
    }
    value->shape = shape.AsShape();
    return value;
  }

  MaybeInts Pack(const Node& node, int depth) {
    std::vector<Element> elements;
    for (Output input : node.inputs()) {
      const MaybeInts value = Evaluate(input, depth);
      if (value && value->shape.rank() != 0) return std::nullopt;
      if (!value && input.shape().rank_known() && input.shape().rank() != 0) return std::nullopt;
      elements.push_back(value ? value->elements[0] : Element());
    }
    return Vector(std::move(elements));
  }

  MaybeInts Concat(const Node& node, int depth) {
    const bool axis_last = node.type() == "ConcatV2";
    const int count = node.num_inputs() - 1;
    std::vector<Element> elements;
    for (int i = 0; i < count; ++i) {
      const MaybeInts value = Evaluate(node.input(axis_last ? i : i + 1), depth);
      if (!value || value->shape.rank() != 1) return std::nullopt;
      elements.insert(elements.end(), value->elements.begin(), value->elements.end());
    }
    return Vector(std::move(elements));
  }

  // Slices of vectors.
  MaybeInts Slice(const Node& node, int depth) {
    MaybeInts value = Evaluate(node.input(0), depth);
    if (!value || value->shape.rank() != 1) return std::nullopt;
    const auto begin = Known(node, 1, depth), extent = Known(node, 2, depth);
    if (!begin || !extent || begin->size() != 1 || extent->size() != 1) return std::nullopt;
    const int64_t size = value->elements.size();
    int64_t from = (*begin)[0], to = (*extent)[0], stride = 1;
    bool shrink = false;
    if (node.type() == "Slice") {
      if (from < 0 || from > size || to < -1) return std::nullopt;
      to = to == -1 ? size : from + std::min(to, size);
      if (to > size) return std::nullopt;
    } else {
      const auto strides = Known(node, 3, depth);
      const auto mask = [&](const char* name) { return node.attr<int64_t>(name); };
      if (!strides || strides->size() != 1 || (*strides)[0] == 0 || mask("new_axis_mask") != 0) {
        return std::nullopt;
      }
      if (mask("ellipsis_mask") != 0) return value;
      stride = (*strides)[0];
      shrink = mask("shrink_axis_mask") & 1;
      const auto clip = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + size : at, stride > 0 ? 0 : -1,
                                   stride > 0 ? size : size - 1);
      };
      if (shrink) {
        if (from < 0) from += size;
        if (from < 0 || from >= size) return std::nullopt;
        return Ints{Shape(), {value->elements[from]}};
      }
      from = mask("begin_mask") & 1 ? (stride > 0 ? 0 : size - 1) : clip(from);
      to = mask("end_mask") & 1 ? (stride > 0 ? size : -1) : clip(to);
    }
    std::vector<Element> elements;
    for (int64_t i = from; stride > 0 ? i < to : i > to; i += stride) {
      elements.push_back(value->elements[i]);
      if (stride > size || stride < -size) break;
    }
    return Vector(std::move(elements));
  }

  MaybeInts Gather(const Node& node, int depth) {
    const MaybeInts params = Evaluate(node.input(0), depth);
    const MaybeInts indices = Evaluate(node.input(1), depth);
    if (!params || params->shape.rank() != 1 || !indices || !indices->known()) return std::nullopt;
    Ints result{indices->shape, {}};
    for (const Element& i : indices->elements) {
      if (*i < 0 || *i >= params->shape[0]) return std::nullopt;
      result.elements.push_back(params->elements[*i]);
    }
    return result;
  }

  MaybeInts Fill(const Node& node, int depth) {
    const auto dims = Known(node, 0, depth);
    const MaybeInts value = Evaluate(node.input(1), depth);
    if (!dims || !value || value->elements.size() != 1) return std::nullopt;
    int64_t count = 1;
    for (int64_t size : *dims) {
      if (size < 0 || size > kMaxElements || (count *= size) > kMaxElements) return std::nullopt;
    }
    return Ints{Shape(*dims), std::vector<Element>(count, value->elements[0])};
  }

  MaybeInts Range(const Node& node, int depth) {
    const auto start = Known(node, 0, depth), limit = Known(node, 1, depth),
               delta = Known(node, 2, depth);
    if (!start || !limit || !delta || start->size() != 1 || limit->size() != 1 ||
        delta->size() != 1 || (*delta)[0] == 0) {
      return std::nullopt;
    }
    const int64_t step = (*delta)[0];
    std::vector<Element> elements;
    for (int64_t i = (*start)[0]; step > 0 ? i < (*limit)[0] : i > (*limit)[0];) {
      if (static_cast<int64_t>(elements.size()) == kMaxElements) return std::nullopt;
      elements.push_back(i);
      if (__builtin_add_overflow(i, step, &i)) return std::nullopt;
    }
    return Vector(std::move(elements));
  }

  // Of all elements of a vector.
  MaybeInts Product(const Node& node, int depth) {
    const MaybeInts value = Evaluate(node.input(0), depth);
    const auto axes = Known(node, 1, depth);
    if (!value || !value->known() || value->shape.rank() != 1 || !axes || axes->size() != 1) {
      return std::nullopt;
    }
    Element product = 1;
    for (const Element& e : value->elements) {
      if (product) product = Arithmetic("Mul", *product, *e);
    }
    return Ints{node.attr<bool>("keep_dims") ? Shape{1} : Shape(), {product}};
  }

  MaybeInts Binary(const Node& node, int depth) {
    const MaybeInts a = Evaluate(node.input(0), depth), b = Evaluate(node.input(1), depth);
    if (!a || !b) return std::nullopt;
    const bool same = a->shape == b->shape, spread_a = a->elements.size() == 1,
               spread_b = b->elements.size() == 1;
    if (!same && !(spread_a && a->shape.rank() <= b->shape.rank()) &&
        !(spread_b && b->shape.rank() <= a->shape.rank())) {
      return std::nullopt;
    }
    Ints result = same || spread_b ? *a : *b;
    for (size_t i = 0; i < result.elements.size(); ++i) {
      const Element left = a->elements[same || !spread_a ? i : 0];
      const Element right = b->elements[same || !spread_b ? i : 0];
      result.elements[i] = left && right ? Arithmetic(node.type(), *left, *right) : Element();
    }
    return result;
  }

  int visits_ = kMaxVisits;
};

Tensor ToTensor(const Ints& value, DType dtype) {
  Tensor tensor(dtype, value.shape);
  for (size_t i = 0; i < value.elements.size(); ++i) {
    if (dtype == DType::kInt32) {
      tensor.data<int32_t>()[i] = static_cast<int32_t>(*value.elements[i]);
    } else {
      tensor.data<int64_t>()[i] = *value.elements[i];
    }
  }
  return tensor;
}

}  // namespace

std::optional<Tensor> ConstantValue(Output output) {
  if (!output) return std::nullopt;
  const Node* node = output.node();
  for (int i = 0; i < kMaxDepth && node->type() == "Identity"; ++i) node = node->input(0).node();
  if (node->type() == "Const") return node->attr<Tensor>("value");
  const MaybeInts value = IntEvaluator().Evaluate(output);
  if (!value || !value->known()) return std::nullopt;
  return ToTensor(*value, output.dtype());
}

PartialShape ConstantValueAsShape(Output output) {
  const MaybeInts value = IntEvaluator().Evaluate(output);
  if (!value) return PartialShape();
  if (value->shape.rank() == 0) {  // a scalar -1 stands for a shape of unknown rank
    if (value->elements[0] && *value->elements[0] != -1) {
      throw InvalidArgument("{} is the scalar {}, not a shape", output.name(), *value->elements[0]);
    }
    return PartialShape();
  }
  if (value->shape.rank() != 1) {
    throw InvalidArgument("{} of shape {} is no vector of sizes", output.name(),
                          value->shape.ToString());
  }
  PartialShape shape = PartialShape::UnknownOfRank(
      static_cast<int>(std::min<int64_t>(value->shape[0], kMaxRank + 1)));
  for (int i = 0; i < shape.rank(); ++i) {
    const Element& size = value->elements[i];
    if (!size) continue;
    if (*size < -1) throw InvalidArgument("{} has the size {}", output.name(), *size);
    shape.set_dim(i, *size);
  }
  return shape;
}

}  // namespace sextant

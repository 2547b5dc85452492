#include "sextant/cli/numpy_array.h"

#include <cmath>
#include <map>
#include <optional>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant::cli {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 30;

bool IsText(DType dtype) { return dtype == DType::kString; }
bool IsReal(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
         dtype == DType::kBFloat16;
}

// The arguments of one call, by position or name.
class Call {
 public:
  Call(std::string function, const NumpyArguments& arguments, std::vector<std::string> names)
      : function_(std::move(function)) {
    if (arguments.positional.size() > names.size()) {
      throw InvalidArgument("{} takes at most {} arguments", function_, names.size());
    }
    for (size_t i = 0; i < arguments.positional.size(); ++i) {
      values_[names[i]] = arguments.positional[i];
    }
    for (const auto& [name, value] : arguments.named) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        throw InvalidArgument("{} has no argument '{}'", function_, name);
      }
      values_[name] = value;
    }
  }

  bool Has(const std::string& name) const { return values_.contains(name); }
  const PythonLiteral& Get(const std::string& name) const {
    const auto value = values_.find(name);
    if (value == values_.end()) throw InvalidArgument("{} needs '{}'", function_, name);
    return value->second;
  }
  Shape GetShape(const std::string& name) const {
    const Tensor sizes = ArrayOf(Get(name));
    const bool empty = sizes.num_elements() == 0;
    if (!empty && (sizes.dtype() != DType::kInt64 || sizes.rank() > 1)) {
      throw InvalidArgument("{}: '{}' is not a shape", function_, name);
    }
    std::vector<int64_t> dims = empty ? std::vector<int64_t>{} : sizes.AsInt64s();
    int64_t count = 1;
    for (const int64_t dim : dims) {
      if (dim < 0) throw InvalidArgument("{}: the shape has a size of {}", function_, dim);
      if (dim > 0 && count > kMaxElements / dim) {
        throw InvalidArgument("{}: the shape has more than {} elements", function_, kMaxElements);
      }
      count *= dim;
    }
    return Shape(dims);
  }
  // The argument "dtype", or the fallback.
  DType GetDType(DType fallback) const {
    if (!Has("dtype")) return fallback;
    const auto* name = std::get_if<std::string>(&Get("dtype"));
    const DType dtype = name == nullptr ? DType::kInvalid : NumpyDType(*name);
    if (dtype == DType::kInvalid) throw InvalidArgument("{}: 'dtype' is not a type", function_);
    return dtype;
  }
  double GetNumber(const std::string& name) const {
    const PythonLiteral& value = Get(name);
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    throw InvalidArgument("{}: '{}' is {}, not a number", function_, name, KindName(value));
  }

 private:
  const std::string function_;
  std::map<std::string, PythonLiteral> values_;
};

// A scalar repeated.
Tensor Filled(const Tensor& value, const Shape& shape) {
  Tensor filled(value.dtype(), shape);
  for (int64_t i = 0; i < shape.num_elements(); ++i) {
    if (value.dtype() == DType::kString) {
      filled.data<std::string>()[i] = value.scalar<std::string>();
    } else {
      const size_t size = DTypeSize(value.dtype());
      std::memcpy(static_cast<char*>(filled.raw_data()) + i * size, value.raw_data(), size);
    }
  }
  return filled;
}

Tensor Arange(const Call& call, bool only_stop) {
  const bool real = [&] {
    for (const char* name : {"start", "stop", "step"}) {
      if (call.Has(name) && std::holds_alternative<double>(call.Get(name))) return true;
    }
    return false;
  }();
  const double first = only_stop ? 0 : call.GetNumber("start");
  const double stop = only_stop ? call.GetNumber("start") : call.GetNumber("stop");
  const double step = call.Has("step") ? call.GetNumber("step") : 1;
  if (step == 0 || !std::isfinite(first) || !std::isfinite(stop) || !std::isfinite(step)) {
    throw InvalidArgument("np.arange from {} to {} by {} has no end", first, stop, step);
  }
  const double count = std::max(0.0, std::ceil((stop - first) / step));
  if (count > kMaxElements) throw InvalidArgument("np.arange would make {} numbers", count);
  Tensor values(real ? DType::kDouble : DType::kInt64, Shape{static_cast<int64_t>(count)});
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    const double value = first + static_cast<double>(i) * step;
    if (real) {
      values.data<double>()[i] = value;
    } else {
      values.data<int64_t>()[i] = static_cast<int64_t>(value);
    }
  }
  return Converted(values, call.GetDType(values.dtype()));
}

// Rows of arrays of one type and shape.
Tensor Stacked(std::vector<Tensor> rows) {
  if (rows.empty()) return Tensor(DType::kDouble, Shape{0});
  const bool real = std::any_of(rows.begin(), rows.end(),
                                [](const Tensor& row) { return row.dtype() == DType::kDouble; });
  for (Tensor& row : rows) {
    if (real && row.dtype() == DType::kInt64) row = Converted(row, DType::kDouble);
    if (row.dtype() != rows[0].dtype()) {
      throw InvalidArgument("a list has items of {} and {}", DTypeName(rows[0].dtype()),
                            DTypeName(row.dtype()));
    }
    if (!(row.shape() == rows[0].shape())) {
      throw InvalidArgument("a list has items of the shapes {} and {}", rows[0].shape().ToString(),
                            row.shape().ToString());
    }
  }
  std::vector<int64_t> dims = {static_cast<int64_t>(rows.size())};
  for (int i = 0; i < rows[0].rank(); ++i) dims.push_back(rows[0].dim(i));
  Tensor stacked(rows[0].dtype(), Shape(dims));
  const int64_t count = rows[0].num_elements();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (IsText(stacked.dtype())) {
      std::copy_n(rows[i].data<std::string>(), count, stacked.data<std::string>() + i * count);
    } else if (count > 0) {
      std::memcpy(static_cast<char*>(stacked.raw_data()) + i * rows[i].bytes(), rows[i].raw_data(),
                  rows[i].bytes());
    }
  }
  return stacked;
}

// By the op that does this in graphs.
Tensor Cast(const Tensor& tensor, DType dtype) {
  Graph graph;
  const GraphScope scope(graph);
  const Output value = OpBuilder("Placeholder").Attr("dtype", tensor.dtype()).Build();
  const Output cast = OpBuilder("Cast").Input(value).Attr("DstT", dtype).Build();
  Session session(graph);
  return session.Run({{value, tensor}}, cast);
}

}  // namespace

Tensor NumpyArray(const std::string& function, const NumpyArguments& arguments) {
  const std::string name = "np." + function;
  if (function == "zeros" || function == "ones") {
    const Call call(name, arguments, {"shape", "dtype"});
    const Shape shape = call.GetShape("shape");
    const DType dtype = call.GetDType(DType::kDouble);
    if (function == "zeros") return Tensor::Zeros(dtype, shape);
    return Filled(Converted(Tensor(int64_t{1}), dtype), shape);
  }
  if (function == "full") {
    const Call call(name, arguments, {"shape", "fill_value", "dtype"});
    const Tensor value = ArrayOf(call.Get("fill_value"));
    if (value.rank() != 0) throw InvalidArgument("np.full: 'fill_value' is not a single value");
    return Filled(Converted(value, call.GetDType(value.dtype())), call.GetShape("shape"));
  }
  if (function == "arange") {
    const Call call(name, arguments, {"start", "stop", "step", "dtype"});
    return Arange(call, !call.Has("stop"));
  }
  if (function == "array" || function == "asarray") {
    const Call call(name, arguments, {"object", "dtype"});
    const Tensor value = ArrayOf(call.Get("object"));
    return Converted(value, call.GetDType(value.dtype()));
  }
  if (NumpyDType(function) != DType::kInvalid) {  // np.float32(1.5)
    const Call call(name, arguments, {"object"});
    return Converted(ArrayOf(call.Get("object")), NumpyDType(function));
  }
  throw InvalidArgument(
      "the function np.{} is not known; there are np.zeros, ones, full, arange and array",
      function);
}

Tensor NumpyMethod(const std::string& method, const Tensor& array,
                   const NumpyArguments& arguments) {
  if (method == "astype") {
    const Call call("astype", arguments, {"dtype"});
    return Converted(array, call.GetDType(array.dtype()));
  }
  if (method != "reshape") {
    throw InvalidArgument("the method .{} is not known; there are .reshape and .astype", method);
  }
  std::vector<int64_t> dims;
  for (const PythonLiteral& argument : arguments.positional) {
    for (const int64_t dim : ArrayOf(argument).AsInt64s()) dims.push_back(dim);
  }
  int64_t known = 1;
  for (const int64_t dim : dims) {
    if (dim > 0 && __builtin_mul_overflow(known, dim, &known)) {
      throw InvalidArgument(".reshape: the shape has too many elements");
    }
    if (dim == 0) known = 0;
  }
  for (int64_t& dim : dims) {
    if (dim == -1 && known > 0) dim = array.num_elements() / known;
    if (dim < 0) throw InvalidArgument(".reshape has a size of {}", dim);
  }
  return array.Reshaped(Shape(dims));
}

DType NumpyDType(std::string_view name) {
  static const std::map<std::string_view, DType> kTypes = {{"float16", DType::kHalf},
                                                           {"float32", DType::kFloat},
                                                           {"float64", DType::kDouble},
                                                           {"float", DType::kDouble},
                                                           {"double", DType::kDouble},
                                                           {"half", DType::kHalf},
                                                           {"single", DType::kFloat},
                                                           {"int8", DType::kInt8},
                                                           {"int16", DType::kInt16},
                                                           {"int32", DType::kInt32},
                                                           {"int64", DType::kInt64},
                                                           {"int", DType::kInt64},
                                                           {"uint8", DType::kUInt8},
                                                           {"uint16", DType::kUInt16},
                                                           {"uint32", DType::kUInt32},
                                                           {"uint64", DType::kUInt64},
                                                           {"bool", DType::kBool},
                                                           {"bool_", DType::kBool},
                                                           {"str", DType::kString},
                                                           {"object", DType::kString},
                                                           {"bytes_", DType::kString},
                                                           {"complex64", DType::kComplex64},
                                                           {"complex128", DType::kComplex128},
                                                           {"f2", DType::kHalf},
                                                           {"f4", DType::kFloat},
                                                           {"f8", DType::kDouble},
                                                           {"i1", DType::kInt8},
                                                           {"i2", DType::kInt16},
                                                           {"i4", DType::kInt32},
                                                           {"i8", DType::kInt64},
                                                           {"u1", DType::kUInt8},
                                                           {"u2", DType::kUInt16},
                                                           {"u4", DType::kUInt32},
                                                           {"u8", DType::kUInt64}};
  if (name.starts_with('<') || name.starts_with('|')) name.remove_prefix(1);
  const auto found = kTypes.find(name);
  return found == kTypes.end() ? DType::kInvalid : found->second;
}

Tensor ArrayOf(const PythonLiteral& value) {
  return std::visit(
      [&]<typename T>(const T& v) -> Tensor {
        if constexpr (std::is_same_v<T, Tensor>) {
          return v;
        } else if constexpr (std::is_same_v<T, std::shared_ptr<PythonList>>) {
          std::vector<Tensor> rows;
          for (const PythonLiteral& item : v->items) rows.push_back(ArrayOf(item));
          return Stacked(std::move(rows));
        } else if constexpr (std::is_same_v<T, std::monostate> ||
                             std::is_same_v<T, std::shared_ptr<PythonDict>>) {
          throw InvalidArgument("{} is not an array", KindName(value));
        } else {
          return Tensor(v);
        }
      },
      value);
}

std::string KindName(const PythonLiteral& value) {
  constexpr const char* kNames[] = {"None",     "a bool",   "an integer", "a number",
                                    "a string", "an array", "a list",     "a dictionary"};
  return kNames[value.index()];
}

Tensor Converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype() == dtype) return tensor;
  if (tensor.num_elements() == 0) return Tensor(dtype, tensor.shape());
  if (IsText(tensor.dtype()) != IsText(dtype)) {
    throw InvalidArgument("{} cannot be taken for {}", tensor.Describe(), DTypeName(dtype));
  }
  Tensor cast = Cast(tensor, dtype);
  if (!IsReal(dtype) && dtype != DType::kBool && !Cast(cast, tensor.dtype()).Identical(tensor)) {
    throw InvalidArgument("a number of {} cannot be represented as {}", tensor.Describe(),
                          DTypeName(dtype));
  }
  return cast;
}

}  // namespace sextant::cli

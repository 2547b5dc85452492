#include "sextant/runtime/sample_inputs.h"

#include <algorithm>
#include <string_view>

#include "sextant/base/error.h"
#include "sextant/formats/example_builder.h"
#include "sextant/graph/function.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// Larger features are left out: the sample is then one that the model does not take.
constexpr int64_t kMostValues = int64_t{1} << 20;

// Whether the op gives its first input as it is, or in another shape.
bool PassesOn(std::string_view op) {
  return op == "Identity" || op == "ExpandDims" || op == "Reshape" || op == "Squeeze";
}

// A node that reads a tensor, and as which of its inputs.
struct Reader {
  const Node* node;
  int input;
};

// Those that read the tensor, directly or passed on.
std::vector<Reader> ReadersOf(const Graph& graph, Output tensor) {
  std::vector<Output> same = {tensor};
  std::vector<Reader> readers;
  for (size_t i = 0; i < same.size(); ++i) {
    for (int id = 0; id < graph.num_nodes(); ++id) {
      const Node* node = graph.node(id);
      for (int k = 0; k < node->num_inputs(); ++k) {
        if (node->input(k) != same[i]) continue;
        if (k == 0 && PassesOn(node->type())) {
          same.push_back(node->output(0));
        } else {
          readers.push_back({node, k});
        }
      }
    }
  }
  return readers;
}

// The body of the function that the node calls with its inputs; null when it calls none.
std::shared_ptr<const FunctionBody> CalledBody(const Node& node, const FunctionLibrary& library) {
  if (node.type() == "PartitionedCall" || node.type() == "StatefulPartitionedCall") {
    const auto& called = node.attr<FuncAttr>("f");
    const Function* function = library.Find(called.name);
    if (function == nullptr) return nullptr;
    return function->Instantiate(library, called.attrs ? *called.attrs : AttrMap());
  }
  const Function* function = library.Find(node.type());
  return function == nullptr ? nullptr : function->Instantiate(library, node.attrs());
}

// The names in constant scalars or vectors.
std::vector<std::string> ConstantNames(std::span<const Output> tensors) {
  std::vector<std::string> names;
  for (const Output& tensor : tensors) {
    const std::optional<Tensor> value = ConstantValue(tensor);
    if (!value || value->dtype() != DType::kString) continue;
    for (const std::string& name : value->flat<std::string>()) names.push_back(name);
  }
  return names;
}

std::string SampleExample(const Node& parser) {
  const auto keys = parser.type() == "ParseSingleExample"
                        ? parser.attr<std::vector<std::string>>("dense_keys")
                        : ConstantNames(parser.inputs("dense_keys"));
  const auto& types = parser.attr<std::vector<DType>>("Tdense");
  const auto& shapes = parser.attr<std::vector<PartialShape>>("dense_shapes");
  ExampleBuilder example;
  for (size_t i = 0; i < std::min({keys.size(), types.size(), shapes.size()}); ++i) {
    int64_t count = 1;
    for (int k = 0; shapes[i].rank_known() && k < shapes[i].rank(); ++k) {
      if (shapes[i].dim(k) >= 0) count = std::min(kMostValues + 1, count * shapes[i].dim(k));
    }
    if (count > kMostValues) continue;
    if (types[i] == DType::kFloat) {
      example.Floats(keys[i], std::vector<float>(count));
    } else if (types[i] == DType::kInt64) {
      example.Int64s(keys[i], std::vector<int64_t>(count));
    } else {
      example.Bytes(keys[i], std::vector<std::string>(count));
    }
  }
  return example.Serialize();
}

// "0" in columns that need a value, nothing where a default stands.
std::string SampleLine(const Node& decoder) {
  const auto defaults = decoder.inputs("record_defaults");
  auto columns = decoder.attr<std::vector<int64_t>>("select_cols");
  for (size_t i = 0; columns.size() < defaults.size(); ++i) {
    columns.push_back(static_cast<int64_t>(i));
  }
  std::vector<std::string> fields;
  for (size_t i = 0; i < defaults.size(); ++i) {
    if (columns[i] < 0 || columns[i] >= kMostValues) continue;
    fields.resize(std::max<size_t>(fields.size(), columns[i] + 1));
    const std::optional<Tensor> value = ConstantValue(defaults[i]);
    if (!value || value->num_elements() == 0) fields[columns[i]] = "0";
  }
  std::string line;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) line += decoder.attr<std::string>("field_delim");
    line += fields[i];
  }
  return line;
}

// Exports of TensorFlow 2 parse inside of functions that call each other.
std::string SampleTextOf(const Graph& graph, const FunctionLibrary& library, Output input,
                         int depth) {
  constexpr int kMostCalls = 16;
  for (const Reader& reader : ReadersOf(graph, input)) {
    const std::string& op = reader.node->type();
    if (op == "ParseExample" || op == "ParseExampleV2" || op == "ParseSingleExample") {
      if (reader.input == 0) return SampleExample(*reader.node);
    } else if (op == "DecodeCSV") {
      if (reader.input == 0) return SampleLine(*reader.node);
    } else if (depth < kMostCalls) {
      const auto body = CalledBody(*reader.node, library);
      if (body == nullptr || reader.input >= static_cast<int>(body->args.size())) continue;
      std::string text = SampleTextOf(*body->graph, library, body->args[reader.input], depth + 1);
      if (!text.empty()) return text;
    }
  }
  return "";
}

}  // namespace

std::string SampleText(const Graph& graph, Output input) try {
  return SampleTextOf(graph, graph.functions(), input, 0);
} catch (const Error&) {  // of a function that cannot be made out; a run will say so
  return "";
}

std::optional<std::vector<Tensor>> SampleInputs(const Signature& signature, const Graph& graph,
                                                int64_t rows) {
  std::vector<Tensor> inputs;
  for (const auto& [key, tensor] : signature.inputs()) {
    if (!tensor.shape.rank_known()) return std::nullopt;
    std::vector<int64_t> dims(tensor.shape.dims().begin(), tensor.shape.dims().end());
    if (!dims.empty() && dims[0] < 0) dims[0] = rows;
    if (std::ranges::any_of(dims, [](int64_t size) { return size < 0; })) return std::nullopt;
    Tensor& value = inputs.emplace_back(Tensor::Zeros(tensor.dtype, Shape(dims)));
    if (tensor.dtype != DType::kString) continue;
    std::ranges::fill(value.flat<std::string>(), SampleText(graph, graph.FindOutput(tensor.name)));
  }
  return inputs;
}

}  // namespace sextant

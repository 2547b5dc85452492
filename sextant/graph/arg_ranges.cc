#include "sextant/graph/arg_ranges.h"

namespace sextant {

int64_t NumTensors(const Node& node, const ArgDef& arg) {
  if (!arg.type_list_attr.empty()) {
    return static_cast<int64_t>(node.attr<std::vector<DType>>(arg.type_list_attr).size());
  }
  return arg.number_attr.empty() ? 1 : node.attr<int64_t>(arg.number_attr);
}

ArgRange OutputRange(const Node& node, std::string_view argument) {
  int begin = 0;
  for (const ArgDef& arg : node.op().outputs()) {
    const int count = static_cast<int>(NumTensors(node, arg));
    if (arg.name == argument) return {begin, count};
    begin += count;
  }
  throw InvalidArgument("[{} {}] has no output '{}'", node.type(), node.name(), argument);
}

std::string OutputReference(const Node& node, int output) {
  int begin = 0;
  for (const ArgDef& arg : node.op().outputs()) {
    const int count = static_cast<int>(NumTensors(node, arg));
    if (output < begin + count) return fmt::format("{}:{}", arg.name, output - begin);
    begin += count;
  }
  throw InvalidArgument("[{} {}] has no output {}", node.type(), node.name(), output);
}

std::vector<DType> InputTypes(const Node& node) {
  std::vector<DType> types;
  for (const ArgDef& arg : node.op().inputs()) {
    if (!arg.type_list_attr.empty()) {
      const auto& list = node.attr<std::vector<DType>>(arg.type_list_attr);
      types.insert(types.end(), list.begin(), list.end());
    } else {
      const DType type = arg.type_attr.empty() ? arg.type : node.attr<DType>(arg.type_attr);
      types.insert(types.end(), NumTensors(node, arg), arg.is_ref ? MakeRef(type) : type);
    }
  }
  types.resize(node.num_inputs(), DType::kInvalid);
  return types;
}

}  // namespace sextant

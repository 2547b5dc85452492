#include "sextant/estimator/serving_input.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/parsing/decode_csv.h"

namespace sextant {
namespace {

const PartialShape kVector({-1});

std::vector<data::CsvColumn> Without(std::vector<data::CsvColumn> columns,
                                     const std::vector<std::string>& leave_out) {
  for (const std::string& name : leave_out) {
    if (std::erase_if(columns, [&](const data::CsvColumn& c) { return c.name == name; }) == 0) {
      throw InvalidArgument("a serving input leaves out column '{}', which is not there", name);
    }
  }
  if (columns.empty()) throw InvalidArgument("a serving input needs at least one column");
  return columns;
}

}  // namespace

ServingInputFn ParsingReceiver(ParseSpec spec, std::string input) {
  if (spec.empty()) throw InvalidArgument("a parsing receiver needs at least one feature");
  return [spec = std::move(spec), input = std::move(input)] {
    const Output examples = Placeholder(DType::kString, kVector, "input_example_tensor");
    return ServingInputReceiver{.features = ParseExamples(examples, spec),
                                .receiver_tensors = {{input, examples}}};
  };
}

ServingInputFn RawReceiver(std::vector<RawFeature> features) {
  if (features.empty()) throw InvalidArgument("a raw receiver needs at least one feature");
  return [features = std::move(features)] {
    ServingInputReceiver receiver;
    for (const RawFeature& feature : features) {
      const Output placeholder = Placeholder(feature.dtype, feature.shape, feature.name);
      receiver.features.Set(feature.name, placeholder);
      receiver.receiver_tensors.emplace_back(feature.name, placeholder);
    }
    return receiver;
  };
}

ServingInputFn CsvReceiver(std::vector<data::CsvColumn> columns, std::vector<std::string> leave_out,
                           std::string input) {
  columns = Without(std::move(columns), leave_out);
  return [columns = std::move(columns), input = std::move(input)] {
    const Output rows = Placeholder(DType::kString, kVector, input);
    std::vector<Output> defaults;
    for (const data::CsvColumn& column : columns) {
      // A default without elements: the column must not be empty.
      defaults.push_back(Const(column.default_value ? column.default_value->Reshaped(Shape{1})
                                                    : Tensor(column.dtype, Shape{0})));
    }
    const std::vector<Output> fields = DecodeCSV(rows, defaults);
    ServingInputReceiver receiver;
    for (size_t i = 0; i < columns.size(); ++i) {
      receiver.features.Set(columns[i].name, ExpandDims(fields[i], -1));
    }
    receiver.receiver_tensors = {{input, rows}};
    return receiver;
  };
}

ServingInputFn JsonReceiver(std::vector<data::CsvColumn> columns,
                            std::vector<std::string> leave_out) {
  columns = Without(std::move(columns), leave_out);
  return [columns = std::move(columns)] {
    ServingInputReceiver receiver;
    for (const data::CsvColumn& column : columns) {
      receiver.receiver_tensors.emplace_back(column.name, Placeholder(column.dtype, kVector));
    }
    for (const auto& [name, placeholder] : receiver.receiver_tensors) {
      receiver.features.Set(name, ExpandDims(placeholder, -1));
    }
    return receiver;
  };
}

}  // namespace sextant

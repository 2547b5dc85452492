#include "sextant/estimator/serving_input.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/formats/csv_field.h"
#include "sextant/formats/example_builder.h"
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

const Tensor& FeatureOf(const data::Element& row, const std::string& name, DType dtype) {
  const Tensor* value = row.Find(name);
  if (value == nullptr || value->dtype() != dtype) {
    throw InvalidArgument("the row has no {} '{}': {}", DTypeName(dtype), name, row.Describe());
  }
  return *value;
}

// The features of a row as a serialized Example.
std::string ExampleOf(const data::Element& row, const ParseSpec& spec) {
  ExampleBuilder builder;
  for (const ParseFeature& feature : spec) {
    if (!row.Has(feature.key) && (feature.sparse || feature.default_value)) continue;
    const Tensor& value = FeatureOf(row, feature.key, feature.dtype);
    if (feature.dtype == DType::kFloat) builder.Floats(feature.key, value.flat<float>());
    if (feature.dtype == DType::kInt64) builder.Int64s(feature.key, value.flat<int64_t>());
    if (feature.dtype == DType::kString) builder.Bytes(feature.key, value.flat<std::string>());
  }
  return builder.Serialize();
}

// A field of CSV that is read as this value.
std::string FieldOf(const Tensor& value) {
  switch (value.dtype()) {
    case DType::kString:
      return CsvField(value.flat<std::string>()[0]);
    case DType::kFloat:
      return fmt::format("{}", value.flat<float>()[0]);
    case DType::kDouble:
      return fmt::format("{}", value.flat<double>()[0]);
    case DType::kInt32:
      return fmt::format("{}", value.flat<int32_t>()[0]);
    default:
      return fmt::format("{}", value.flat<int64_t>()[0]);
  }
}

std::string LineOf(const data::Element& row, const std::vector<data::CsvColumn>& columns) {
  std::string line;
  for (const data::CsvColumn& column : columns) {
    if (&column != &columns.front()) line += ',';
    // What no feature is made of has its default, as an empty field does.
    if (!row.Has(column.name) && column.default_value) continue;
    const Tensor& value = FeatureOf(row, column.name, column.dtype);
    if (value.num_elements() != 1) {
      throw InvalidArgument("column '{}' holds one value, not {}", column.name, value.Describe());
    }
    const std::string field = FieldOf(value);
    if (field.empty() && !column.default_value) {
      throw InvalidArgument("column '{}' has no default, so that it cannot be empty", column.name);
    }
    line += field;
  }
  return line;
}

}  // namespace

ServingInputFn ParsingReceiver(ParseSpec spec, std::string input) {
  if (spec.empty()) throw InvalidArgument("a parsing receiver needs at least one feature");
  return [spec = std::move(spec), input = std::move(input)] {
    const Output examples = Placeholder(DType::kString, kVector, "input_example_tensor");
    return ServingInputReceiver{
        .features = ParseExamples(examples, spec),
        .receiver_tensors = {{input, examples}},
        .request_of = [spec, input](const data::Element& row) {
          return RequestTensors{{input, Tensor::Of<std::string>({ExampleOf(row, spec)})}};
        }};
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
    receiver.request_of = [columns, input](const data::Element& row) {
      return RequestTensors{{input, Tensor::Of<std::string>({LineOf(row, columns)})}};
    };
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

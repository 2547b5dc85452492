#include "sextant/estimator/warm_up_requests.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/formats/wire_writer.h"

namespace sextant {
namespace {

// An integer feature as the reals that an export takes for it: JSON has one kind of number.
Tensor AsReals(const Tensor& value, DType dtype) {
  Tensor reals(dtype, value.shape());
  const auto copy = [&]<typename From, typename To>(const From* from, To* to) {
    std::transform(from, from + value.num_elements(), to, [](From x) { return To(x); });
  };
  const auto copy_from = [&]<typename To>(To* to) {
    if (value.dtype() == DType::kInt32) return copy(value.data<int32_t>(), to);
    copy(value.data<int64_t>(), to);
  };
  if (dtype == DType::kFloat) {
    copy_from(reals.data<float>());
  } else {
    copy_from(reals.data<double>());
  }
  return reals;
}

bool BecomesReals(DType dtype, DType wanted) {
  return (dtype == DType::kInt32 || dtype == DType::kInt64) &&
         (wanted == DType::kFloat || wanted == DType::kDouble);
}

// The placeholders' values are features of their names, of one shape or another.
RequestTensors RequestByNames(const ModelGraph& model, const data::Element& row) {
  RequestTensors request;
  for (const auto& [name, placeholder] : model.receiver_tensors) {
    const Tensor* value = row.Find(name);
    Tensor reals;
    if (value != nullptr && BecomesReals(value->dtype(), placeholder.dtype())) {
      value = &(reals = AsReals(*value, placeholder.dtype()));
    }
    if (value == nullptr || value->dtype() != placeholder.dtype()) {
      throw InvalidArgument("the input of the evaluation gives no {} '{}', which the export takes",
                            DTypeName(placeholder.dtype()), name);
    }
    const PartialShape& wanted = placeholder.shape();
    std::vector<int64_t> dims;
    if (wanted.rank_known()) dims.assign(wanted.dims().begin(), wanted.dims().end());
    if (!dims.empty()) dims[0] = 1;
    const bool known = std::none_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; });
    const bool other = known && !wanted.CompatibleWith(value->shape()) &&
                       Shape(dims).num_elements() == value->num_elements();
    request.emplace_back(name, other ? value->Reshaped(Shape(dims)) : *value);
  }
  return request;
}

// The same request by the names that the signature has for its inputs.
RequestTensors Renamed(const ModelGraph& model, const SignatureSpec& signature,
                       const RequestTensors& request) {
  RequestTensors renamed;
  for (const auto& [key, input] : signature.inputs) {
    for (const auto& [name, placeholder] : model.receiver_tensors) {
      if (!(placeholder == input)) continue;
      const auto value =
          std::find_if(request.begin(), request.end(),
                       [&name = name](const auto& entry) { return entry.first == name; });
      if (value != request.end()) renamed.emplace_back(key, value->second);
    }
  }
  return renamed;
}

// PredictionLog { predict_log = 6 { request = 1 { model_spec = 1, inputs = 2 } } }. The messages
// of serving are in libraries that exporters do not load.
std::string PredictionLogOf(const std::string& model, const std::string& signature,
                            const RequestTensors& inputs) {
  std::string spec, request, log, record;
  AppendWireBytes(1, model, &spec);
  AppendWireBytes(3, signature, &spec);
  AppendWireBytes(1, spec, &request);
  for (const auto& [key, tensor] : inputs) {
    std::string entry, bytes;
    AppendTensorWire(tensor, &bytes);
    AppendWireBytes(1, key, &entry);
    AppendWireBytes(2, bytes, &entry);
    AppendWireBytes(2, entry, &request);
  }
  AppendWireBytes(1, request, &log);
  AppendWireBytes(6, log, &record);
  return record;
}

}  // namespace

std::vector<data::Element> WarmUpRows(const InputFn& input_fn, int64_t count) {
  const Input input = input_fn();
  if (input.build()) {
    throw InvalidArgument("warm-up requests are made of a Dataset, but the input is made of nodes");
  }
  std::vector<data::Element> rows;
  const auto iterator = input.dataset().MakeIterator();
  data::Element batch;
  while (static_cast<int64_t>(rows.size()) < count && iterator->Next(&batch)) {
    for (const std::string& label : input.labels()) batch.Erase(label);
    int64_t size = -1;
    for (const auto& [name, value] : batch.fields()) {
      const int64_t own = value.rank() > 0 ? value.dim(0) : -1;
      if (own < 0 || (size >= 0 && own != size)) {
        throw InvalidArgument("feature '{}', {}, has not one row for each example of its batch",
                              name, value.Describe());
      }
      size = own;
    }
    for (int64_t i = 0; i < size && static_cast<int64_t>(rows.size()) < count; ++i) {
      data::Element row;
      for (const auto& [name, value] : batch.fields()) row.Set(name, value.Rows(i, i + 1));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

void WriteWarmUpRequests(const ModelGraph& model, const std::string& name,
                         const std::string& signature_name, const SignatureSpec& signature,
                         const std::vector<data::Element>& rows, const std::string& path) {
  TFRecordWriter writer(path);
  for (const data::Element& row : rows) {
    const RequestTensors request =
        model.request_of ? model.request_of(row) : RequestByNames(model, row);
    writer.Write(PredictionLogOf(name, signature_name, Renamed(model, signature, request)));
  }
  writer.Close();
}

}  // namespace sextant

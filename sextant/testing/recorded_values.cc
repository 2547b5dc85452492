#include "sextant/testing/recorded_values.h"

#include <algorithm>
#include <cmath>

#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"
#include "sextant/testing/case_graph.h"
#include "sextant/testing/case_values.h"

namespace sextant::testing {
namespace {

// Relative to the largest magnitude of the output.
double Tolerance(DType dtype) {
  switch (dtype) {
    case DType::kHalf:
      return 2e-3;
    case DType::kBFloat16:
      return 1.6e-2;
    case DType::kFloat:
    case DType::kComplex64:
      return 2e-5;
    case DType::kDouble:
    case DType::kComplex128:
      return 1e-9;
    default:
      return 0;
  }
}

std::string CompareOutput(const Tensor& actual, const RecordedOutput& recorded,
                          double input_tolerance) {
  const Tensor& expected = recorded.values;
  const int64_t count = expected.num_elements();
  if (actual.dtype() != expected.dtype() ||
      (recorded.stride == 1 && !(actual.shape() == expected.shape())) ||
      (count > 0 && (count - 1) * recorded.stride >= actual.num_elements())) {
    return fmt::format("{} instead of {}", actual.Describe(), expected.Describe());
  }
  if (expected.dtype() == DType::kString) {
    return actual.Identical(expected)
               ? ""
               : fmt::format("{} instead of {}", actual.ToString(), expected.ToString());
  }
  double scale = 1e-6;
  for (int64_t i = 0; i < count; ++i) {
    const double e = std::abs(ElementAsComplex(expected, i));
    if (std::isfinite(e)) scale = std::max(scale, e);
  }
  const double own = Tolerance(expected.dtype());
  const double tolerance = (own > 0 ? std::max(own, input_tolerance) : 0) * scale;
  for (int64_t i = 0; i < count; ++i) {
    const std::complex<double> a = ElementAsComplex(actual, i * recorded.stride);
    const std::complex<double> e = ElementAsComplex(expected, i);
    const auto same = [&](double x, double y) {
      return x == y || (std::isnan(x) && std::isnan(y)) || std::abs(x - y) <= tolerance;
    };
    if (same(a.real(), e.real()) && same(a.imag(), e.imag())) continue;
    return fmt::format("element {} is {} instead of {}", i * recorded.stride, a.real(), e.real());
  }
  return "";
}

}  // namespace

std::map<std::string, RecordedCase> ReadRecordedCases(const std::string& path) {
  std::map<std::string, RecordedCase> cases;
  TFRecordReader reader(path, Compression::kGzip);
  for (std::string record; reader.Next(&record);) {
    const proto::Example example = ParseExample(record);
    RecordedCase& recorded = cases[std::string(GetOneBytes(example, "case"))];
    if (HasFeature(example, "none")) {
      recorded.none = std::string(GetOneBytes(example, "none"));
      continue;
    }
    if (!HasFeature(example, "strides")) continue;  // an op without outputs
    const auto values = GetBytes(example, "values");
    const auto strides = GetInt64s(example, "strides");
    for (size_t i = 0; i < strides.size(); ++i) {
      proto::TensorProto message;
      if (!message.ParseFromString(std::string(values[i]))) throw DataLoss("{} is damaged", path);
      recorded.outputs.push_back({TensorFromProto(message), strides[i]});
    }
  }
  return cases;
}

std::string CheckValues(const OpCase& op_case, const RecordedCase& recorded) {
  if (!recorded.none.empty()) return "";
  try {
    const CaseGraph graph(op_case, StaticShapes::kFull);
    Session session(graph.node()->graph());
    const std::vector<Tensor> actual = graph.Run(session, graph.outputs());
    // An op that mixes types may compute in the coarsest of them.
    double input_tolerance = 0;
    for (const CaseGraph::Input& input : graph.inputs()) {
      input_tolerance = std::max(input_tolerance, Tolerance(input.value.dtype()));
    }
    if (actual.size() != recorded.outputs.size()) {
      return fmt::format("{} outputs, recorded were {}", actual.size(), recorded.outputs.size());
    }
    for (size_t i = 0; i < actual.size(); ++i) {
      const std::string problem = CompareOutput(actual[i], recorded.outputs[i], input_tolerance);
      if (!problem.empty()) return fmt::format("output {}: {}", i, problem);
    }
    return "";
  } catch (const Error& e) {
    return e.what();
  }
}

}  // namespace sextant::testing

#include "tests/conformance/recorded_case.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/formats/example.h"
#include "sextant/proto/tensor.pb.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::conformance {

std::vector<Tensor> Tensors(const proto::Example& example, const char* key) {
  std::vector<Tensor> tensors;
  if (!HasFeature(example, key)) return tensors;
  for (std::string_view bytes : GetBytes(example, key)) {
    proto::TensorProto proto;
    if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
      throw DataLoss("feature '{}' is not a TensorProto", key);
    }
    tensors.push_back(TensorFromProto(proto));
  }
  return tensors;
}

std::vector<std::string> Names(const proto::Example& example, const char* key) {
  std::vector<std::string> names;
  if (!HasFeature(example, key)) return names;
  for (std::string_view name : GetBytes(example, key)) names.emplace_back(name);
  return names;
}

Tolerance ToleranceOf(const proto::Example& example) {
  return {GetOneFloat(example, "rtol"), GetOneFloat(example, "atol")};
}

std::string FirstDifference(const std::vector<Tensor>& actual, std::span<const Tensor> expected,
                            const std::vector<std::string>& names, const Tolerance& tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const std::string difference = Difference(actual.at(i), expected[i], tolerance);
    if (!difference.empty()) return names[i] + ": " + difference;
  }
  return "";
}

void Try(const std::string& path, const std::string& name, const char* way_name, Counts& counts,
         FunctionRef<std::string()> way) {
  std::string problem;
  try {
    problem = way();
  } catch (const Error& e) {
    problem = e.what();
  }
  if (problem.empty()) {
    ++counts.passed;
    return;
  }
  ++counts.failed;
  fmt::print("FAILED {} {} {}: {}\n", path, name, way_name, problem);
}

}  // namespace sextant::conformance

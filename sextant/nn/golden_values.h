// For the tests of this folder: testdata/golden/nn.json, what TensorFlow's layers, losses, metrics,
// initializers and cells gave (tools/golden/nn_values.py), as tensors.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

inline const nlohmann::json& GoldenValues(const char* section) {
  static const nlohmann::json values = [] {
    std::ifstream file(SEXTANT_SOURCE_DIR "/testdata/golden/nn.json");
    return nlohmann::json::parse(file);
  }();
  return values.at(section);
}

inline Tensor GoldenTensor(const nlohmann::json& packed) {
  const Shape shape(packed.at("shape").get<std::vector<int64_t>>());
  const auto fill = [&]<typename T>(DType dtype) {
    Tensor tensor(dtype, shape);
    T* to = tensor.data<T>();
    for (const auto& value : packed.at("values")) *to++ = static_cast<T>(value.get<double>());
    return tensor;
  };
  const std::string dtype = packed.at("dtype");
  if (dtype == "bool") return fill.template operator()<bool>(DType::kBool);
  if (dtype == "int64") return fill.template operator()<int64_t>(DType::kInt64);
  return fill.template operator()<float>(DType::kFloat);
}

// Floats within 1e-5 of the largest: sums are taken in another order.
inline void ExpectGolden(const Tensor& actual, const nlohmann::json& packed,
                         const std::string& what) {
  const Tensor expected = GoldenTensor(packed);
  ASSERT_EQ(actual.shape().ToString(), expected.shape().ToString()) << what;
  float scale = 1;
  for (const float x : expected.flat<float>()) scale = std::max(scale, std::abs(x));
  for (int64_t i = 0; i < expected.num_elements(); ++i) {
    ASSERT_NEAR(actual.data<float>()[i], expected.data<float>()[i], 1e-5F * scale)
        << what << ", element " << i;
  }
}

}  // namespace sextant

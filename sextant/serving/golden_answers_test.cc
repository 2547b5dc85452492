// The answers that TensorFlow 2.15 recorded for its exports, asked for over REST and gRPC.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "sextant/base/base64.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/serving/client.h"
#include "sextant/serving/server.h"
#include "sextant/serving/small_model_test_helpers.h"
#include "sextant/testing/http_client.h"

namespace sextant::serving {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const char* const kGolden = SEXTANT_SOURCE_DIR "/../shared/golden/saved_model";

json ElementOf(const json& value, const std::string& dtype) {
  if (value.is_object()) {
    if (value.contains("utf8")) return value["utf8"];
    return json{{"b64", value["base64"]}};
  }
  if (value.is_string() && dtype != "string") return value;  // "nan", put in later
  if (dtype == "bool" && value.is_number()) return value != 0;
  return value;
}

json Nested(const json& values, const std::vector<int64_t>& shape, size_t depth,
            const std::string& dtype, size_t* next) {
  if (depth == shape.size()) return ElementOf(values[(*next)++], dtype);
  json list = json::array();
  for (int64_t i = 0; i < shape[depth]; ++i) {
    list.push_back(Nested(values, shape, depth + 1, dtype, next));
  }
  return list;
}

json Column(const json& tensor) {
  size_t next = 0;
  return Nested(tensor["values"], tensor["shape"].get<std::vector<int64_t>>(), 0, tensor["dtype"],
                &next);
}

std::string BytesOf(const json& value) {
  if (value.is_string()) return value;
  std::string text = value.at(value.contains("b64") ? "b64" : "base64"), bytes;
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  DecodeBase64(text, &bytes);
  return bytes;
}

void Flatten(const json& value, std::vector<json>* elements) {
  if (!value.is_array()) return elements->push_back(value);
  for (const json& item : value) Flatten(item, elements);
}

// As tests/conformance compares them, by the model that `place` begins with: rounding adds up over
// the layers of a ResNet.
double AllowedDifference(const std::string& place, double expected) {
  const double tolerance = place.find("resnet") != std::string::npos ? 1e-3 : 1e-4;
  return tolerance + tolerance * std::abs(expected);
}

// Whether an answer has the recorded elements.
void ExpectClose(const json& actual, const json& expected, const std::string& place) {
  std::vector<json> elements;
  Flatten(actual, &elements);
  ASSERT_EQ(elements.size(), expected["values"].size()) << place;
  for (size_t i = 0; i < elements.size(); ++i) {
    const json& wanted = expected["values"][i];
    if (wanted.is_object()) {
      EXPECT_EQ(BytesOf(elements[i]),
                wanted.contains("utf8") ? wanted["utf8"].get<std::string>() : BytesOf(wanted))
          << place;
    } else if (wanted.is_number() && elements[i].is_number()) {
      const double a = elements[i], b = wanted;
      EXPECT_LE(std::abs(a - b), AllowedDifference(place, b)) << place << " element " << i;
    } else {
      EXPECT_EQ(elements[i], ElementOf(wanted, expected["dtype"])) << place << " element " << i;
    }
  }
}

struct Recorded {
  std::string name, model, answers;
};

std::vector<Recorded> FindRecorded() {
  std::vector<Recorded> found;
  if (!fs::exists(kGolden)) return found;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden)) {
    const std::string path = entry.path();
    const std::string ending = ".answers.json";
    if (!path.ends_with(ending)) continue;
    const std::string model = path.substr(0, path.size() - ending.size());
    std::string name = model.substr(std::string(kGolden).size() + 1);
    std::ranges::replace(name, '/', '.');
    found.push_back({name, model, path});
  }
  return found;
}

// Asks one recorded case in columns and, where it has rows, in rows.
void AskCase(TestHttpClient& client, const std::string& model, const std::string& signature,
             const json& recorded, bool stateful) {
  const std::string place = model + ", " + signature;
  json inputs = json::object(), body{{"signature_name", signature}};
  for (const auto& [key, tensor] : recorded["inputs"].items()) inputs[key] = Column(tensor);
  body["inputs"] = inputs;
  const HttpAnswer answer = client.Post("/v1/models/" + model + ":predict", body.dump());
  ASSERT_EQ(answer.status, 200) << place << ": " << answer.body.substr(0, 500);
  const json outputs = json::parse(answer.body).at("outputs");
  const auto& expected = recorded["outputs"];
  for (const auto& [key, tensor] : expected.items()) {
    ExpectClose(expected.size() == 1 ? outputs : outputs.at(key), tensor, place + ", " + key);
  }
  int64_t rows = -1;
  bool has_rows = !stateful && !inputs.empty();
  for (const char* side : {"inputs", "outputs"}) {
    for (const auto& [key, tensor] : recorded[side].items()) {
      const json& shape = tensor["shape"];
      has_rows = has_rows && !shape.empty() && (rows < 0 || shape[0] == rows);
      rows = shape.empty() ? rows : shape[0].get<int64_t>();
    }
  }
  if (!has_rows || rows <= 0) return;
  json instances = json::array();
  for (int64_t row = 0; row < rows; ++row) {
    json instance = json::object();
    for (const auto& [key, column] : inputs.items()) instance[key] = column[row];
    instances.push_back(std::move(instance));
  }
  const json request{{"instances", instances}, {"signature_name", signature}};
  const HttpAnswer by_rows = client.Post("/v1/models/" + model + ":predict", request.dump());
  ASSERT_EQ(by_rows.status, 200) << place << ": " << by_rows.body.substr(0, 500);
  const json predictions = json::parse(by_rows.body).at("predictions");
  for (const auto& [key, tensor] : expected.items()) {
    json column = json::array();
    for (const json& row : predictions) {
      column.push_back(expected.size() == 1 ? row : row.at(key));
    }
    ExpectClose(column, tensor, place + ", rows, " + key);
  }
}

Tensor TensorOf(const json& entry) {
  const std::string name = entry["dtype"];
  const DType dtype = name == "float32"   ? DType::kFloat
                      : name == "float64" ? DType::kDouble
                                          : DTypeFromName(name);
  Tensor tensor(dtype, Shape(entry["shape"].get<std::vector<int64_t>>()));
  const json& values = entry["values"];
  for (size_t i = 0; i < values.size(); ++i) {
    switch (dtype) {
      case DType::kFloat:
        tensor.data<float>()[i] = values[i];
        break;
      case DType::kDouble:
        tensor.data<double>()[i] = values[i];
        break;
      case DType::kInt32:
        tensor.data<int32_t>()[i] = values[i];
        break;
      case DType::kInt64:
        tensor.data<int64_t>()[i] = values[i];
        break;
      case DType::kBool:
        tensor.data<bool>()[i] = values[i].is_boolean() ? values[i].get<bool>() : values[i] != 0;
        break;
      case DType::kString:
        tensor.data<std::string>()[i] =
            values[i].contains("utf8") ? values[i]["utf8"].get<std::string>() : BytesOf(values[i]);
        break;
      default:
        ADD_FAILURE() << name;
    }
  }
  return tensor;
}

// The same case by gRPC: what is near to the recorded values, of the recorded type and shape.
void AskByGrpc(const Client& client, const std::string& model, const std::string& signature,
               const json& recorded) {
  NamedTensors inputs;
  for (const auto& [key, tensor] : recorded["inputs"].items()) inputs[key] = TensorOf(tensor);
  const PredictAnswer answer = client.Predict({.model = model, .signature = signature}, inputs);
  EXPECT_EQ(answer.version, 1);
  EXPECT_EQ(answer.outputs.size(), recorded["outputs"].size());
  for (const auto& [key, entry] : recorded["outputs"].items()) {
    const std::string place = model + ", " + signature + ", " + key;
    const Tensor expected = TensorOf(entry);
    const Tensor& actual = answer.outputs.at(key);
    ASSERT_EQ(actual.dtype(), expected.dtype()) << place;
    ASSERT_EQ(actual.shape(), expected.shape()) << place;
    if (!IsFloating(expected.dtype())) {
      EXPECT_TRUE(actual.Identical(expected)) << place;
      continue;
    }
    const int64_t count = expected.num_elements();
    for (int64_t i = 0; i < count; ++i) {
      const double a = actual.Reshaped({count}).Rows(i, i + 1).AsDouble();
      const double b = expected.Reshaped({count}).Rows(i, i + 1).AsDouble();
      EXPECT_LE(std::abs(a - b), AllowedDifference(place, b)) << place << " element " << i;
    }
  }
}

TEST(GoldenAnswers, AllOverRestAndGrpc) {
  const std::vector<Recorded> recorded = FindRecorded();
  if (recorded.empty()) GTEST_SKIP() << "there are no recorded models";
  const TemporaryDirectory directory;
  ServerOptions options{.grpc_port = 0, .rest_port = 0, .rest_threads = 1};
  for (const Recorded& model : recorded) {
    const std::string base = JoinPath(directory.path(), model.name);
    fs::create_directory(base);
    fs::copy(model.model, JoinPath(base, "1"), fs::copy_options::recursive);
    MakeOld(JoinPath(base, "1"));
    options.models.push_back({.name = model.name, .base_path = base});
  }
  Server server(options);
  ASSERT_TRUE(server.WaitUntilReady(std::chrono::seconds(120)));
  TestHttpClient client(server.rest_port());
  const Client grpc({.address = fmt::format("127.0.0.1:{}", server.grpc_port())});
  int cases = 0;
  for (const Recorded& model : recorded) {
    const json answers = json::parse(FileSystem::ForPath("/").ReadFile(model.answers));
    for (const auto& [signature, entry] : answers["signatures"].items()) {
      for (const json& recorded_case : entry["cases"]) {
        const bool stateful = signature == "count";
        AskCase(client, model.name, signature, recorded_case, stateful);
        if (!stateful) AskByGrpc(grpc, model.name, signature, recorded_case);
        ++cases;
      }
    }
  }
  EXPECT_GT(cases, 20);
}

}  // namespace
}  // namespace sextant::serving

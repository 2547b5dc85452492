// fuzz-serving-seeds: writes what clients and operators of a server send and write, one file each,
// as the corpora that the targets of serving start from: FOLDER/TARGET/seed0, ...
#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/tensor/float16.h"
#include "sextant/tensor/tensor_proto.h"

namespace sextant::fuzz {
namespace {

using Seeds = std::vector<std::string>;

const Seeds kPaths = {
    "GET /v1/models/m",
    "GET /v1/models/m/versions/12/metadata",
    "GET /v1/models/m/labels/stable",
    "POST /v1/models/half%20plus%2ftwo:predict",
    "POST /V1/Models/m/versions/9223372036854775807:CLASSIFY",
    "POST /v1/models/m/labels/a%00b:regress?signature_name=x%3dy&b=1",
    "DELETE /v1/models/m",
    "GET /v1/models/%2e%2e%2f/versions/99999999999999999999",
};

const Seeds kJson = {
    R"({"instances": [[1.0, 2], [-3e-5, 4.25]]})",
    R"({"instances": [{"x": [1, NaN]}, {"x": [Infinity, -Infinity]}], "signature_name": ""})",
    R"({"inputs": {"x": [[1, 2]], "y": {"z": [null]}}})",
    R"({"signature_name": "many", "inputs": {"b": [true, false], "d": 1e-300, "i": -128,)"
    R"( "l": 9223372036854775807, "s": [["a\u00e4\ud83d\ude00"], [{"b64": "/wA="}]],)"
    R"( "u": 18446744073709551615, "w": 65535}})",
    R"({"instances": [{"b": true, "d": [0.1], "i": 3.0, "s": "\"\\\n"},)"
    R"( {"b": false, "d": [1e30], "i": 0, "s": {"b64": ""}}], "signature_name": "many"})",
    R"(e{"examples": [{"age": 39.0, "words": ["a", {"b64": "/w=="}], "n": 1, "t": [true]}],)"
    R"( "context": {"c": [1, 2]}, "signature_name": "s"})",
    R"(e{"examples": [{}, {"a": []}]})",
};

const Seeds kConfigs = {
    "mmodel_config_list { config { name: \"m\" base_path: \"/models/m\" model_platform: "
    "\"tensorflow\" model_version_policy { specific { versions: 1 versions: 2 } } version_labels { "
    "key: \"stable\" value: 1 } traffic { version: 1 weight: 9 } traffic { version: 2 weight: 1 } "
    "latency_target_ms: 5 logging_config { log_collector_config { filename_prefix: \"/log/m\" } "
    "sampling_config { sampling_rate: 0.5 } } } }",
    "mmodel_config_list: { config: { name: 'a', base_path: 'b', model_version_policy: { all: {} } }"
    ", config: { name: 'c', base_path: 'd', model_version_policy: { latest { num_versions: 3 } } }"
    " } # end",
    "mcustom_model_config { type_url: \"x\" value: \"\\001\\377\" }",
    "bmax_batch_size { value: 128 } batch_timeout_micros { value: 0 } max_enqueued_batches { "
    "value: 1000 } num_batch_threads { value: 8 } allowed_batch_sizes: [1, 32, 128] "
    "pad_variable_length_inputs: true enable_large_batch_splitting { value: false }",
    "oprometheus_config { enable: true, path: \"/metrics\" }",
    "sserver_key: \"-----BEGIN\\n\" server_cert: \"x\" custom_ca: '' client_verify: false",
    "t# tokens\nsecret m other\n\nall-models\n",
};

std::vector<Tensor> Tensors() {
  return {Tensor(1.5f),
          Tensor::Of<float>({2, 2}, {1, 2, 3, 4}),
          Tensor::Of<double>({1, -2}),
          Tensor::Of<int8_t>({-1, 2}),
          Tensor::Of<uint16_t>({65535}),
          Tensor::Of<int64_t>({-1, int64_t{1} << 40}),
          Tensor::Of<uint64_t>({18446744073709551615u}),
          Tensor::Of<bool>({true, false}),
          Tensor::Of<Half>({Half(1.5f)}),
          Tensor::Of<BFloat16>({BFloat16(-2.0f)}),
          Tensor::Of<std::string>({"a", "", std::string("\0b", 2)}),
          Tensor(DType::kFloat, Shape{0, 3})};
}

// Each in typed lists and, where that is another form, as content; and a list that repeats.
Seeds TensorSeeds() {
  Seeds seeds;
  for (const Tensor& tensor : Tensors()) {
    AppendTensorWire(tensor, &seeds.emplace_back());
    proto::TensorProto message;
    TensorToProto(tensor, &message);
    seeds.push_back(message.SerializeAsString());
  }
  proto::TensorProto repeated;
  repeated.set_dtype(proto::DT_INT32);
  repeated.mutable_tensor_shape()->add_dim()->set_size(7);
  repeated.add_int_val(3);
  seeds.push_back(repeated.SerializeAsString());
  return seeds;
}

Seeds RequestSeeds() {
  const Tensor x = Tensor::Of<float>({2, 2}, {1, 2, 3, 4}), i = Tensor::Of<int64_t>({5, 6}),
               s = Tensor::Of<std::string>({"a", "b"});
  proto::PredictRequest request;
  request.mutable_model_spec()->set_name("m");
  request.mutable_model_spec()->mutable_version()->set_value(3);
  TensorToProto(x, &(*request.mutable_inputs())["x"]);
  TensorToProto(i, &(*request.mutable_inputs())["i"]);
  TensorToProto(s, &(*request.mutable_inputs())["s"]);
  Seeds seeds = {request.SerializeAsString()};
  request.mutable_model_spec()->set_version_label("stable");
  request.mutable_model_spec()->set_signature_name("serving_default");
  request.add_output_filter("same_x");
  request.add_output_filter("same_s");
  seeds.push_back(request.SerializeAsString());
  (*request.mutable_inputs())["unknown"].set_dtype(proto::DT_FLOAT);
  seeds.push_back(request.SerializeAsString());
  return seeds;
}

void WriteCorpus(const std::string& folder, const Seeds& seeds) {
  FileSystem& files = FileSystem::ForPath(folder);
  files.CreateDirectories(folder);
  for (size_t i = 0; i < seeds.size(); ++i) {
    files.WriteFileAtomically(fmt::format("{}/seed{}", folder, i), seeds[i]);
  }
  fmt::print("{}: {} seeds\n", folder, seeds.size());
}

}  // namespace
}  // namespace sextant::fuzz

int main(int argc, char** argv) {
  using namespace sextant::fuzz;
  if (argc != 2) {
    fmt::print(stderr, "usage: fuzz-serving-seeds <corpus folder>\n");
    return 2;
  }
  const std::string folder = argv[1];
  try {
    WriteCorpus(folder + "/rest_path_fuzz", kPaths);
    WriteCorpus(folder + "/json_request_fuzz", kJson);
    WriteCorpus(folder + "/tensor_wire_fuzz", TensorSeeds());
    WriteCorpus(folder + "/predict_wire_fuzz", RequestSeeds());
    WriteCorpus(folder + "/serving_config_fuzz", kConfigs);
  } catch (const sextant::Error& e) {
    fmt::print(stderr, "fuzz-serving-seeds: {}\n", e.what());
    return 1;
  }
}

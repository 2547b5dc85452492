#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/estimator/model_graph.h"
#include "sextant/estimator/warm_up_requests.h"
#include "sextant/runtime/session.h"
#include "sextant/train/local_initializer.h"
#include "sextant/train/saved_model_builder.h"

namespace sextant {
namespace {

constexpr const char* kDefaultSignature = "serving_default";
constexpr const char* kWarmUpFile = "tf_serving_warmup_requests";
using Receiver = std::vector<std::pair<std::string, Output>>;

std::map<std::string, Output> ToMap(const NamedOutputs& outputs) {
  return {outputs.begin(), outputs.end()};
}

// Classification and regression take one tensor of serialized Examples, which they call "inputs".
bool TakesExamples(const Receiver& receiver) {
  return receiver.size() == 1 && receiver[0].second.dtype() == DType::kString;
}

void AddSignature(const std::string& name, const ExportOutput& output, const Receiver& receiver,
                  std::map<std::string, SignatureSpec>* signatures) {
  SignatureSpec spec{.inputs = ToMap(receiver), .outputs = ToMap(output.outputs)};
  if (output.kind != ExportOutput::Kind::kPredict) {
    if (!TakesExamples(receiver)) {
      LogInfo("Signature {} is left out: it needs one input of strings, of Examples or rows", name);
      return;
    }
    spec.inputs = {{"inputs", receiver[0].second}};
    spec.method_name =
        output.kind == ExportOutput::Kind::kClassify ? kClassifyMethod : kRegressMethod;
  }
  signatures->emplace(name, std::move(spec));
}

std::map<std::string, SignatureSpec> Signatures(const ModelGraph& model) {
  auto outputs = model.spec.export_outputs;
  if (outputs.empty()) outputs = {{kDefaultSignature, {.outputs = model.spec.predictions}}};
  if (outputs.size() == 1 && outputs[0].first != kDefaultSignature) {
    outputs.emplace_back(kDefaultSignature, outputs[0].second);
  }
  std::map<std::string, SignatureSpec> signatures;
  for (const auto& [name, output] : outputs) {
    AddSignature(name, output, model.receiver_tensors, &signatures);
    for (const auto& [way, receiver] : model.receiver_alternatives) {
      AddSignature(fmt::format("{}:{}", way, name == kDefaultSignature ? "None" : name), output,
                   receiver, &signatures);
    }
  }
  if (signatures.empty()) {
    throw InvalidArgument(
        "no output of the model can be exported with this receiver; add a predict output");
  }
  return signatures;
}

// Servers call the model as the directory of its exports is called.
void AddWarmUp(const ModelGraph& model, const std::map<std::string, SignatureSpec>& signatures,
               const std::vector<data::Element>& rows, const std::string& directory,
               SavedModelBuilder* builder) {
  const auto usual = signatures.find(kDefaultSignature);
  const auto& [name, signature] = usual == signatures.end() ? *signatures.begin() : *usual;
  const TemporaryDirectory scratch;
  const std::string path = JoinPath(scratch.path(), kWarmUpFile);
  try {
    WriteWarmUpRequests(model, std::string(BaseName(DirectoryName(directory))), name, signature,
                        rows, path);
    builder->AddExtraAssets({{kWarmUpFile, path}});
  } catch (const Error& e) {
    LogWarning("{} gets no warm-up requests: {}", directory, e.message());
  }
}

// The number of an export, also of one that is being written: "temp-NUMBER…". -1: it is none.
int64_t NumberOfExport(std::string_view name) {
  if (name.starts_with("temp-")) {
    name.remove_prefix(5);
    name = name.substr(0, name.find_first_not_of("0123456789"));
  }
  int64_t number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? number : -1;
}

int64_t LargestExport(const std::string& base_dir) {
  FileSystem& files = FileSystem::ForPath(base_dir);
  int64_t largest = -1;
  if (!files.Exists(base_dir)) return largest;
  for (const std::string& name : files.ListDirectory(base_dir)) {
    largest = std::max(largest, NumberOfExport(name));
  }
  return largest;
}

std::string NewExportDirectory(const std::string& base_dir) {
  const int64_t largest = LargestExport(base_dir);
  if (largest == std::numeric_limits<int64_t>::max()) {
    throw FailedPrecondition("no export can follow {} in {}; export to another directory", largest,
                             base_dir);
  }
  const int64_t now = std::chrono::duration_cast<std::chrono::seconds>(
                          std::chrono::system_clock::now().time_since_epoch())
                          .count();
  return JoinPath(base_dir, std::to_string(std::max(now, largest + 1)));
}

}  // namespace

bool IsNewestExport(const std::string& directory) {
  return NumberOfExport(BaseName(directory)) >=
         LargestExport(std::string(DirectoryName(directory)));
}

std::string ExportToNew(const std::string& first, const std::string& base_dir,
                        const std::function<void(const std::string&)>& export_to) {
  constexpr int kAttempts = 100;
  std::string directory = first;
  for (int attempt = 1;; ++attempt) {
    if (directory.empty()) directory = NewExportDirectory(base_dir);
    try {
      export_to(directory);
      return directory;
    } catch (const Error& e) {
      if (e.code() != Code::kAlreadyExists || attempt == kAttempts) throw;
      directory.clear();
    }
  }
}

void ExportTo(const Estimator::State& state, const std::string& directory,
              const ServingInputFn& receiver, const SavedModelExportOptions& options,
              const std::vector<data::Element>& warm_up_rows) {
  const std::string checkpoint = CheckpointOf(state, options.checkpoint_path);
  const std::unique_ptr<ModelGraph> model = BuildServingModel(state, receiver);
  MetaGraphSpec spec{.signatures = Signatures(*model),
                     .main_op = train::LocalInitializer(model->graph),
                     .strip_default_attrs = options.strip_default_attrs};
  Session session(model->graph, model->session);
  RestoreVariables(session, model->graph, checkpoint);
  SavedModelBuilder builder(directory);
  builder.AddMetaGraphAndVariables(session, {"serve"}, spec);
  builder.AddExtraAssets(options.assets_extra);
  if (!warm_up_rows.empty()) AddWarmUp(*model, spec.signatures, warm_up_rows, directory, &builder);
  builder.Save(options.as_text ? SavedModelForm::kText : SavedModelForm::kBinary);
  LogInfo("SavedModel written to: {}", directory);
}

}  // namespace sextant

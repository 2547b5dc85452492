#include "sextant/serving/grpc_reflection.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/wire.h"
#include "sextant/formats/wire_writer.h"
#include "sextant/proto/serving.pb.h"

namespace sextant::serving {
namespace {

using google::protobuf::FileDescriptor;
using google::protobuf::FileDescriptorProto;
using google::protobuf::ServiceDescriptorProto;

constexpr char kServicesFile[] = "tensorflow_serving/services.proto";

// Fields of ServerReflectionRequest and ServerReflectionResponse.
enum RequestField : uint32_t { kHost = 1, kFileByName = 3, kFileOfSymbol = 4, kListServices = 7 };
enum AnswerField : uint32_t { kOriginalRequest = 2, kFiles = 4, kServices = 6, kError = 7 };

template <typename Request, typename Response>
void AddMethod(const char* name, ServiceDescriptorProto* service) {
  auto* method = service->add_method();
  method->set_name(name);
  method->set_input_type("." + Request::descriptor()->full_name());
  method->set_output_type("." + Response::descriptor()->full_name());
}

// The file that declares the services, which are looked up by name and declared nowhere else.
FileDescriptorProto ServicesFile() {
  using namespace proto;  // NOLINT
  FileDescriptorProto file;
  file.set_name(kServicesFile);
  file.set_package("tensorflow.serving");
  file.set_syntax("proto3");
  file.add_dependency(PredictRequest::descriptor()->file()->name());
  ServiceDescriptorProto* prediction = file.add_service();
  prediction->set_name("PredictionService");
  AddMethod<ClassificationRequest, ClassificationResponse>("Classify", prediction);
  AddMethod<RegressionRequest, RegressionResponse>("Regress", prediction);
  AddMethod<PredictRequest, PredictResponse>("Predict", prediction);
  AddMethod<MultiInferenceRequest, MultiInferenceResponse>("MultiInference", prediction);
  AddMethod<GetModelMetadataRequest, GetModelMetadataResponse>("GetModelMetadata", prediction);
  ServiceDescriptorProto* models = file.add_service();
  models->set_name("ModelService");
  AddMethod<GetModelStatusRequest, GetModelStatusResponse>("GetModelStatus", models);
  AddMethod<ReloadConfigRequest, ReloadConfigResponse>("HandleReloadConfigRequest", models);
  return file;
}

// All files by their names, and which file declares a symbol.
class Files {
 public:
  static const Files& Get() {
    static const Files& files = *new Files;
    return files;
  }

  // Null when there is none.
  const FileDescriptorProto* Find(const std::string& name) const {
    const auto found = files_.find(name);
    return found == files_.end() ? nullptr : &found->second;
  }
  const FileDescriptorProto* FindSymbol(std::string symbol) const {
    for (;;) {  // a method, field or value is declared where the outermost thing is
      const auto found = symbols_.find(symbol);
      if (found != symbols_.end()) return Find(found->second);
      const size_t dot = symbol.rfind('.');
      if (dot == std::string::npos) return nullptr;
      symbol.resize(dot);
    }
  }
  // With all that it depends on, itself first.
  std::vector<const FileDescriptorProto*> WithDependencies(const FileDescriptorProto& file) const {
    std::vector<const FileDescriptorProto*> all = {&file};
    std::set<std::string> seen = {file.name()};
    for (size_t i = 0; i < all.size(); ++i) {
      for (const std::string& name : all[i]->dependency()) {
        if (!seen.insert(name).second) continue;
        if (const FileDescriptorProto* found = Find(name)) all.push_back(found);
      }
    }
    return all;
  }

 private:
  Files() {
    Add(ServicesFile());
    AddWithDependencies(*proto::PredictRequest::descriptor()->file());
  }
  void AddWithDependencies(const FileDescriptor& file) {
    if (files_.contains(file.name())) return;
    FileDescriptorProto copy;
    file.CopyTo(&copy);
    Add(std::move(copy));
    for (int i = 0; i < file.dependency_count(); ++i) AddWithDependencies(*file.dependency(i));
  }
  void Add(FileDescriptorProto file) {
    const std::string prefix = file.package() + ".";
    const auto add = [&](const std::string& name) { symbols_[prefix + name] = file.name(); };
    for (const auto& message : file.message_type()) add(message.name());
    for (const auto& type : file.enum_type()) add(type.name());
    for (const auto& service : file.service()) add(service.name());
    const std::string name = file.name();
    files_.emplace(name, std::move(file));
  }

  std::map<std::string, FileDescriptorProto> files_;
  std::map<std::string, std::string> symbols_;
};

std::string ErrorAnswer(Code code, const std::string& message) {
  std::string error;
  AppendWireNumber(1, static_cast<uint64_t>(code), &error);
  AppendWireBytes(2, message, &error);
  return error;
}

std::string FilesAnswer(const FileDescriptorProto& file) {
  std::string answer;
  for (const FileDescriptorProto* one : Files::Get().WithDependencies(file)) {
    AppendWireBytes(1, one->SerializeAsString(), &answer);
  }
  return answer;
}

std::string ServicesAnswer() {
  std::string answer;
  for (const char* name :
       {"tensorflow.serving.PredictionService", "tensorflow.serving.ModelService",
        "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection"}) {
    std::string service;
    AppendWireBytes(1, name, &service);
    AppendWireBytes(1, service, &answer);
  }
  return answer;
}

}  // namespace

bool IsReflectionMethod(std::string_view method) {
  return method == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
         method == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
}

std::string ReflectionAnswer(std::string_view request) {
  std::string answer;
  AppendWireBytes(kOriginalRequest, request, &answer);
  std::optional<uint32_t> asked;
  std::string name;
  WireReader reader(request);
  while (reader.Next()) {
    if (reader.type() != WireType::kBytes || reader.field() == kHost) continue;
    asked = reader.field();
    name = reader.bytes();
  }
  const FileDescriptorProto* file = nullptr;
  if (!reader.ok() || !asked) {
    AppendWireBytes(kError, ErrorAnswer(Code::kInvalidArgument, "nothing is asked"), &answer);
  } else if (*asked == kListServices) {
    AppendWireBytes(kServices, ServicesAnswer(), &answer);
  } else if (*asked != kFileByName && *asked != kFileOfSymbol) {
    AppendWireBytes(kError, ErrorAnswer(Code::kNotFound, "there are no extensions"), &answer);
  } else {
    file = *asked == kFileByName ? Files::Get().Find(name) : Files::Get().FindSymbol(name);
    if (file == nullptr) {
      AppendWireBytes(kError, ErrorAnswer(Code::kNotFound, "not found: " + name), &answer);
    } else {
      AppendWireBytes(kFiles, FilesAnswer(*file), &answer);
    }
  }
  return answer;
}

}  // namespace sextant::serving

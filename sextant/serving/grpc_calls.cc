#include "sextant/serving/grpc_calls.h"

#include <memory>
#include <tuple>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/formats/message_text.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/access.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/messages.h"
#include "sextant/serving/metrics.h"
#include "sextant/serving/predict_wire.h"
#include "sextant/serving/request_log.h"

namespace sextant::serving {
namespace {

template <typename Message>
Message Parsed(std::string_view bytes) {
  Message message;
  if (!TryParseMessage(bytes, &message)) {
    throw InvalidArgument("{} bytes are no {}", bytes.size(), message.GetDescriptor()->name());
  }
  return message;
}

VersionChoice ChoiceOf(const proto::ModelSpec& spec, const GrpcCallInfo& info) {
  VersionChoice choice{.sticky_key = info.traffic_key};
  if (spec.has_version()) choice.version = spec.version().value();
  if (spec.version_choice_case() == proto::ModelSpec::kVersionLabel) {
    choice.label = spec.version_label();
  }
  return choice;
}

// What answers carry: the version and signature that were used.
proto::ModelSpec UsedSpec(const Servable& servable, const ServableSignature& signature) {
  proto::ModelSpec spec;
  spec.set_name(servable.model());
  spec.mutable_version()->set_value(servable.version());
  spec.set_signature_name(signature.key());
  return spec;
}

InferenceRequest RequestFor(std::shared_ptr<const Servable> servable,
                            const ServableSignature& signature, std::vector<Tensor> inputs,
                            const GrpcCallInfo& info) {
  return {.servable = std::move(servable),
          .signature = &signature,
          .inputs = std::move(inputs),
          .deadline = info.deadline,
          .cancelled = info.cancelled};
}

void FillClasses(const std::vector<Classes>& rows, proto::ClassificationResult* result) {
  for (const Classes& row : rows) {
    auto* classifications = result->add_classifications();
    for (const auto& [label, score] : row) {
      auto* one = classifications->add_classes();
      one->set_label(label);
      one->set_score(score);
    }
  }
}

void FillRegressions(const std::vector<float>& values, proto::RegressionResult* result) {
  for (const float value : values) result->add_regressions()->set_value(value);
}

// Calls done with the bytes that "make" gives, or with what it throws.
template <typename Make>
void Finish(const CountedCall& call, const GrpcCalls::Done& done, const Status& status,
            const Make& make) {
  std::string answer;
  Status result = status;
  const auto begun = Clock::now();
  try {
    if (status.ok()) answer = make();
  } catch (...) {
    result = CurrentStatus();
  }
  call.Count(result, Clock::now() - begun);
  done(result, std::move(answer));
}

}  // namespace

void CountedCall::Count(const Status& status, std::chrono::nanoseconds serialize) const {
  if (metrics == nullptr) return;
  RequestReport report{.label = label,
                       .method = method,
                       .api = "GRPC",
                       .code = status.code(),
                       .latency = Clock::now() - begun,
                       .serialize = serialize};
  if (servable != nullptr) {
    report.model = servable->model();
    report.version = servable->version();
  }
  if (signature != nullptr) report.signature = signature->key();
  metrics->Request(report);
}

void GrpcCalls::Handle(const GrpcCallInfo& info, std::string_view request, Done done) const {
  constexpr std::string_view kPrediction = "/tensorflow.serving.PredictionService/";
  constexpr std::string_view kModel = "/tensorflow.serving.ModelService/";
  CountedCall call{.metrics = parts_.metrics};
  try {
    std::string_view method = info.method;
    if (method.starts_with(kPrediction)) {
      method.remove_prefix(kPrediction.size());
      if (method == "Predict") return Predict(info, request, call, done);
      if (method == "Classify") return Classify(info, request, call, done);
      if (method == "Regress") return Regress(info, request, call, done);
      if (method == "MultiInference") return MultiInference(info, request, call, done);
      if (method == "GetModelMetadata") return done(Status(), Metadata(info, request));
    } else if (method.starts_with(kModel)) {
      method.remove_prefix(kModel.size());
      if (method == "GetModelStatus") return done(Status(), ModelStatus(info, request));
      if (method == "HandleReloadConfigRequest") return done(Status(), ReloadConfig(info, request));
    }
    throw Unimplemented("there is no method {}", ShownName(info.method));
  } catch (...) {
    const Status status = CurrentStatus();
    if (*call.method != '\0') call.Count(status);
    done(status, "");
  }
}

void GrpcCalls::FindServable(const proto::ModelSpec& spec, const GrpcCallInfo& info,
                             CountedCall& call) const {
  if (spec.name().empty()) throw InvalidArgument("the request has no model_spec.name");
  if (parts_.access != nullptr) parts_.access->CheckModel(info.authorization, spec.name());
  call.servable = parts_.models->Find(spec.name(), ChoiceOf(spec, info));
  call.label = spec.version_label();
}

std::vector<Tensor> GrpcCalls::TakeExamples(const proto::Input& input,
                                            const CountedCall& call) const {
  std::vector<std::string> examples = ExamplesOf(input);
  if (parts_.log != nullptr && parts_.log->Sampled(call.servable->model())) {
    parts_.log->Examples(*call.servable, *call.signature, examples);
  }
  return ExampleInputs(std::move(examples));
}

void GrpcCalls::Predict(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
                        Done done) const {
  call.method = "Predict";
  const PredictWire wire = ReadPredictWire(request);
  const auto spec = Parsed<proto::ModelSpec>(wire.model_spec);
  FindServable(spec, info, call);
  call.signature = &PredictSignature(*call.servable, spec.signature_name());
  parts_.batcher->CheckRoom(*call.signature);
  InferenceRequest inference =
      RequestFor(call.servable, *call.signature, InputsFromWire(wire, *call.signature), info);
  std::vector<int> wanted = OutputPlaces(*call.signature, wire.output_filter);
  inference.wanted = wanted;
  std::vector<Tensor> logged;
  const bool logs =
      parts_.log != nullptr && wanted.empty() && parts_.log->Sampled(call.servable->model());
  if (logs) logged = inference.inputs;
  parts_.batcher->Submit(
      std::move(inference), [this, call, wanted = std::move(wanted), done = std::move(done),
                             logged](const Status& status, const std::vector<Tensor>& outputs) {
        Finish(call, done, status, [&] {
          const auto& [servable, signature] = std::tie(*call.servable, *call.signature);
          if (!logged.empty()) parts_.log->Predict(servable, signature, logged, outputs);
          return PredictAnswerWire(signature, wanted, outputs, UsedSpec(servable, signature));
        });
      });
}

void GrpcCalls::Classify(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
                         Done done) const {
  call.method = "Classify";
  const auto message = Parsed<proto::ClassificationRequest>(request);
  FindServable(message.model_spec(), info, call);
  call.signature =
      &ExamplesSignature(*call.servable, message.model_spec().signature_name(), Method::kClassify);
  std::vector<Tensor> inputs = TakeExamples(message.input(), call);
  const int64_t rows = inputs[0].dim(0);
  parts_.batcher->Submit(
      RequestFor(call.servable, *call.signature, std::move(inputs), info),
      [call, rows, done = std::move(done)](const Status& status,
                                           const std::vector<Tensor>& outputs) {
        Finish(call, done, status, [&] {
          proto::ClassificationResponse response;
          FillClasses(ClassesOf(*call.signature, outputs, rows), response.mutable_result());
          *response.mutable_model_spec() = UsedSpec(*call.servable, *call.signature);
          return response.SerializeAsString();
        });
      });
}

void GrpcCalls::Regress(const GrpcCallInfo& info, std::string_view request, CountedCall& call,
                        Done done) const {
  call.method = "Regress";
  const auto message = Parsed<proto::RegressionRequest>(request);
  FindServable(message.model_spec(), info, call);
  call.signature =
      &ExamplesSignature(*call.servable, message.model_spec().signature_name(), Method::kRegress);
  std::vector<Tensor> inputs = TakeExamples(message.input(), call);
  const int64_t rows = inputs[0].dim(0);
  parts_.batcher->Submit(
      RequestFor(call.servable, *call.signature, std::move(inputs), info),
      [call, rows, done = std::move(done)](const Status& status,
                                           const std::vector<Tensor>& outputs) {
        Finish(call, done, status, [&] {
          proto::RegressionResponse response;
          FillRegressions(RegressionsOf(*call.signature, outputs, rows), response.mutable_result());
          *response.mutable_model_spec() = UsedSpec(*call.servable, *call.signature);
          return response.SerializeAsString();
        });
      });
}

// The tasks of one call, run one after another on the same Examples.
void GrpcCalls::MultiInference(const GrpcCallInfo& info, std::string_view request,
                               CountedCall& call, Done done) const {
  struct Run {
    CountedCall call;
    std::shared_ptr<const Servable> servable;
    std::vector<const ServableSignature*> signatures;
    std::vector<Tensor> inputs;
    proto::MultiInferenceResponse response;
    Done done;
    std::function<void(size_t)> next;

    void End(const Status& status, std::string answer = {}) const {
      call.Count(status);
      done(status, std::move(answer));
    }
  };
  call.method = "MultiInference";
  const auto message = Parsed<proto::MultiInferenceRequest>(request);
  if (message.tasks().empty()) throw InvalidArgument("the request has no tasks");
  const auto run = std::make_shared<Run>();
  FindServable(message.tasks(0).model_spec(), info, call);
  run->servable = call.servable;
  for (const proto::InferenceTask& task : message.tasks()) {
    if (task.model_spec().name() != run->servable->model()) {
      throw InvalidArgument("all tasks of a request must be of one model");
    }
    const bool classify = task.method_name() == "tensorflow/serving/classify";
    if (!classify && task.method_name() != "tensorflow/serving/regress") {
      throw Unimplemented("tasks have the method tensorflow/serving/classify or regress, not '{}'",
                          ShownName(task.method_name()));
    }
    run->signatures.push_back(&ExamplesSignature(*run->servable, task.model_spec().signature_name(),
                                                 classify ? Method::kClassify : Method::kRegress));
  }
  call.signature = run->signatures[0];
  run->call = call;
  run->inputs = ExampleInputs(ExamplesOf(message.input()));
  run->done = std::move(done);
  const GrpcCallInfo kept{.deadline = info.deadline, .cancelled = info.cancelled};
  run->next = [this, kept, weak = std::weak_ptr(run)](size_t task) {
    const auto self = weak.lock();
    if (task == self->signatures.size()) {
      return self->End(Status(), self->response.SerializeAsString());
    }
    const ServableSignature& signature = *self->signatures[task];
    parts_.batcher->Submit(
        RequestFor(self->servable, signature, self->inputs, kept),
        [self, task, &signature](const Status& status, const std::vector<Tensor>& outputs) {
          if (!status.ok()) return self->End(status);
          try {
            auto* result = self->response.add_results();
            *result->mutable_model_spec() = UsedSpec(*self->servable, signature);
            const int64_t rows = self->inputs[0].dim(0);
            if (signature.method() == Method::kClassify) {
              FillClasses(ClassesOf(signature, outputs, rows),
                          result->mutable_classification_result());
            } else {
              FillRegressions(RegressionsOf(signature, outputs, rows),
                              result->mutable_regression_result());
            }
          } catch (...) {
            return self->End(CurrentStatus());
          }
          self->next(task + 1);
        });
  };
  run->next(0);
}

std::string GrpcCalls::Metadata(const GrpcCallInfo& info, std::string_view request) const {
  const auto message = Parsed<proto::GetModelMetadataRequest>(request);
  if (message.metadata_field().empty()) {
    throw InvalidArgument("metadata_field is empty; ask for \"signature_def\"");
  }
  for (const std::string& field : message.metadata_field()) {
    if (field != "signature_def") {
      throw InvalidArgument("there is no metadata '{}', only \"signature_def\"", ShownName(field));
    }
  }
  CountedCall call;
  FindServable(message.model_spec(), info, call);
  const auto& servable = call.servable;
  proto::GetModelMetadataResponse response;
  response.mutable_model_spec()->set_name(servable->model());
  response.mutable_model_spec()->mutable_version()->set_value(servable->version());
  auto& any = (*response.mutable_metadata())["signature_def"];
  any.set_type_url("type.googleapis.com/tensorflow.serving.SignatureDefMap");
  any.set_value(SignatureDefs(*servable).SerializeAsString());
  return response.SerializeAsString();
}

std::string GrpcCalls::ModelStatus(const GrpcCallInfo& info, std::string_view request) const {
  const auto message = Parsed<proto::GetModelStatusRequest>(request);
  if (parts_.access != nullptr) {
    parts_.access->CheckModel(info.authorization, message.model_spec().name());
  }
  proto::GetModelStatusResponse response;
  const auto statuses =
      parts_.models->StatusOf(message.model_spec().name(), ChoiceOf(message.model_spec(), info));
  for (const VersionStatus& status : statuses) {
    auto* version = response.add_model_version_status();
    version->set_version(status.version);
    version->set_state(static_cast<proto::ModelVersionStatus::State>(status.state));
    version->mutable_status()->set_error_code(static_cast<int>(status.status.code()));
    version->mutable_status()->set_error_message(status.status.message());
  }
  return response.SerializeAsString();
}

std::string GrpcCalls::ReloadConfig(const GrpcCallInfo& info, std::string_view request) const {
  if (parts_.access != nullptr) parts_.access->CheckAdmin(info.authorization);
  const auto message = Parsed<proto::ReloadConfigRequest>(request);
  const std::vector<ModelConfig> models = ModelConfigsFrom(message.config());
  for (const ModelConfig& model : models) {
    if (parts_.access != nullptr) parts_.access->CheckBasePath(model.base_path);
  }
  proto::ReloadConfigResponse response;
  Status status;
  try {
    parts_.set_models(models);
    parts_.models->PollNow();
    const std::string missing = parts_.models->NotReady();
    if (!missing.empty()) status = Status(Code::kFailedPrecondition, missing);
  } catch (const Error& error) {
    status = error.status();
  }
  response.mutable_status()->set_error_code(static_cast<int>(status.code()));
  response.mutable_status()->set_error_message(status.message());
  return response.SerializeAsString();
}

}  // namespace sextant::serving

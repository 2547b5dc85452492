#include "sextant/serving/rest_api.h"

#include "sextant/base/error.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/serving/access.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/metrics.h"
#include "sextant/serving/request_log.h"
#include "sextant/serving/rest_path.h"
#include "sextant/serving/rest_text.h"

namespace sextant::serving {
namespace {

bool StartsWithText(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if (std::tolower(static_cast<unsigned char>(text[i])) != word[i]) return false;
  }
  return true;
}

// A body that is the value of the only input.
JsonRequest ReadRawRequest(std::string& body, const ServableSignature& signature) {
  if (signature.inputs().size() != 1) {
    throw InvalidArgument("signature '{}' has {} inputs; a raw body can be the value of one only",
                          signature.key(), signature.inputs().size());
  }
  const JsonInput& input = signature.inputs()[0];
  JsonRequest request;
  if (input.dtype == DType::kString) {
    request.inputs = ExampleInputs({std::move(body)});
    return request;
  }
  std::vector<int64_t> dims;
  if (input.shape.rank_known()) dims.assign(input.shape.dims().begin(), input.shape.dims().end());
  int64_t row = static_cast<int64_t>(DTypeSize(input.dtype));
  bool known = !dims.empty() && IsPlain(input.dtype);
  for (size_t i = 1; i < dims.size(); ++i) {
    known = known && dims[i] >= 0;
    row *= dims[i];
  }
  if (!known || row == 0) {
    throw InvalidArgument("input '{}' is {}{}; a raw body needs rows of a known size", input.name,
                          DTypeName(input.dtype), input.shape.ToString());
  }
  const auto size = static_cast<int64_t>(body.size());
  if (size == 0 || size % row != 0) {
    throw InvalidArgument("the body has {} bytes, but rows of input '{}', {}{}, have {}", size,
                          input.name, DTypeName(input.dtype), input.shape.ToString(), row);
  }
  dims[0] = size / row;
  Tensor tensor(input.dtype, Shape(dims));
  std::copy(body.begin(), body.end(), static_cast<char*>(tensor.raw_data()));
  request.inputs.push_back(std::move(tensor));
  return request;
}

}  // namespace

int HttpStatusOf(Code code) {
  switch (code) {
    case Code::kOk:
      return 200;
    case Code::kInvalidArgument:
    case Code::kFailedPrecondition:
    case Code::kOutOfRange:
      return 400;
    case Code::kUnauthenticated:
      return 401;
    case Code::kPermissionDenied:
      return 403;
    case Code::kNotFound:
      return 404;
    case Code::kAlreadyExists:
    case Code::kAborted:
      return 409;
    case Code::kResourceExhausted:
      return 429;
    case Code::kCancelled:
      return 499;
    case Code::kUnimplemented:
      return 501;
    case Code::kUnavailable:
      return 503;
    case Code::kDeadlineExceeded:
      return 504;
    case Code::kUnknown:
    case Code::kInternal:
    case Code::kDataLoss:
      break;
  }
  return 500;
}

// One request on its way.
struct RestApi::Call {
  explicit Call(net::HttpResponder to) : responder(std::move(to)) {}

  net::HttpResponder responder;
  Clock::time_point begun = Clock::now();
  RestPath path;
  std::shared_ptr<const Servable> servable;
  const ServableSignature* signature = nullptr;
  JsonRequest::Form form = JsonRequest::Form::kRows;
  int64_t rows = 0;                   // of Examples
  bool counted = false;               // the request is for a model
  std::vector<Tensor> logged_inputs;  // of a request that is logged
};

Status RestApi::WithSample(const Call& call, const Status& status) {
  if (status.code() != Code::kInvalidArgument || call.servable == nullptr) return status;
  const ServableSignature* signature = call.signature;
  if (signature == nullptr) {  // the request did not get so far as to name one
    const auto& all = call.servable->signatures();
    const auto found = all.size() == 1 ? all.begin() : all.find(kDefaultSignature);
    if (found == all.end()) return status;
    signature = &found->second;
  }
  const std::string sample = call.path.call == RestPath::Call::kPredict
                                 ? signature->SampleRequest()
                                 : signature->SampleExamples();
  if (sample.empty()) return status;
  return {status.code(), fmt::format("{}; a request that fits: {}", status.message(), sample)};
}

net::HttpReply RestApi::Finish(const Call& call, const Status& status, net::HttpReply reply,
                               std::chrono::nanoseconds serialize) const {
  constexpr const char* kMethods[] = {"GetModelStatus", "GetModelMetadata", "Predict", "Classify",
                                      "Regress"};
  if (call.counted && parts_.metrics != nullptr) {
    RequestReport report{.label = call.path.label,
                         .method = kMethods[static_cast<int>(call.path.call)],
                         .api = "REST",
                         .code = status.code(),
                         .latency = Clock::now() - call.begun,
                         .serialize = serialize};
    if (call.servable != nullptr) {
      report.model = call.servable->model();
      report.version = call.servable->version();
    }
    if (call.signature != nullptr) report.signature = call.signature->key();
    parts_.metrics->Request(report);
  }
  if (!status.ok()) {
    reply.status = HttpStatusOf(status.code());
    reply.body = ErrorText(status);
    if (reply.status == 503 || reply.status == 429) reply.headers.emplace_back("Retry-After", "1");
  }
  if (options_.cors) reply.headers.emplace_back("Access-Control-Allow-Origin", "*");
  return reply;
}

void RestApi::Handle(net::HttpRequest& request, const net::HttpResponder& responder) const {
  const auto call = std::make_shared<Call>(responder);
  Status status;
  try {
    return Route(request, call);
  } catch (...) {
    status = CurrentStatus();
  }
  responder.Send(Finish(*call, WithSample(*call, status), {}));
}

void RestApi::Route(net::HttpRequest& request, const std::shared_ptr<Call>& call) const {
  // HEAD is GET whose answer is left out, which the connection sees to.
  const std::string_view method = request.method() == "HEAD" ? "GET" : request.method(),
                         target = request.target();
  if (options_.cors && method == "OPTIONS") {
    return call->responder.Send(
        Finish(*call, Status(),
               {.headers = {{"Access-Control-Allow-Methods", "GET, POST"},
                            {"Access-Control-Allow-Headers", "Content-Type, Authorization"}}}));
  }
  if (method == "GET" && target == "/healthz") {
    return call->responder.Send(Finish(*call, Status(), {.body = "{\"status\": \"alive\"}"}));
  }
  if (method == "GET" && target == "/readyz") {
    const bool draining = parts_.draining != nullptr && parts_.draining->load();
    const std::string missing = draining ? "the server ends" : parts_.models->NotReady();
    const Status status = missing.empty() ? Status() : Status(Code::kUnavailable, missing);
    return call->responder.Send(Finish(*call, status, {.body = "{\"status\": \"ready\"}"}));
  }
  if (method == "GET" && !options_.metrics_path.empty() && target == options_.metrics_path) {
    return call->responder.Send(
        Finish(*call, Status(),
               {.content_type = "text/plain; version=0.0.4", .body = options_.metrics_text()}));
  }
  call->path = ParseRestPath(method, target);
  const RestPath& path = call->path;
  call->counted = true;
  if (parts_.access != nullptr) {
    parts_.access->CheckModel(request.Header("Authorization"), path.model);
  }
  const VersionChoice choice{path.version, path.label, request.Header("X-Traffic-Key")};
  if (path.call == RestPath::Call::kStatus) {
    return call->responder.Send(
        Finish(*call, Status(), {.body = StatusText(parts_.models->StatusOf(path.model, choice))}));
  }
  call->servable = parts_.models->Find(path.model, choice);
  switch (path.call) {
    case RestPath::Call::kMetadata:
      return call->responder.Send(Finish(*call, Status(), {.body = MetadataText(*call->servable)}));
    case RestPath::Call::kPredict:
      return Predict(request, call);
    default:
      return ClassifyOrRegress(request, call);
  }
}

void RestApi::Predict(net::HttpRequest& request, const std::shared_ptr<Call>& call) const {
  JsonRequest read;
  if (StartsWithText(request.Header("Content-Type"), "application/octet-stream")) {
    call->signature =
        &PredictSignature(*call->servable, QueryValue(call->path.query, "signature_name"));
    parts_.batcher->CheckRoom(*call->signature);
    read = ReadRawRequest(request.body(), *call->signature);
  } else {
    read = ReadJsonRequest(request.body(), [&](std::string_view name) {
      call->signature = &PredictSignature(*call->servable, name);
      // Where no other signature can follow.
      const bool certain = !name.empty() || call->servable->signatures().size() == 1;
      if (certain) parts_.batcher->CheckRoom(*call->signature);
      return std::span<const JsonInput>(call->signature->inputs());
    });
  }
  call->form = read.form;
  if (parts_.log != nullptr && parts_.log->Sampled(call->servable->model())) {
    call->logged_inputs = read.inputs;
  }
  InferenceRequest inference{
      .servable = call->servable,
      .signature = call->signature,
      .inputs = std::move(read.inputs),
      .deadline = call->begun + options_.timeout,
      .cancelled = [call] { return call->responder.ClientLeft(); },
      .again = [call](std::function<void()> run) { call->responder.Later(std::move(run)); }};
  parts_.batcher->Submit(
      std::move(inference), [this, call](const Status& status, std::vector<Tensor> outputs) {
        call->responder.Send([this, call, status, outputs = std::move(outputs)] {
          const auto begun = Clock::now();
          Status result = status;
          net::HttpReply reply;
          try {
            if (result.ok()) reply.body = PredictionsText(*call->signature, call->form, outputs);
            if (!call->logged_inputs.empty() && result.ok()) {
              parts_.log->Predict(*call->servable, *call->signature, call->logged_inputs, outputs);
            }
          } catch (...) {
            result = CurrentStatus();
          }
          if (!status.ok()) result = WithSample(*call, result);
          return Finish(*call, result, std::move(reply), Clock::now() - begun);
        });
      });
}

void RestApi::ClassifyOrRegress(net::HttpRequest& request,
                                const std::shared_ptr<Call>& call) const {
  JsonExamples read = ReadJsonExamples(request.body());
  const bool classify = call->path.call == RestPath::Call::kClassify;
  call->signature = &ExamplesSignature(*call->servable, read.signature_name,
                                       classify ? Method::kClassify : Method::kRegress);
  call->rows = static_cast<int64_t>(read.examples.size());
  if (parts_.log != nullptr && parts_.log->Sampled(call->servable->model())) {
    parts_.log->Examples(*call->servable, *call->signature, read.examples);
  }
  InferenceRequest inference{
      .servable = call->servable,
      .signature = call->signature,
      .inputs = ExampleInputs(std::move(read.examples)),
      .deadline = call->begun + options_.timeout,
      .cancelled = [call] { return call->responder.ClientLeft(); },
      .again = [call](std::function<void()> run) { call->responder.Later(std::move(run)); }};
  parts_.batcher->Submit(std::move(inference), [this, call, classify](const Status& status,
                                                                      std::vector<Tensor> outputs) {
    call->responder.Send([this, call, classify, status, outputs = std::move(outputs)] {
      Status result = status;
      net::HttpReply reply;
      try {
        if (!result.ok()) {
          result = WithSample(*call, result);
        } else if (classify) {
          reply.body = ClassesText(ClassesOf(*call->signature, outputs, call->rows));
        } else {
          reply.body = RegressionsText(RegressionsOf(*call->signature, outputs, call->rows));
        }
      } catch (...) {
        result = CurrentStatus();
      }
      return Finish(*call, result, std::move(reply));
    });
  });
}

}  // namespace sextant::serving

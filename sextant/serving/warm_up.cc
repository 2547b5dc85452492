#include "sextant/serving/warm_up.h"

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/serving.pb.h"
#include "sextant/serving/inference.h"
#include "sextant/serving/messages.h"

namespace sextant::serving {
namespace {

void Run(const ServableSignature& signature, const std::vector<Tensor>& inputs,
         std::vector<int> wanted, const RunOptions& options) {
  std::vector<Tensor> outputs(wanted.empty() ? signature.outputs().size() : wanted.size());
  signature.signature().Call(inputs, wanted, outputs, options);
}

void Replay(const Servable& servable, const proto::PredictionLog& log, const RunOptions& options) {
  switch (log.log_type_case()) {
    case proto::PredictionLog::kPredictLog: {
      const proto::PredictRequest& request = log.predict_log().request();
      const auto& signature = PredictSignature(servable, request.model_spec().signature_name());
      const std::vector<std::string> filter(request.output_filter().begin(),
                                            request.output_filter().end());
      return Run(signature, PredictInputs(request, signature), OutputPlaces(signature, filter),
                 options);
    }
    case proto::PredictionLog::kClassifyLog: {
      const proto::ClassificationRequest& request = log.classify_log().request();
      const auto& signature =
          ExamplesSignature(servable, request.model_spec().signature_name(), Method::kClassify);
      return Run(signature, ExampleInputs(ExamplesOf(request.input())), {}, options);
    }
    case proto::PredictionLog::kRegressLog: {
      const proto::RegressionRequest& request = log.regress_log().request();
      const auto& signature =
          ExamplesSignature(servable, request.model_spec().signature_name(), Method::kRegress);
      return Run(signature, ExampleInputs(ExamplesOf(request.input())), {}, options);
    }
    case proto::PredictionLog::kMultiInferenceLog: {
      const proto::MultiInferenceRequest& request = log.multi_inference_log().request();
      const std::vector<Tensor> inputs = ExampleInputs(ExamplesOf(request.input()));
      for (const proto::InferenceTask& task : request.tasks()) {
        const bool classify = task.method_name() == "tensorflow/serving/classify";
        Run(ExamplesSignature(servable, task.model_spec().signature_name(),
                              classify ? Method::kClassify : Method::kRegress),
            inputs, {}, options);
      }
      return;
    }
    default:
      throw InvalidArgument("a log of a kind that is not replayed");
  }
}

}  // namespace

int64_t ReplayWarmUp(const Servable& servable, int64_t most, const RunOptions& options) {
  const std::string path = SavedExtraAssetPath(servable.path(), "tf_serving_warmup_requests");
  if (!FileSystem::ForPath(path).Exists(path)) return -1;
  TFRecordReader reader(path);
  std::string record;
  int64_t count = 0;
  while (count < most && reader.Next(&record)) {
    const std::string place = fmt::format("{}, record {}", path, count + 1);
    proto::PredictionLog log;
    ParseMessage(record, place, &log);
    try {
      Replay(servable, log, options);
    } catch (const Error& error) {
      throw error.WithPrefix(place + ": ");
    }
    ++count;
  }
  return count;
}

}  // namespace sextant::serving

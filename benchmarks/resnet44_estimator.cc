// ResNet-44 as a user trains it: through the Estimator, on TFRecords, with distorted images.
#include <fmt/format.h>

#include "benchmarks/random_records.h"
#include "benchmarks/report.h"
#include "benchmarks/step_timer.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/estimator/estimator.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/models/registry.h"

namespace sextant::bench {
namespace {

constexpr int kImages = 20000;

void WriteRecords(const std::string& path) {
  const std::vector<std::string> pool = RandomCifarRecords(1000);
  TFRecordWriter writer(path);
  for (size_t i = 0; i < kImages; ++i) writer.Write(pool[i % pool.size()]);
  writer.Close();
}

void Train(const Options& options, const std::string& work, int64_t batch) {
  const models::RegisteredModel& model = models::FindModel("cifar10_resnet");
  HParams params = models::DefaultParams(model);
  params.Parse(fmt::format("train_batch_size={}", batch));
  const int64_t steps = std::max<int64_t>(1, static_cast<int64_t>(options.seconds * 3));
  const auto timer =
      std::make_shared<StepTimer>(std::max(3, options.warmup), steps, options.repeats);
  RunConfig config;
  config.model_dir = fmt::format("{}/model-{}", work, batch);
  config.random_seed = 1;
  config.session.threads = options.threads;
  Estimator estimator(model.model_fn(params), config, params);
  estimator.Train([&] { return model.train_input(params, {.folder = work}); }, {.hooks = {timer}});
  std::vector<double> rates;
  for (const double span : timer->spans()) {
    rates.push_back(static_cast<double>(steps * batch) / span);
  }
  Emit("resnet44", "images/s", rates, false,
       {{"batch", std::to_string(batch)},
        {"mode", Quote("training through the Estimator, TFRecords, distorted")},
        {"threads", std::to_string(options.threads)}});
}

}  // namespace

void MeasureResnet44Estimator(const Options& options) {
  SetLogLevel(LogLevel::kWarning);
  const TemporaryDirectory work;
  WriteRecords(JoinPath(work.path(), "train.tfrecords"));
  for (const int64_t batch : options.batches) Train(options, work.path(), batch);
}

}  // namespace sextant::bench

// One request to a SavedModel inside the process: what peers/serving_tf.py measures.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "benchmarks/census_job.h"
#include "benchmarks/report.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/runtime/saved_model.h"
#include "sextant/tensor/tensor.h"

namespace sextant::bench {
namespace {

Tensor Texts(const std::string& text, int64_t batch) {
  Tensor tensor(DType::kString, Shape({batch}));
  std::ranges::fill(tensor.flat<std::string>(), text);
  return tensor;
}

Tensor Numbers(float number, int64_t batch) {
  Tensor tensor(DType::kFloat, Shape({batch}));
  std::ranges::fill(tensor.flat<float>(), number);
  return tensor;
}

NamedTensors Person(int64_t batch) {
  return {{"age", Numbers(25, batch)},
          {"workclass", Texts(" Private", batch)},
          {"education", Texts(" 11th", batch)},
          {"education_num", Numbers(7, batch)},
          {"marital_status", Texts(" Never-married", batch)},
          {"occupation", Texts(" Machine-op-inspct", batch)},
          {"relationship", Texts(" Own-child", batch)},
          {"race", Texts(" Black", batch)},
          {"gender", Texts(" Male", batch)},
          {"capital_gain", Numbers(0, batch)},
          {"capital_loss", Numbers(0, batch)},
          {"hours_per_week", Numbers(40, batch)},
          {"native_country", Texts(" United-States", batch)}};
}

// Latencies of "count" calls in microseconds, sorted.
std::vector<double> Latencies(const std::function<void()>& call, int count) {
  for (int i = 0; i < count / 10 + 5; ++i) call();
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
            .count());
  }
  std::ranges::sort(times);
  return times;
}

void EmitLatency(const std::vector<double>& sorted, const std::string& mode, int64_t batch,
                 int threads) {
  const auto share = [&](double part) {
    const auto at = static_cast<size_t>(static_cast<double>(sorted.size()) * part);
    return fmt::format("{:.1f}", sorted[std::min(at, sorted.size() - 1)]);
  };
  Emit("serving", "p50_us", {sorted[sorted.size() / 2]}, true,
       {{"p90_us", share(0.9)},
        {"p99_us", share(0.99)},
        {"count", std::to_string(sorted.size())},
        {"mode", Quote(mode)},
        {"batch", std::to_string(batch)},
        {"threads", std::to_string(threads)}});
}

}  // namespace

void MeasureServing(const Options& options, const std::string& data, int count) {
  if (data.empty()) throw InvalidArgument("the serving workload needs --data DIR, with adult.data");
  SetLogLevel(LogLevel::kWarning);
  const CensusFiles files(data);
  Estimator estimator = CensusEstimator(files.folder() + "/model", options.threads);
  estimator.Train([&] { return CensusInput(files.train(), 128, true, "line"); }, {.steps = 100});
  const std::string path = estimator.ExportSavedModel(files.folder() + "/export", CensusReceiver());
  SessionOptions session;
  session.threads = options.threads;
  const SavedModel model = SavedModel::Load(path, {"serve"}, session);
  const Signature& signature = model.signature("predict");
  for (const int64_t batch : options.batches) {
    const NamedTensors person = Person(batch);
    EmitLatency(Latencies([&] { signature.Run(person); }, count), "census, Session.run", batch,
                options.threads);
    std::vector<Output> feeds, fetches;
    std::vector<Tensor> values;
    for (const auto& [name, value] : person) {
      feeds.push_back(model.graph().FindOutput(signature.inputs().at(name).name));
      values.push_back(value);
    }
    for (const auto& [name, output] : signature.outputs()) {
      fetches.push_back(model.graph().FindOutput(output.name));
    }
    const Callable call = model.session().MakeCallable(feeds, fetches);
    EmitLatency(Latencies([&] { call(values); }, count), "census, make_callable", batch,
                options.threads);
  }
}

}  // namespace sextant::bench

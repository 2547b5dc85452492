// Latency of requests that come when they come: at a tenth of the capacity, and at three times it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "benchmarks/open_loop.h"
#include "benchmarks/serving_load.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::bench {
namespace {

constexpr int64_t kQueue = 4;  // batches that may wait
constexpr int64_t kRows = 16;  // of a batch

// In-process runs of a batch of "rows" rows. The model must outlive the client.
MakeClient RunsOf(const SavedModel& model, int64_t rows, const Shape& row) {
  return [&model, rows, row]() -> LoadClient {
    std::vector<int64_t> dims(row.dims().begin(), row.dims().end());
    dims.insert(dims.begin(), rows);
    const auto x = std::make_shared<std::vector<Tensor>>();
    x->push_back(Tensor::Zeros(DType::kFloat, Shape(dims)));
    const auto y = std::make_shared<std::vector<Tensor>>(1);
    return [&model, x, y] { model.signature().Call(*x, {}, *y); };
  };
}

void MeasureModel(const std::string& name, const std::string& base, const Shape& row,
                  const ServingOptions& options) {
  serving::ServerOptions server_options;
  server_options.rest_port = 0;
  server_options.models = {{.name = "m", .base_path = base}};
  server_options.batching.enabled = true;
  server_options.batching.max_batch_size = kRows;
  server_options.batching.max_enqueued_batches = kQueue;
  const auto server = StartServer(server_options);
  const auto echo = StartHttpEcho();
  const std::string request = PredictPost(
      "m", std::string(row.num_elements() * sizeof(float), '\0'), "application/octet-stream");
  const MakeClient served = HttpLoad(server->rest_port(), request);

  const SavedModel model = SavedModel::Load(JoinPath(base, "1"));
  const double run_ms = MeasureClosedLoop(RunsOf(model, 1, row), 1, options.seconds).p50_us / 1000;
  // As the server runs them: a batch per core at a time.
  const int threads = static_cast<int>(std::thread::hardware_concurrency());
  const Measured batches = MeasureClosedLoop(RunsOf(model, kRows, row), threads, options.seconds);
  const double bound_ms = 1000 * kQueue / batches.rate + batches.p50_us / 1000;
  std::vector<double> capacities;
  for (int i = 0; i < 3; ++i) {
    capacities.push_back(MeasureClosedLoop(served, 48, options.seconds).rate);
  }
  const double capacity = Median(capacities);

  std::vector<double> low, low_echo, goodput, accepted;
  for (int i = 0; i < options.alternations; ++i) {
    // Long enough for p99 to rest on many requests.
    OpenLoopOptions load{.rate = 0.1 * capacity,
                         .seconds = std::max(2 * options.seconds, 1000 / (0.1 * capacity)),
                         .seed = static_cast<uint64_t>(i + 1)};
    low.push_back(PercentileOf(RunOpenLoop(server->rest_port(), request, load).due_ms, 0.99));
    low_echo.push_back(PercentileOf(RunOpenLoop(echo->port(), request, load).due_ms, 0.99));
    // Connections enough that requests wait in the server, not before it.
    load.rate = 3 * capacity;
    load.seconds = 2 * options.seconds;
    const OpenLoopReport overload = RunOpenLoop(server->rest_port(), request, load);
    goodput.push_back(overload.goodput());
    accepted.push_back(PercentileOf(overload.sent_ms, 0.99));
  }
  Emit("serving_open_loop", "p99_ms", low, true,
       {{"mode", Quote(name + ", 10 % load")},
        {"capacity", fmt::format("{:.1f}", capacity)},
        {"echo_p99_ms", fmt::format("{:.3f}", Median(low_echo))},
        {"run_ms", fmt::format("{:.3f}", run_ms)},
        {"of_echo_and_run", fmt::format("{:.3f}", Median(low) / (Median(low_echo) + run_ms))}});
  Emit("serving_open_loop", "goodput", goodput, false,
       {{"mode", Quote(name + ", 3 x overload")},
        {"of_capacity", fmt::format("{:.3f}", Median(goodput) / capacity)},
        {"p99_ms_of_accepted", fmt::format("{:.2f}", Median(accepted))},
        {"queue_at_goodput_ms", fmt::format("{:.2f}", 1000 * kQueue * kRows / Median(goodput))},
        {"queue_bound_ms", fmt::format("{:.2f}", bound_ms)}});
}

}  // namespace

void MeasureServingOpenLoop(const ServingOptions& options) {
  const TemporaryDirectory directory;
  MeasureModel("dense", ExportDense(JoinPath(directory.path(), "dense"), 1024), Shape{64}, options);
  MeasureModel("resnet44", ExportResnet44(JoinPath(directory.path(), "resnet44")), Shape{32, 32, 3},
               options);
}

}  // namespace sextant::bench

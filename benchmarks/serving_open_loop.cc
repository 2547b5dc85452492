// Latency of requests that come when they come: at a tenth of the capacity, and at three times it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "benchmarks/serving_load.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::bench {

void MeasureServingOpenLoop(const ServingOptions& options) {
  constexpr int64_t kQueue = 4;  // batches that may wait
  constexpr int64_t kRows = 16;  // of a batch
  const TemporaryDirectory directory;
  const std::string base = ExportDense(JoinPath(directory.path(), "m"), 1024);
  serving::ServerOptions server_options;
  server_options.rest_port = 0;
  server_options.models = {{.name = "m", .base_path = base}};
  server_options.batching.enabled = true;
  server_options.batching.max_batch_size = kRows;
  server_options.batching.max_enqueued_batches = kQueue;
  const auto server = StartServer(server_options);
  const auto echo = StartHttpEcho();
  const std::string request =
      PredictPost("m", std::string(64 * sizeof(float), '\0'), "application/octet-stream");
  const MakeClient served = HttpLoad(server->rest_port(), request);
  const MakeClient echoed = HttpLoad(echo->port(), request);

  const SavedModel model = SavedModel::Load(JoinPath(base, "1"));
  const auto run = [&](int64_t rows) -> MakeClient {
    return [&model, rows]() -> LoadClient {
      const auto x = std::make_shared<std::vector<Tensor>>();
      x->push_back(Tensor::Zeros(DType::kFloat, Shape({rows, 64})));
      const auto y = std::make_shared<std::vector<Tensor>>(1);
      return [&model, x, y] { model.signature().Call(*x, {}, *y); };
    };
  };
  const double run_ms = MeasureClosedLoop(run(1), 1, options.seconds).p50_us / 1000;
  const double batch_ms = MeasureClosedLoop(run(kRows), 1, options.seconds).p50_us / 1000;
  std::vector<double> capacities;
  for (int i = 0; i < 3; ++i) {
    capacities.push_back(MeasureClosedLoop(served, 48, options.seconds).rate);
  }
  const double capacity = Median(capacities);

  std::vector<double> low, low_echo, goodput, accepted;
  const std::chrono::milliseconds duration(static_cast<int64_t>(2000 * options.seconds));
  for (int i = 0; i < options.alternations; ++i) {
    const serving::LoadOptions tenth{
        .rate = 0.1 * capacity, .duration = duration, .seed = static_cast<uint64_t>(i + 1)};
    low.push_back(serving::GenerateLoad(tenth, served).Percentile(0.99));
    low_echo.push_back(serving::GenerateLoad(tenth, echoed).Percentile(0.99));
    // Clients enough that requests wait in the server, not before it.
    const serving::LoadOptions three{.rate = 3 * capacity,
                                     .duration = duration,
                                     .clients = 256,
                                     .seed = static_cast<uint64_t>(i + 1)};
    std::mutex mutex;
    std::vector<double> times;  // of answers without error, from when the request was sent
    const auto timed = [&]() -> LoadClient {
      return [&, ask = served()] {
        const auto begun = std::chrono::steady_clock::now();
        ask();
        const std::chrono::duration<double, std::milli> time =
            std::chrono::steady_clock::now() - begun;
        const std::lock_guard lock(mutex);
        times.push_back(time.count());
      };
    };
    goodput.push_back(serving::GenerateLoad(three, timed).goodput());
    std::ranges::sort(times);
    accepted.push_back(times[times.size() * 99 / 100]);
  }
  Emit("serving_open_loop", "p99_ms", low, true,
       {{"mode", Quote("10 % load")},
        {"capacity", fmt::format("{:.1f}", capacity)},
        {"echo_p99_ms", fmt::format("{:.3f}", Median(low_echo))},
        {"run_ms", fmt::format("{:.3f}", run_ms)},
        {"of_echo_and_run", fmt::format("{:.3f}", Median(low) / (Median(low_echo) + run_ms))}});
  Emit("serving_open_loop", "goodput", goodput, false,
       {{"mode", Quote("3 x overload")},
        {"of_capacity", fmt::format("{:.3f}", Median(goodput) / capacity)},
        {"p99_ms_of_accepted", fmt::format("{:.2f}", Median(accepted))},
        {"queue_bound_ms", fmt::format("{:.2f}", (kQueue + 1) * batch_ms)}});
}

}  // namespace sextant::bench

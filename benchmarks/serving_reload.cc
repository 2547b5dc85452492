// New versions again and again under load: failures, latency of the model and of another one,
// memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <thread>

#include "benchmarks/open_loop.h"
#include "benchmarks/serving_load.h"
#include "sextant/base/file_system.h"
#include "sextant/base/resident_memory.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/base/thread_scheduling.h"
#include "sextant/serving/model_manager.h"

namespace sextant::bench {
namespace {

namespace fs = std::filesystem;

double ResidentMegabytes() { return static_cast<double>(ResidentBytes()) / (1 << 20); }

// What requests to both models met. Their times are not kept: they would count as the server's
// memory.
struct Load {
  double reloaded_p99_ms = 0, other_p99_ms = 0;
  int64_t requests = 0, failures = 0;
};

Load BothUnderLoad(int port, const std::string& reloaded, const std::string& other,
                   const OpenLoopOptions& options, const std::function<void()>& meanwhile) {
  Load load;
  std::mutex mutex;
  const auto ask = [&](const std::string& request, double* p99_ms) {
    const OpenLoopReport report = RunOpenLoop(port, request, options);
    const std::lock_guard lock(mutex);
    *p99_ms = PercentileOf(report.due_ms, 0.99);
    load.requests += static_cast<int64_t>(report.due_ms.size());
    load.failures += report.refused;
  };
  std::thread first([&] { ask(reloaded, &load.reloaded_p99_ms); });
  std::thread second([&] { ask(other, &load.other_p99_ms); });
  // Who writes exports is another process, on another machine perhaps.
  std::thread third([&] {
    YieldToOthers();
    meanwhile();
  });
  for (std::thread* thread : {&first, &second, &third}) thread->join();
  return load;
}

}  // namespace

void MeasureServingReload(const ServingOptions& options) {
  const TemporaryDirectory directory;
  const std::string m = ExportDense(JoinPath(directory.path(), "m"), 512);
  const std::string other = ExportDense(JoinPath(directory.path(), "other"), 512);
  serving::ServerOptions server_options;
  server_options.rest_port = 0;
  server_options.file_system_poll = std::chrono::milliseconds(10);
  server_options.models = {{.name = "m", .base_path = m}, {.name = "other", .base_path = other}};
  const auto server = StartServer(server_options);
  const std::string body(64 * sizeof(float), '\0');
  const auto request = [&](const std::string& model) {
    return PredictPost(model, body, "application/octet-stream");
  };
  const double capacity =
      MeasureClosedLoop(HttpLoad(server->rest_port(), request("m")), 16, options.seconds).rate;
  const double rate = 0.2 * capacity;  // each: with loading the machine is busy, not overloaded
  int64_t version = 1;
  const auto reload = [&](int count) {
    for (int i = 0; i < count; ++i, ++version) {
      const std::string staged = JoinPath(directory.path(), "staged");
      fs::copy(JoinPath(m, std::to_string(version)), staged, fs::copy_options::recursive);
      fs::rename(staged, JoinPath(m, std::to_string(version + 1)));
      while (server->models().Find("m", {})->version() != version + 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      fs::remove_all(JoinPath(m, std::to_string(version)));
    }
  };
  const auto begun = std::chrono::steady_clock::now();
  reload(10);  // memory that the first ones take is kept for the next
  const std::chrono::duration<double> each = (std::chrono::steady_clock::now() - begun) / 10;
  const OpenLoopOptions open_loop{.rate = rate,
                                  .seconds = std::max(1.0, 1.2 * each.count() * options.reloads),
                                  .connections = 8};
  const auto under_load = [&](const std::function<void()>& meanwhile) {
    return BothUnderLoad(server->rest_port(), request("m"), request("other"), open_loop, meanwhile);
  };
  const Load rest = under_load([] {});
  const double before = ResidentMegabytes();
  const Load during = under_load([&] { reload(options.reloads); });
  // What the last version replaced is freed a moment later.
  const auto loaded = [&] {
    const auto counts = server->models().counts();
    return counts.loads - counts.unloads;
  };
  while (loaded() > static_cast<int64_t>(server_options.models.size())) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const double after = ResidentMegabytes();
  Emit("serving_reload", "failures", {static_cast<double>(during.failures)}, true,
       {{"reloads", std::to_string(options.reloads)},
        {"requests", std::to_string(during.requests)},
        {"p99_ms", fmt::format("{:.3f}", during.reloaded_p99_ms)},
        {"of_rest", fmt::format("{:.3f}", during.reloaded_p99_ms / rest.reloaded_p99_ms)},
        {"other_p99_ms", fmt::format("{:.3f}", during.other_p99_ms)},
        {"other_of_rest", fmt::format("{:.3f}", during.other_p99_ms / rest.other_p99_ms)},
        {"rss_mb", fmt::format("{:.1f}", after)},
        {"rss_growth", fmt::format("{:.4f}", after / before - 1)}});
}

}  // namespace sextant::bench

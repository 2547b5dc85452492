// New versions again and again under load: failures, latency of the model and of another one,
// memory.
#include <fmt/format.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "benchmarks/serving_load.h"
#include "sextant/base/file_system.h"
#include "sextant/base/resident_memory.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/serving/model_manager.h"

namespace sextant::bench {
namespace {

namespace fs = std::filesystem;

double ResidentMegabytes() { return static_cast<double>(ResidentBytes()) / (1 << 20); }

// What requests to both models met.
struct Load {
  serving::LoadReport reloaded, other;
};

Load BothUnderLoad(const MakeClient& reloaded, const MakeClient& other, double rate,
                   std::chrono::milliseconds duration, const std::function<void()>& meanwhile) {
  Load load;
  const serving::LoadOptions options{.rate = rate, .duration = duration, .clients = 8};
  std::thread first([&] { load.reloaded = serving::GenerateLoad(options, reloaded); });
  std::thread second([&] { load.other = serving::GenerateLoad(options, other); });
  meanwhile();
  first.join();
  second.join();
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
  const auto load = [&](const std::string& model) {
    return HttpLoad(server->rest_port(), PredictPost(model, body, "application/octet-stream"));
  };
  const double capacity = MeasureClosedLoop(load("m"), 16, options.seconds).rate;
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
  const std::chrono::duration<double, std::milli> each =
      (std::chrono::steady_clock::now() - begun) / 10;
  const std::chrono::milliseconds duration(
      std::max<int64_t>(1000, static_cast<int64_t>(1.2 * each.count() * options.reloads)));
  const Load rest = BothUnderLoad(load("m"), load("other"), rate,
                                  std::chrono::milliseconds(duration.count() / 4), [] {});
  const double before = ResidentMegabytes();
  const Load during =
      BothUnderLoad(load("m"), load("other"), rate, duration, [&] { reload(options.reloads); });
  const double after = ResidentMegabytes();
  int64_t failures = 0;
  for (const auto* report : {&during.reloaded, &during.other}) {
    for (const auto& [code, count] : report->errors) failures += count;
  }
  const auto p99 = [](const serving::LoadReport& report) { return report.Percentile(0.99); };
  Emit("serving_reload", "failures", {static_cast<double>(failures)}, true,
       {{"reloads", std::to_string(options.reloads)},
        {"requests", std::to_string(during.reloaded.requests + during.other.requests)},
        {"p99_ms", fmt::format("{:.3f}", p99(during.reloaded))},
        {"of_rest", fmt::format("{:.3f}", p99(during.reloaded) / p99(rest.reloaded))},
        {"other_p99_ms", fmt::format("{:.3f}", p99(during.other))},
        {"other_of_rest", fmt::format("{:.3f}", p99(during.other) / p99(rest.other))},
        {"rss_mb", fmt::format("{:.1f}", after)},
        {"rss_growth", fmt::format("{:.4f}", after / before - 1)}});
}

}  // namespace sextant::bench

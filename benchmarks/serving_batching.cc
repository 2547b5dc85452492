// Batches: what a saturated server makes of a model against the same model in this process, and
// what joining requests gains.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "benchmarks/serving_load.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::bench {
namespace {

constexpr int kClients = 16;

std::string RawRow(int64_t floats) {
  std::string bytes(floats * sizeof(float), '\0');
  auto* values = reinterpret_cast<float*>(bytes.data());
  for (int64_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i % 97) * 0.01f;
  return bytes;
}

std::string RawPost(int64_t floats) {
  return PredictPost("m", RawRow(floats), "application/octet-stream");
}

serving::ServerOptions OptionsFor(const std::string& base, bool batching) {
  serving::ServerOptions options;
  options.rest_port = 0;
  options.models = {{.name = "m", .base_path = base}};
  options.monitoring.enabled = true;
  options.batching.enabled = batching;
  options.batching.max_batch_size = 32;
  return options;
}

// Rows a second of a loaded model in this process, one run after another by all threads.
MakeClient InProcess(const SavedModel& model, int64_t rows) {
  return [&model, rows]() -> LoadClient {
    const Signature& signature = model.signature();
    const SignatureTensor& input = signature.inputs().begin()->second;
    std::vector<int64_t> dims(input.shape.dims().begin(), input.shape.dims().end());
    dims[0] = rows;
    const auto x = std::make_shared<std::vector<Tensor>>();
    x->push_back(Tensor::Zeros(input.dtype, Shape(dims)));
    const auto y = std::make_shared<std::vector<Tensor>>(signature.outputs().size());
    return [&signature, x, y] { signature.Call(*x, {}, *y); };
  };
}

}  // namespace

void MeasureServingResnet(const ServingOptions& options) {
  const TemporaryDirectory directory;
  const std::string base = ExportResnet44(JoinPath(directory.path(), "m"));
  const auto server = StartServer(OptionsFor(base, true));
  const SavedModel model = SavedModel::Load(JoinPath(base, "1"));
  const MakeClient served = HttpLoad(server->rest_port(), RawPost(32 * 32 * 3));
  MeasureClosedLoop(served, kClients, options.seconds);
  const auto rows = std::max<int64_t>(1, std::llround(MeanBatchRows(server->rest_port())));
  std::vector<Contender> contenders = {{"server", served}, {"in_process", InProcess(model, rows)}};
  for (const ServingPeer& peer : options.peers) {
    if (peer.mode == "resnet44")
      contenders.push_back({peer.name, HttpLoad(peer.port, peer.request)});
  }
  std::vector<std::vector<double>> rates(contenders.size());
  for (int i = 0; i < options.alternations; ++i) {
    for (size_t k = 0; k < contenders.size(); ++k) {
      const bool inside = contenders[k].name == "in_process";
      const Measured one =
          MeasureClosedLoop(contenders[k].make, inside ? 1 : kClients, 3 * options.seconds);
      rates[k].push_back(one.rate * (inside ? static_cast<double>(rows) : 1));
    }
  }
  Extra extra = {{"mode", Quote("ResNet-44, saturated")},
                 {"clients", std::to_string(kClients)},
                 {"rows", std::to_string(rows)}};
  for (size_t k = 1; k < contenders.size(); ++k) {
    extra.emplace_back(contenders[k].name, fmt::format("{:.1f}", Median(rates[k])));
    extra.emplace_back("of_" + contenders[k].name,
                       fmt::format("{:.3f}", Median(rates[0]) / Median(rates[k])));
  }
  Emit("serving_resnet", "images_per_second", rates[0], false, extra);
}

void MeasureServingBatching(const ServingOptions& options) {
  const TemporaryDirectory directory;
  const std::string base = ExportDense(JoinPath(directory.path(), "m"), 2048);
  const std::string request = RawPost(64);
  const SavedModel model = SavedModel::Load(JoinPath(base, "1"));
  const auto joined = StartServer(OptionsFor(base, true)),
             single = StartServer(OptionsFor(base, false));
  MeasureClosedLoop(HttpLoad(joined->rest_port(), request), kClients, options.seconds);
  const auto rows = std::max<int64_t>(1, std::llround(MeanBatchRows(joined->rest_port())));
  std::vector<double> on, off, many, one;
  for (int i = 0; i < options.alternations; ++i) {
    on.push_back(
        MeasureClosedLoop(HttpLoad(joined->rest_port(), request), kClients, options.seconds).rate);
    off.push_back(
        MeasureClosedLoop(HttpLoad(single->rest_port(), request), kClients, options.seconds).rate);
    many.push_back(static_cast<double>(rows) *
                   MeasureClosedLoop(InProcess(model, rows), 1, options.seconds).rate);
    one.push_back(MeasureClosedLoop(InProcess(model, 1), 1, options.seconds).rate);
  }
  const double gain = Median(on) / Median(off), possible = Median(many) / Median(one);
  Emit("serving_batching", "requests_per_second", on, false,
       {{"mode", Quote("joined")},
        {"clients", std::to_string(kClients)},
        {"rows", std::to_string(rows)},
        {"single", fmt::format("{:.1f}", Median(off))},
        {"gain", fmt::format("{:.3f}", gain)},
        {"in_process_gain", fmt::format("{:.3f}", possible)},
        {"of_in_process_gain", fmt::format("{:.3f}", gain / possible)}});

  // The best of a sweep of static settings, then a latency target that steers.
  double best = 0;
  std::string best_setting;
  for (const int64_t size : {8, 16, 32}) {
    for (const int64_t timeout : {0, 1000, 5000}) {
      serving::ServerOptions fixed = OptionsFor(base, true);
      fixed.batching.max_batch_size = size;
      fixed.batching.timeout_micros = timeout;
      const auto server = StartServer(fixed);
      std::vector<double> rates;
      for (int i = 0; i < 3; ++i) {
        rates.push_back(
            MeasureClosedLoop(HttpLoad(server->rest_port(), request), kClients, options.seconds)
                .rate);
      }
      if (Median(rates) <= best) continue;
      best = Median(rates);
      best_setting = fmt::format("size {}, {} us", size, timeout);
    }
  }
  const double run_ms = 1000 / Median(one);
  const double target_ms = std::max(20.0, 10 * run_ms);
  serving::ServerOptions steered = OptionsFor(base, true);
  steered.models[0].latency_target_ms = target_ms;
  const auto server = StartServer(steered);
  std::vector<double> rates;
  for (int i = 0; i < options.alternations; ++i) {
    rates.push_back(
        MeasureClosedLoop(HttpLoad(server->rest_port(), request), kClients, options.seconds).rate);
  }
  const auto report = serving::GenerateLoad(
      {.rate = 0.8 * Median(rates),
       .duration = std::chrono::milliseconds(static_cast<int64_t>(3000 * options.seconds)),
       .clients = 64},
      HttpLoad(server->rest_port(), request));
  Emit("serving_batching", "requests_per_second", rates, false,
       {{"mode", Quote("latency target")},
        {"best_static", fmt::format("{:.1f}", best)},
        {"best_setting", Quote(best_setting)},
        {"of_best_static", fmt::format("{:.3f}", Median(rates) / best)},
        {"target_ms", fmt::format("{:.1f}", target_ms)},
        {"p99_ms_at_80_percent", fmt::format("{:.2f}", report.Percentile(0.99))}});
}

}  // namespace sextant::bench

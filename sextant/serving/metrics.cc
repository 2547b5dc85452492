#include "sextant/serving/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <mutex>
#include <unordered_map>

#include "sextant/base/printable.h"

namespace sextant::serving {
namespace {

using prometheus::Family;

// Model names that nobody configured share one label: requests must not fill memory.
constexpr size_t kMaxSeries = 4096;

std::vector<double> PowersOf(double base, double first, int count) {
  std::vector<double> bounds;
  for (double bound = first; static_cast<int>(bounds.size()) < count; bound *= base) {
    bounds.push_back(bound);
  }
  return bounds;
}

double Microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1000;
}

std::string CodeText(Code code) { return std::string(CodeName(code)); }

}  // namespace

// Series are looked up by one text of all their labels, and those of a request or a batch together
// by one text of all that tells it apart: it costs a look-up in a hash table, not the making of
// label maps.
class Metrics::State {
 public:
  State()
      : request_count_(
            Counters(":tensorflow:serving:request_count", "requests by model and status")),
        requests_(Counters("sextant_requests", "requests in detail")),
        request_latency_(Histograms(":tensorflow:serving:request_latency", "whole requests, µs")),
        runtime_latency_(Histograms(":tensorflow:serving:runtime_latency", "runs of models, µs")),
        serialize_latency_(Histograms("sextant_serialize_latency", "writing of answers, µs")),
        example_counts_(Histograms(":tensorflow:serving:request_example_counts", "rows of a run")),
        queuing_(Histograms(":tensorflow:serving:batching_session:queuing_latency",
                            "waiting for a batch, µs")),
        batch_size_(Histograms(":tensorflow:serving:batching_session:processed_batch_size",
                               "rows of a batch, padding included")),
        padding_(Histograms(":tensorflow:serving:batching_session:padding_size",
                            "rows that were added to a batch")),
        warm_up_latency_(
            Histograms(":tensorflow:serving:model_warmup_latency", "warm-up of a version, µs")) {}

  void Request(const RequestReport& report) {
    const RequestSeries series = SeriesOf(report);
    series.count->Increment();
    series.detailed->Increment();
    if (series.latency == nullptr) return;
    series.latency->Observe(Microseconds(report.latency));
    series.serialize->Observe(Microseconds(report.serialize));
  }

  void Batch(const BatchReport& report) {
    const BatchSeries series = SeriesOf(report);
    series.runtime->Observe(Microseconds(report.run));
    series.examples->Observe(static_cast<double>(report.rows));
    series.queuing->Observe(Microseconds(report.queued));
    series.size->Observe(static_cast<double>(report.rows + report.padding));
    series.padding->Observe(static_cast<double>(report.padding));
  }

  std::string Text(const ServerGauges& gauges) {
    ObserveWarmUps(gauges.loaded);
    auto families = registry_.Collect();
    prometheus::Registry now;
    const auto gauge = [&](const char* name, const char* help, double value,
                           const prometheus::Labels& labels = {}) {
      prometheus::BuildGauge().Name(name).Help(help).Register(now).Add(labels).Set(value);
    };
    gauge("sextant_loads", "versions loaded since the start", gauges.counts.loads);
    gauge("sextant_failed_loads", "attempts that failed", gauges.counts.failed_loads);
    gauge("sextant_unloads", "versions unloaded", gauges.counts.unloads);
    gauge("sextant_waiting_requests", "in queues", gauges.waiting);
    gauge("sextant_connections", "of REST clients", gauges.connections);
    gauge("sextant_bytes_in_flight", "of REST bodies", gauges.bytes_in_flight);
    auto& loaded = prometheus::BuildGauge()
                       .Name("sextant_loaded_bytes")
                       .Help("variables of a version")
                       .Register(now);
    for (const auto& servable : gauges.loaded) {
      loaded.Add({{"model", servable->model()}, {"version", std::to_string(servable->version())}})
          .Set(static_cast<double>(servable->bytes()));
    }
    for (auto& family : now.Collect()) families.push_back(std::move(family));
    return prometheus::TextSerializer().Serialize(families);
  }

 private:
  struct RequestSeries {
    prometheus::Counter *count = nullptr, *detailed = nullptr;
    // None where the request did not get so far as to a signature.
    prometheus::Histogram *latency = nullptr, *serialize = nullptr;
  };
  struct BatchSeries {
    prometheus::Histogram *runtime, *examples, *queuing, *size, *padding;
  };

  RequestSeries SeriesOf(const RequestReport& report) {
    thread_local std::string key;
    key.clear();
    const std::string_view version(reinterpret_cast<const char*>(&report.version),
                                   sizeof report.version);
    for (const std::string_view part :
         {report.model, version, report.label, report.signature, report.method, report.api}) {
      key.append(part).push_back('\n');
    }
    key.push_back(static_cast<char>(report.code));
    const std::lock_guard lock(mutex_);
    const auto found = request_series_.find(key);
    if (found != request_series_.end()) return found->second;
    const RequestSeries series = FindSeries(report);
    if (request_series_.size() < kMaxSeries) request_series_.emplace(key, series);
    return series;
  }

  RequestSeries FindSeries(const RequestReport& report) {
    const std::string model(report.model);
    const std::string code = CodeText(report.code);
    RequestSeries series;
    series.count = &Counter(request_count_, fmt::format("c\n{}\n{}", model, code), [&] {
      return prometheus::Labels{{"model_name", model}, {"status", code}};
    });
    series.detailed =
        &Counter(requests_,
                 fmt::format("r\n{}\n{}\n{}\n{}\n{}\n{}\n{}", model, report.version, report.label,
                             report.signature, report.method, report.api, code),
                 [&] {
                   return prometheus::Labels{{"model", model},
                                             {"version", std::to_string(report.version)},
                                             {"label", std::string(report.label)},
                                             {"signature", std::string(report.signature)},
                                             {"method", std::string(report.method)},
                                             {"api", std::string(report.api)},
                                             {"code", code}};
                 });
    if (report.signature.empty()) return series;
    series.latency =
        &Histogram(request_latency_, fmt::format("l\n{}\n{}\n{}", model, report.api, report.method),
                   kTimes, [&] {
                     return prometheus::Labels{{"model_name", model},
                                               {"API", std::string(report.method)},
                                               {"entrypoint", std::string(report.api)}};
                   });
    series.serialize = &Histogram(serialize_latency_, fmt::format("s\n{}", model), kTimes, [&] {
      return prometheus::Labels{{"model", model}};
    });
    return series;
  }

  BatchSeries SeriesOf(const BatchReport& report) {
    const std::string& model = report.servable->model();
    const auto by_model = [&] { return prometheus::Labels{{"model_name", model}}; };
    const auto by_runtime = [&] {
      return prometheus::Labels{{"model_name", model}, {"API", "Predict"}, {"runtime", "sextant"}};
    };
    const std::lock_guard lock(mutex_);
    const auto found = batch_series_.find(model);
    if (found != batch_series_.end()) return found->second;
    const BatchSeries series{
        .runtime = &Histogram(runtime_latency_, "t\n" + model, kTimes, by_runtime),
        .examples = &Histogram(example_counts_, "e\n" + model, kSizes, by_model),
        .queuing = &Histogram(queuing_, "q\n" + model, kTimes, by_model),
        .size = &Histogram(batch_size_, "b\n" + model, kSizes, by_model),
        .padding = &Histogram(padding_, "p\n" + model, kSizes, by_model)};
    batch_series_.emplace(model, series);
    return series;
  }

  const std::vector<double> kTimes = PowersOf(2, 10, 24);  // 10 µs to 84 s
  const std::vector<double> kSizes = PowersOf(2, 1, 16);

  Family<prometheus::Counter>& Counters(const char* name, const char* help) {
    return prometheus::BuildCounter().Name(name).Help(help).Register(registry_);
  }
  Family<prometheus::Histogram>& Histograms(const char* name, const char* help) {
    return prometheus::BuildHistogram().Name(name).Help(help).Register(registry_);
  }
  // Each version once, when it is first seen.
  void ObserveWarmUps(const std::vector<std::shared_ptr<const Servable>>& loaded) {
    const std::lock_guard lock(mutex_);
    for (const auto& servable : loaded) {
      const std::string key = "w\n" + servable->path();
      if (histograms_.contains(key)) continue;
      Histogram(warm_up_latency_, key, kTimes, [&] {
        return prometheus::Labels{{"model_path", servable->path()},
                                  {"status", CodeText(Code::kOk)}};
      }).Observe(Microseconds(servable->warm_up_time()));
    }
  }
  template <typename MakeLabels>
  prometheus::Counter& Counter(Family<prometheus::Counter>& family, const std::string& key,
                               const MakeLabels& labels) {
    const auto found = counters_.find(key);
    if (found != counters_.end()) return *found->second;
    if (counters_.size() >= kMaxSeries) return family.Add({{"model_name", "others"}});
    return *(counters_[key] = &family.Add(labels()));
  }
  template <typename MakeLabels>
  prometheus::Histogram& Histogram(Family<prometheus::Histogram>& family, const std::string& key,
                                   const std::vector<double>& bounds, const MakeLabels& labels) {
    const auto found = histograms_.find(key);
    if (found != histograms_.end()) return *found->second;
    return *(histograms_[key] = &family.Add(labels(), bounds));
  }

  mutable std::mutex mutex_;
  prometheus::Registry registry_;
  Family<prometheus::Counter>&request_count_, &requests_;
  Family<prometheus::Histogram>&request_latency_, &runtime_latency_, &serialize_latency_,
      &example_counts_, &queuing_, &batch_size_, &padding_, &warm_up_latency_;
  std::unordered_map<std::string, prometheus::Counter*> counters_;
  std::unordered_map<std::string, prometheus::Histogram*> histograms_;
  std::unordered_map<std::string, RequestSeries> request_series_;
  std::unordered_map<std::string, BatchSeries> batch_series_;
};

Metrics::Metrics() : state_(std::make_unique<State>()) {}
Metrics::~Metrics() = default;
void Metrics::Request(const RequestReport& report) { state_->Request(report); }
void Metrics::Batch(const BatchReport& report) { state_->Batch(report); }
std::string Metrics::Text(const ServerGauges& gauges) { return state_->Text(gauges); }

}  // namespace sextant::serving

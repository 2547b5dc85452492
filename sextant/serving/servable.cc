#include "sextant/serving/servable.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/base/thread_team.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/formats/message_text.h"
#include "sextant/formats/saved_model_dir.h"
#include "sextant/runtime/sample_inputs.h"
#include "sextant/serving/warm_up.h"

namespace sextant::serving {
namespace {

Method MethodOf(const Signature& signature) {
  const std::string& name = signature.method_name();
  if (name == "tensorflow/serving/predict") return Method::kPredict;
  if (name == "tensorflow/serving/classify") return Method::kClassify;
  if (name == "tensorflow/serving/regress") return Method::kRegress;
  return Method::kOther;
}

// Whether the first dimension is open, as far as is known.
bool HasOpenRows(const SignatureTensor& tensor) {
  if (!tensor.shape.rank_known()) return true;
  return tensor.shape.rank() > 0 && tensor.shape.dim(0) < 0;
}

size_t SizeClass(int64_t rows) {
  return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(std::max<int64_t>(1, rows)) - 1));
}

// Steps of microseconds cost more to share than it gains, above all where threads lose their
// processor to others.
constexpr std::chrono::microseconds kSharedFrom{500};

// A shared run keeps all cores from other requests. Where it takes nearly as long as one alone, a
// request that comes meanwhile had better run beside it than wait.
constexpr double kWorthSharing = 0.75;

// The run time of a batch of "rows" sample rows on one thread: the minimum of a few runs, so that
// short runs are known as such from the first request on, on a busy machine too.
void MeasureAlone(const Servable& servable, const ServableSignature& signature, int64_t rows,
                  const RunOptions& options) {
  constexpr int kRuns = 5;
  const auto inputs = SampleInputs(signature.signature(), servable.saved_model().graph(), rows);
  if (!inputs) return;
  std::vector<Tensor> outputs(signature.outputs().size());
  const ThreadTeam::Alone alone;
  auto shortest = std::chrono::nanoseconds::max();
  for (int i = 0; i < kRuns; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    signature.signature().Call(*inputs, {}, outputs, options);
    shortest =
        std::min<std::chrono::nanoseconds>(shortest, std::chrono::steady_clock::now() - begun);
  }
  signature.RecordRun(rows, shortest);
}

// A list of equal items, cut where it is long.
std::string RepeatedValue(const std::string& item, int64_t count) {
  const int64_t shown = std::min<int64_t>(count, 3);
  std::string list = "[";
  for (int64_t i = 0; i < shown; ++i) list += (i > 0 ? ", " : "") + item;
  if (count > shown) list += fmt::format(", ... ({} in all)", count);
  return list + "]";
}

// Nested lists of zeros or of the text, of one item where a dimension is open.
std::string SampleValue(DType dtype, const std::string& text, std::span<const int64_t> dims) {
  if (dims.empty()) {
    return dtype == DType::kString                             ? text
           : dtype == DType::kBool                             ? "false"
           : dtype == DType::kFloat || dtype == DType::kDouble ? "0.0"
                                                               : "0";
  }
  return RepeatedValue(SampleValue(dtype, text, dims.subspan(1)), dims[0] < 0 ? 1 : dims[0]);
}

}  // namespace

ServableSignature::ServableSignature(const Signature& signature, const Graph& graph)
    : signature_(signature), method_(MethodOf(signature)) {
  bool open = !signature.inputs().empty() && !signature.outputs().empty();
  for (const auto& [name, tensor] : signature.inputs()) {
    inputs_.push_back({name, tensor.dtype, tensor.shape, tensor.optional});
    open = open && HasOpenRows(tensor);
    std::string& text = sample_texts_.emplace_back();
    if (tensor.dtype == DType::kString) {
      const std::string sample = SampleText(graph, graph.FindOutput(tensor.name));
      const bool binary = std::ranges::any_of(sample, [](unsigned char c) { return c < ' '; });
      AppendJson(Tensor(sample), {.base64 = binary}, &text);
      if (!TryParseMessage(sample, &sample_example_)) sample_example_.Clear();
    }
  }
  for (const auto& [name, tensor] : signature.outputs()) {
    outputs_.push_back(name);
    open = open && HasOpenRows(tensor);
  }
  batchable_ = open;
}

int64_t ServableSignature::NextBatch(int64_t waiting) const {
  const auto above = std::ranges::lower_bound(prepared_, waiting);
  if (prepared_.empty() || (above != prepared_.end() && *above == waiting)) return waiting;
  if (above == prepared_.begin()) return waiting;
  const int64_t below = *std::prev(above);
  if (above == prepared_.end()) return waiting / below * below;
  const int64_t rest = *std::ranges::lower_bound(prepared_, waiting - below);
  return RunTime(*above) <= RunTime(below) + RunTime(rest) ? waiting : below;
}

std::chrono::nanoseconds ServableSignature::RunTime(int64_t rows) const {
  const Times& times = TimesOf(rows);
  const int64_t alone = times.alone_ns.load(std::memory_order_relaxed);
  const int64_t shared = times.shared_ns.load(std::memory_order_relaxed);
  return std::chrono::nanoseconds(alone == 0    ? shared
                                  : shared == 0 ? alone
                                                : std::min(alone, shared));
}

bool ServableSignature::Shares(int64_t rows) const {
  if (RunTime(rows) < kSharedFrom) return false;
  Times& times = TimesOf(rows);
  const auto alone = static_cast<double>(times.alone_ns.load(std::memory_order_relaxed));
  const auto shared = static_cast<double>(times.shared_ns.load(std::memory_order_relaxed));
  if (alone == 0 || shared == 0) return shared == 0;
  // The slower way is tried again, often at first: one time may have been a Plan's making, and the
  // machine may have become more or less busy. Later so seldom that p99 does not show it.
  const uint32_t choice = times.choices.fetch_add(1, std::memory_order_relaxed);
  const bool again = choice < 64 ? std::has_single_bit(choice) : choice % 256 == 0;
  return (shared < kWorthSharing * alone) != again;
}

ServableSignature::Times& ServableSignature::TimesOf(int64_t rows) const {
  return times_[std::min<size_t>(SizeClass(rows), kSizes - 1)];
}

void ServableSignature::RecordRun(int64_t rows, std::chrono::nanoseconds time, bool shared) const {
  std::atomic<int64_t>& average = shared ? TimesOf(rows).shared_ns : TimesOf(rows).alone_ns;
  const int64_t before = average.load(std::memory_order_relaxed);
  // Quickly down and slowly up: a thread that lost its processor makes a short run look long, and
  // nothing makes a long one look short. A race loses one of two measurements, which does no harm.
  const int64_t step =
      time.count() < before ? (time.count() - before) / 2 : (time.count() - before) / 64;
  average.store(before == 0 ? time.count() : before + step, std::memory_order_relaxed);
}

std::string ServableSignature::SampleRequest() const {
  bool rows = true;
  int64_t count = 1;  // of rows
  for (const JsonInput& input : inputs_) {
    if (!input.shape.rank_known()) continue;
    rows = rows && input.shape.rank() > 0;
    if (input.shape.rank() > 0) count = std::max(count, input.shape.dim(0));
  }
  std::string values;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const JsonInput& input = inputs_[i];
    if (input.optional) continue;
    std::vector<int64_t> dims;
    if (input.shape.rank_known() && input.shape.rank() > 0) {
      dims.assign(input.shape.dims().begin() + (rows ? 1 : 0), input.shape.dims().end());
    }
    const std::string value = SampleValue(input.dtype, sample_texts_[i], dims);
    if (inputs_.size() == 1) {
      values = value;
    } else {
      if (!values.empty()) values += ", ";
      AppendJsonString(input.name, &values);
      values += ": " + value;
    }
  }
  if (inputs_.size() != 1) values = fmt::format("{{{}}}", values);
  if (rows) values = RepeatedValue(values, count);
  return fmt::format("{{{}\"{}\": {}}}", SampleName(), rows ? "instances" : "inputs", values);
}

std::string ServableSignature::SampleExamples() const {
  std::string features;
  for (const auto& [name, feature] : sample_example_.features().feature()) {
    if (!features.empty()) features += ", ";
    AppendJsonString(name, &features);
    const bool floats = feature.has_float_list(), texts = feature.has_bytes_list();
    const int64_t count = floats  ? feature.float_list().value_size()
                          : texts ? feature.bytes_list().value_size()
                                  : feature.int64_list().value_size();
    const std::string item = floats ? "0.0" : texts ? "\"\"" : "0";
    features += ": " + (count == 1 ? item : RepeatedValue(item, count));
  }
  if (features.empty()) return "";
  return fmt::format("{{{}\"examples\": [{{{}}}]}}", SampleName(), features);
}

std::string ServableSignature::SampleName() const {
  if (key() == kDefaultSignature) return "";
  std::string text = "\"signature_name\": ";
  AppendJsonString(key(), &text);
  return text + ", ";
}

Servable::Servable(std::string model, int64_t version, SavedModel saved_model)
    : model_(std::move(model)), version_(version), saved_model_(std::move(saved_model)) {
  for (const std::string& key : saved_model_.signature_keys()) {
    signatures_.try_emplace(key, saved_model_.signature(key), saved_model_.graph());
  }
  bytes_ = saved_model_.bytes();
}

std::shared_ptr<const Servable> Servable::Load(const std::string& model, int64_t version,
                                               const std::string& path,
                                               const ServableOptions& options,
                                               CancellationToken* cancellation) {
  SessionOptions session;
  session.threads = options.threads;
  const auto load = [&] {
    const ThreadTeam::Alone alone;  // leaves the team to requests
    return SavedModel::Load(path, options.tags, session, cancellation);
  };
  const auto servable = std::make_shared<Servable>(model, version, load());
  const auto begun = std::chrono::steady_clock::now();
  servable->Prepare(options, cancellation);
  servable->warm_up_time_ = std::chrono::steady_clock::now() - begun;
  return servable;
}

void Servable::Prepare(const ServableOptions& options, CancellationToken* cancellation) {
  RunOptions run;
  run.cancellation = cancellation;
  size_t prepared = 0, possible = 0;
  for (auto& [key, signature] : signatures_) {
    for (const int64_t rows : options.batch_sizes) {
      ++possible;
      const auto begun = std::chrono::steady_clock::now();
      if (!signature.signature().Prepare(rows, options.concurrency, run)) break;
      MeasureAlone(*this, signature, rows, run);
      signature.AddPrepared(rows);
      ++prepared;
      if (std::chrono::steady_clock::now() - begun > options.longest_preparation) break;
    }
  }
  warm_up_ = fmt::format("{} of {} signatures and sizes prepared", prepared, possible);
  if (!options.warm_up) return;
  const int64_t replayed = ReplayWarmUp(*this, options.max_warm_up_requests, run);
  if (replayed >= 0) warm_up_ += fmt::format(", {} recorded requests replayed", replayed);
}

const ServableSignature& Servable::FindSignature(std::string_view key, Code missing) const {
  const std::string_view wanted = key.empty() ? std::string_view(kDefaultSignature) : key;
  const auto found = signatures_.find(wanted);
  if (found != signatures_.end()) return found->second;
  if (key.empty() && signatures_.size() == 1) return signatures_.begin()->second;
  throw Error(missing, fmt::format("model '{}', version {}, has no signature '{}'; there are: {}",
                                   model_, version_, ShownName(wanted),
                                   fmt::join(saved_model_.signature_keys(), ", ")));
}

}  // namespace sextant::serving

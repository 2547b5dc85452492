#include "sextant/serving/servable.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "sextant/base/error.h"
#include "sextant/base/printable.h"
#include "sextant/base/thread_team.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/formats/saved_model_dir.h"
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

// Nested lists of zeros or empty texts, [] where a dimension is open.
std::string SampleValue(DType dtype, std::span<const int64_t> dims) {
  if (dims.empty()) {
    return dtype == DType::kString                             ? "\"\""
           : dtype == DType::kBool                             ? "false"
           : dtype == DType::kFloat || dtype == DType::kDouble ? "0.0"
                                                               : "0";
  }
  const std::string item = SampleValue(dtype, dims.subspan(1));
  const int64_t count = dims[0] < 0 ? 1 : std::min<int64_t>(dims[0], 3);
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) text += (i > 0 ? ", " : "") + item;
  if (dims[0] > count) text += fmt::format(", ... ({} in all)", dims[0]);
  return text + "]";
}

}  // namespace

ServableSignature::ServableSignature(const Signature& signature)
    : signature_(signature), method_(MethodOf(signature)) {
  bool open = !signature.inputs().empty() && !signature.outputs().empty();
  for (const auto& [name, tensor] : signature.inputs()) {
    inputs_.push_back({name, tensor.dtype, tensor.shape, tensor.optional});
    open = open && HasOpenRows(tensor);
  }
  for (const auto& [name, tensor] : signature.outputs()) {
    outputs_.push_back(name);
    open = open && HasOpenRows(tensor);
  }
  batchable_ = open;
}

std::chrono::nanoseconds ServableSignature::RunTime(int64_t rows) const {
  const size_t size = std::min<size_t>(SizeClass(rows), kSizes - 1);
  return std::chrono::nanoseconds(run_ns_[size].load(std::memory_order_relaxed));
}

void ServableSignature::RecordRun(int64_t rows, std::chrono::nanoseconds time) const {
  std::atomic<int64_t>& average = run_ns_[std::min<size_t>(SizeClass(rows), kSizes - 1)];
  const int64_t before = average.load(std::memory_order_relaxed);
  // Quickly down and slowly up: a thread that lost its processor makes a short run look long, and
  // nothing makes a long one look short. A race loses one of two measurements, which does no harm.
  const int64_t step =
      time.count() < before ? (time.count() - before) / 2 : (time.count() - before) / 64;
  average.store(before == 0 ? time.count() : before + step, std::memory_order_relaxed);
}

std::chrono::nanoseconds ServableSignature::ArrivalGap() const {
  return std::chrono::nanoseconds(gap_ns_.load(std::memory_order_relaxed));
}

void ServableSignature::RecordArrival(std::chrono::steady_clock::time_point now) const {
  const int64_t ns = now.time_since_epoch().count();
  const int64_t before = arrival_ns_.exchange(ns, std::memory_order_relaxed);
  if (before == 0) return;
  const int64_t gap = gap_ns_.load(std::memory_order_relaxed);
  gap_ns_.store(gap == 0 ? ns - before : gap + (ns - before - gap) / 8, std::memory_order_relaxed);
}

std::string ServableSignature::SampleRequest() const {
  std::string values;
  for (const JsonInput& input : inputs_) {
    if (input.optional) continue;
    std::vector<int64_t> dims;
    if (input.shape.rank_known() && input.shape.rank() > 0) {
      dims.assign(input.shape.dims().begin() + 1, input.shape.dims().end());
    }
    const std::string value = SampleValue(input.dtype, dims);
    if (inputs_.size() == 1) {
      values = value;
    } else {
      if (!values.empty()) values += ", ";
      AppendJsonString(input.name, &values);
      values += ": " + value;
    }
  }
  return inputs_.size() == 1 ? fmt::format("{{\"instances\": [{}]}}", values)
                             : fmt::format("{{\"instances\": [{{{}}}]}}", values);
}

Servable::Servable(std::string model, int64_t version, SavedModel saved_model)
    : model_(std::move(model)), version_(version), saved_model_(std::move(saved_model)) {
  for (const std::string& key : saved_model_.signature_keys()) {
    signatures_.try_emplace(key, saved_model_.signature(key));
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
  servable->Prepare(options, cancellation);
  return servable;
}

void Servable::Prepare(const ServableOptions& options, CancellationToken* cancellation) {
  RunOptions run;
  run.cancellation = cancellation;
  size_t prepared = 0, possible = 0;
  for (const auto& [key, signature] : signatures_) {
    for (const int64_t rows : options.batch_sizes) {
      ++possible;
      if (!signature.signature().Prepare(rows, run)) break;
      ++prepared;
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

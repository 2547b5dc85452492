// Servable: one loaded version of a model, ready to answer. Immutable and thread-safe; it
// stays loaded as long as a reference to it is held.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/formats/json_request.h"
#include "sextant/proto/example.pb.h"
#include "sextant/runtime/saved_model.h"
#include "sextant/serving/batch_steering.h"

namespace sextant::serving {

enum class Method { kPredict, kClassify, kRegress, kOther };

// A signature with what servers need to know of it.
class ServableSignature {
 public:
  // "graph" is the signature's.
  ServableSignature(const Signature& signature, const Graph& graph);

  const std::string& key() const { return signature_.key(); }
  const Signature& signature() const { return signature_; }
  Method method() const { return method_; }
  const std::vector<JsonInput>& inputs() const { return inputs_; }      // sorted by name
  const std::vector<std::string>& outputs() const { return outputs_; }  // sorted
  // Rows of several requests may be joined to one batch: the first dimension of all inputs and
  // outputs is open.
  bool batchable() const { return batchable_.load(std::memory_order_relaxed); }
  // When joining turned out to be wrong: an output has not one row for each of its inputs'.
  void ForbidBatches() const { batchable_ = false; }

  // Numbers of rows for which Plans are made and tried, ascending: a run of another number is slow
  // at first.
  const std::vector<int64_t>& prepared() const { return prepared_; }
  void AddPrepared(int64_t rows) { prepared_.push_back(rows); }  // before it is used
  // How many of the "rows" queued rows the next batch should have. All, where there is a Plan for
  // them or where padding to the next prepared number takes no longer than two prepared runs; else
  // the next smaller prepared number, or a multiple of the largest one.
  int64_t NextBatch(int64_t waiting) const;

  // The measured run time of a batch of "rows" rows; 0 when there is no measurement.
  std::chrono::nanoseconds RunTime(int64_t rows) const;
  // Whether a run that may have the team of threads for itself should share its steps among them:
  // it is not short, and sharing has proved to be much faster or was not tried for some time.
  bool Shares(int64_t rows) const;
  // "shared": by the team; else alone on a thread.
  void RecordRun(int64_t rows, std::chrono::nanoseconds time, bool shared = false) const;
  // What a batcher has learnt of its requests. Guarded by that batcher.
  BatchSteering& steering() const { return steering_; }

  // A request that works: {"instances": [{"x": 0.0}]}. Texts that the model parses are such as it
  // takes: lines of values, or serialized Examples.
  std::string SampleRequest() const;
  // The same for Classify and Regress: {"examples": [{"x": 0.0}]}; "" where no Examples are parsed.
  std::string SampleExamples() const;

 private:
  static constexpr int kSizes = 24;  // classes of batch sizes, by powers of two
  const Signature& signature_;
  Method method_;
  std::vector<JsonInput> inputs_;
  std::vector<std::string> outputs_;
  std::vector<int64_t> prepared_;
  std::string SampleName() const;          // of the signature, where it must be given
  std::vector<std::string> sample_texts_;  // for each input; "" where it has no texts
  proto::Example sample_example_;          // without features where none are parsed
  mutable std::atomic<bool> batchable_{false};
  struct Times {  // moving averages
    std::atomic<int64_t> alone_ns{0}, shared_ns{0};
    std::atomic<uint32_t> choices{0};
  };
  Times& TimesOf(int64_t rows) const;
  mutable Times times_[kSizes];
  mutable BatchSteering steering_;
};

struct ServableOptions {
  std::set<std::string> tags = {"serve"};
  int threads = 0;                         // of one run; 0: all
  std::vector<int64_t> batch_sizes = {1};  // to be prepared, ascending
  // A batch size that took longer to prepare is the last one that is prepared.
  std::chrono::nanoseconds longest_preparation = std::chrono::hours(1);
  int concurrency = 1;  // runs at a time to prepare for
  bool warm_up = true;  // by the requests that the export holds
  int64_t max_warm_up_requests = 1000;
};

class Servable {
 public:
  // Loads, prepares and warms up. Throws what SavedModel::Load throws; what goes wrong in the
  // warm-up is an INVALID_ARGUMENT.
  static std::shared_ptr<const Servable> Load(const std::string& model, int64_t version,
                                              const std::string& path,
                                              const ServableOptions& options,
                                              CancellationToken* cancellation = nullptr);

  const std::string& model() const { return model_; }
  int64_t version() const { return version_; }
  const std::string& path() const { return saved_model_.directory(); }
  const SavedModel& saved_model() const { return saved_model_; }
  int64_t bytes() const { return bytes_; }
  // What the warm-up did, for people.
  const std::string& warm_up() const { return warm_up_; }
  std::chrono::nanoseconds warm_up_time() const { return warm_up_time_; }

  // "": serving_default or, where there is none, the only one. Throws "missing", naming the
  // signatures there are.
  const ServableSignature& FindSignature(std::string_view key,
                                         Code missing = Code::kFailedPrecondition) const;
  const std::map<std::string, ServableSignature, std::less<>>& signatures() const {
    return signatures_;
  }

  Servable(std::string model, int64_t version, SavedModel saved_model);

 private:
  void Prepare(const ServableOptions& options, CancellationToken* cancellation);

  const std::string model_;
  const int64_t version_;
  const SavedModel saved_model_;
  std::map<std::string, ServableSignature, std::less<>> signatures_;
  int64_t bytes_ = 0;
  std::string warm_up_;
  std::chrono::nanoseconds warm_up_time_{0};
};

}  // namespace sextant::serving

#include "sextant/serving/request_log.h"

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/formats/tensor_wire.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/serving.pb.h"

namespace sextant::serving {
namespace {

constexpr int64_t kFileBytes = int64_t{64} << 20;
constexpr size_t kMaxWaiting = 1024;  // records

void FillSpec(const Servable& servable, const ServableSignature& signature,
              proto::ModelSpec* spec) {
  spec->set_name(servable.model());
  spec->mutable_version()->set_value(servable.version());
  spec->set_signature_name(signature.key());
}

proto::TensorProto MessageOf(const Tensor& tensor) {
  std::string bytes;
  AppendTensorWire(tensor, &bytes);
  proto::TensorProto message;
  message.ParseFromString(bytes);
  return message;
}

void FillInput(std::span<const std::string> examples, proto::Input* input) {
  for (const std::string& example : examples) {
    input->mutable_example_list()->add_examples()->ParseFromString(example);
  }
}

}  // namespace

class RequestLog::State {
 public:
  State() : writer_([this] { Write(); }) {}
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    writer_.join();
  }

  void SetModels(const std::vector<ModelConfig>& models) {
    const std::lock_guard lock(mutex_);
    std::map<std::string, Model, std::less<>> next;
    for (const ModelConfig& config : models) {
      if (config.log_prefix.empty() || config.log_sampling <= 0) continue;
      Model& model = next[config.name];
      if (const auto old = models_.find(config.name); old != models_.end()) model = old->second;
      model.prefix = config.log_prefix;
      model.share = config.log_sampling;
    }
    models_ = std::move(next);
    any_ = !models_.empty();
  }

  bool Sampled(std::string_view name) {
    if (!any_.load(std::memory_order_relaxed)) return false;
    const std::lock_guard lock(mutex_);
    const auto model = models_.find(name);
    if (model == models_.end()) return false;
    model->second.due += model->second.share;
    if (model->second.due < 1) return false;
    model->second.due -= 1;
    return true;
  }

  void Add(const std::string& name, std::string record) {
    const std::lock_guard lock(mutex_);
    const auto model = models_.find(name);
    if (model == models_.end()) return;
    if (waiting_.size() >= kMaxWaiting) {
      ++dropped_;
      return;
    }
    waiting_.emplace_back(model->second.prefix, std::move(record));
    wake_.notify_all();
  }

  void Flush() {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [&] { return waiting_.empty() && !writing_; });
  }
  int64_t dropped() const {
    const std::lock_guard lock(mutex_);
    return dropped_;
  }

 private:
  struct Model {
    std::string prefix;
    double share = 0, due = 0;
  };
  struct File {
    std::unique_ptr<TFRecordWriter> writer;
    int64_t bytes = 0;
  };

  void Write();
  void WriteRecord(const std::string& prefix, const std::string& record);

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::map<std::string, Model, std::less<>> models_;
  std::atomic<bool> any_{false};
  std::deque<std::pair<std::string, std::string>> waiting_;  // prefix, record
  bool stopping_ = false, writing_ = false;
  int64_t dropped_ = 0;
  std::map<std::string, File> files_;  // by prefix; of the writer alone
  int64_t num_files_ = 0;
  std::thread writer_;
};

void RequestLog::State::Write() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto records = std::move(waiting_);
    waiting_.clear();
    writing_ = true;
    lock.unlock();
    int64_t lost = 0;
    for (const auto& [prefix, record] : records) {
      try {
        WriteRecord(prefix, record);
      } catch (const Error& error) {
        if (lost++ == 0) LogError("the request log loses records: {}", error.message());
        files_.erase(prefix);
      }
    }
    for (auto& [prefix, file] : files_) {
      try {
        file.writer->Flush();
      } catch (const Error& error) {
        LogError("the request log: {}", error.message());
      }
    }
    lock.lock();
    dropped_ += lost;
    writing_ = false;
    wake_.notify_all();
  }
}

void RequestLog::State::WriteRecord(const std::string& prefix, const std::string& record) {
  File& file = files_[prefix];
  if (file.writer == nullptr || file.bytes > kFileBytes) {
    if (file.writer != nullptr) file.writer->Close();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    file.writer = std::make_unique<TFRecordWriter>(
        fmt::format("{}-{}-{:05}.tfrecord", prefix,
                    std::chrono::duration_cast<std::chrono::seconds>(now).count(), num_files_++));
    file.bytes = 0;
  }
  file.writer->Write(record);
  file.bytes += static_cast<int64_t>(record.size());
}

RequestLog::RequestLog() : state_(std::make_unique<State>()) {}
RequestLog::~RequestLog() = default;
void RequestLog::SetModels(const std::vector<ModelConfig>& models) { state_->SetModels(models); }
bool RequestLog::Sampled(std::string_view model) { return state_->Sampled(model); }
void RequestLog::Flush() { state_->Flush(); }
int64_t RequestLog::num_dropped() const { return state_->dropped(); }

void RequestLog::Predict(const Servable& servable, const ServableSignature& signature,
                         std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
  proto::PredictionLog log;
  FillSpec(servable, signature, log.mutable_log_metadata()->mutable_model_spec());
  auto* request = log.mutable_predict_log()->mutable_request();
  auto* response = log.mutable_predict_log()->mutable_response();
  FillSpec(servable, signature, request->mutable_model_spec());
  FillSpec(servable, signature, response->mutable_model_spec());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].valid()) continue;
    (*request->mutable_inputs())[signature.inputs()[i].name] = MessageOf(inputs[i]);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    (*response->mutable_outputs())[signature.outputs()[i]] = MessageOf(outputs[i]);
  }
  state_->Add(servable.model(), log.SerializeAsString());
}

void RequestLog::Examples(const Servable& servable, const ServableSignature& signature,
                          std::span<const std::string> examples) {
  proto::PredictionLog log;
  FillSpec(servable, signature, log.mutable_log_metadata()->mutable_model_spec());
  if (signature.method() == Method::kClassify) {
    auto* request = log.mutable_classify_log()->mutable_request();
    FillSpec(servable, signature, request->mutable_model_spec());
    FillInput(examples, request->mutable_input());
  } else {
    auto* request = log.mutable_regress_log()->mutable_request();
    FillSpec(servable, signature, request->mutable_model_spec());
    FillInput(examples, request->mutable_input());
  }
  state_->Add(servable.model(), log.SerializeAsString());
}

}  // namespace sextant::serving

#include "sextant/serving/server.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/net/http_server.h"
#include "sextant/serving/access.h"
#include "sextant/serving/batcher.h"
#include "sextant/serving/grpc_server.h"
#include "sextant/serving/metrics.h"
#include "sextant/serving/model_manager.h"
#include "sextant/serving/request_log.h"
#include "sextant/serving/rest_api.h"

namespace sextant::serving {
namespace {

net::TlsConfig TlsFrom(const TlsFiles& files) {
  return {files.certificate, files.private_key, files.client_ca, files.verify_client};
}

ModelManagerOptions ManagerOptions(const ServerOptions& options) {
  ModelManagerOptions result{.poll = options.file_system_poll,
                             .settle = options.settle,
                             .max_load_retries = options.max_load_retries,
                             .retry_interval = options.load_retry_interval,
                             .labels_for_unavailable = options.labels_for_unavailable_models};
  result.servable.tags = options.tags;
  result.servable.warm_up = options.warm_up;
  if (options.batching.enabled) {
    std::vector<int64_t>& sizes = result.servable.batch_sizes;
    sizes = options.batching.allowed_sizes;
    result.servable.concurrency = static_cast<int>(BatchThreads(options.batching));
    const int64_t most = std::min<int64_t>(64, options.batching.max_batch_size);
    for (int64_t size = 1; options.batching.allowed_sizes.empty() && size <= most; size *= 2) {
      sizes.push_back(size);
      result.servable.longest_preparation = std::chrono::seconds(1);
    }
  }
  return result;
}

std::vector<ModelConfig> FirstModels(const ServerOptions& options) {
  return options.model_config_file.empty() ? options.models
                                           : ReadModelConfigFile(options.model_config_file);
}

AccessOptions AccessOf(const ServerOptions& options, const std::vector<ModelConfig>& models) {
  AccessOptions access{options.token_file, options.admin_token_file, options.allowed_roots};
  if (!access.roots.empty()) return access;
  for (const ModelConfig& model : models) {
    std::string path = model.base_path;
    while (path.size() > 1 && path.back() == '/') path.pop_back();
    access.roots.emplace_back(DirectoryName(path).empty() ? "." : DirectoryName(path));
  }
  return access;
}

// The content of a file that is looked at again and again.
class WatchedFile {
 public:
  explicit WatchedFile(std::string path) : path_(std::move(path)) {}
  bool watched() const { return !path_.empty(); }
  // Whether it has changed since the last call.
  bool Changed() {
    const FileInfo info = FileSystem::ForPath(path_).Stat(path_);
    const bool changed = info.mtime_ns != mtime_ns_ || info.size != size_;
    mtime_ns_ = info.mtime_ns;
    size_ = info.size;
    return changed;
  }

 private:
  const std::string path_;
  int64_t mtime_ns_ = 0;
  uint64_t size_ = 0;
};

}  // namespace

class Server::State {
 public:
  explicit State(const ServerOptions& options)
      : options_(options),
        first_models_(FirstModels(options)),
        access_(AccessOf(options, first_models_)),
        manager_(ManagerOptions(options), [this] { CheckHealth(); }),
        batcher_(std::make_unique<Batcher>(
            options.batching, [this](const BatchReport& report) { metrics_.Batch(report); })),
        rest_({.timeout = options.rest_timeout,
               .cors = options.cors,
               .metrics_path = options.monitoring.enabled ? options.monitoring.path : "",
               .metrics_text = [this] { return metrics_.Text(Gauges()); }},
              Parts()),
        config_file_(options.model_config_file),
        tls_file_(options.tls_file),
        token_file_(options.token_file),
        admin_token_file_(options.admin_token_file) {
    for (WatchedFile* file : {&config_file_, &tls_file_, &token_file_, &admin_token_file_}) {
      if (file->watched()) file->Changed();
    }
    SetModels(first_models_);
    Listen();
    CheckHealth();
    watcher_ = std::thread([this] { Watch(); });
  }
  ~State() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    watcher_.join();
    for (const auto& server : http_) server->Stop();
    {
      const std::lock_guard lock(grpc_mutex_);
      grpc_.reset();  // waits for its calls
    }
    batcher_.reset();  // holds connections of the servers until their requests are run
  }

  int rest_port() const { return http_.empty() ? 0 : http_[0]->port(); }
  int grpc_port() const { return grpc_ == nullptr ? 0 : grpc_->port(); }
  ModelManager& models() { return manager_; }
  void Drain(std::chrono::milliseconds limit) {
    const auto end = Clock::now() + limit;
    const auto left = [&] {
      return std::max(std::chrono::milliseconds(0),
                      std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()));
    };
    draining_ = true;
    CheckHealth();
    for (const auto& server : http_) server->Drain(left());
    const std::lock_guard lock(grpc_mutex_);
    if (grpc_ != nullptr) grpc_->Drain(left());
  }

 private:
  ServingParts Parts() {
    return {.models = &manager_,
            .batcher = batcher_.get(),
            .access = &access_,
            .metrics = &metrics_,
            .log = &log_,
            .set_models = [this](const std::vector<ModelConfig>& models) { SetModels(models); },
            .draining = &draining_};
  }
  ServerGauges Gauges() const {
    ServerGauges gauges{.counts = manager_.counts(),
                        .loaded = manager_.loaded(),
                        .waiting = batcher_->num_waiting()};
    for (const auto& server : http_) {
      gauges.connections += server->counts().connections;
      gauges.bytes_in_flight += server->counts().bytes_in_flight;
    }
    return gauges;
  }
  void CheckHealth() {
    const std::lock_guard lock(grpc_mutex_);
    if (grpc_ != nullptr) grpc_->SetHealthy(!draining_ && manager_.NotReady().empty());
  }
  void SetModels(const std::vector<ModelConfig>& models) {
    const std::lock_guard lock(models_mutex_);  // by a call and by the file, at the same time
    manager_.SetModels(models);
    log_.SetModels(models);
    for (const ModelConfig& model : models) {
      batcher_->SetLatencyTarget(
          model.name,
          std::chrono::nanoseconds(static_cast<int64_t>(1e6 * model.latency_target_ms)));
    }
  }

  void Listen() {
    if (options_.grpc_port || !options_.grpc_unix_path.empty()) {
      GrpcServerOptions grpc{.address = options_.address,
                             .port = options_.grpc_port.value_or(-1),
                             .unix_path = options_.grpc_unix_path,
                             .max_message_bytes = options_.max_body_bytes,
                             .arguments = options_.grpc_arguments};
      if (!options_.tls_file.empty()) {
        grpc.tls = std::make_shared<TlsFiles>(ReadTlsFile(options_.tls_file));
      }
      auto server = std::make_unique<GrpcServer>(grpc, Parts());
      const std::lock_guard lock(grpc_mutex_);
      grpc_ = std::move(server);
    }
    net::HttpServerOptions http{.address = options_.address, .threads = options_.rest_threads};
    http.limits.body_bytes = static_cast<size_t>(options_.max_body_bytes);
    http.limits.bytes_in_flight = options_.max_bytes_in_flight;
    http.limits.connections = options_.max_connections;
    if (!options_.tls_file.empty()) {
      http.tls = std::make_shared<net::TlsConfig>(TlsFrom(ReadTlsFile(options_.tls_file)));
    }
    const auto handler = [this](net::HttpRequest& request, const net::HttpResponder& responder) {
      rest_.Handle(request, responder);
    };
    if (options_.rest_port) {
      http.port = *options_.rest_port;
      http_.push_back(std::make_unique<net::HttpServer>(http, handler));
    }
    if (!options_.rest_unix_path.empty()) {
      http.unix_path = options_.rest_unix_path;
      http.tls = nullptr;
      http_.push_back(std::make_unique<net::HttpServer>(http, handler));
    }
  }

  // Reads files again that have changed. What is wrong with one is logged, and nothing changes.
  void Watch() {
    constexpr std::chrono::milliseconds kSecrets{1000};  // certificates and tokens
    const bool polls_config = config_file_.watched() && options_.model_config_poll.count() > 0;
    const bool polls_secrets =
        tls_file_.watched() || token_file_.watched() || admin_token_file_.watched();
    if (!polls_config && !polls_secrets) return;
    const auto pause = !polls_config   ? kSecrets
                       : polls_secrets ? std::min(kSecrets, options_.model_config_poll)
                                       : options_.model_config_poll;
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, pause, [&] { return stopping_; })) {
      lock.unlock();
      if (polls_config) {
        Again(config_file_, options_.model_config_file,
              [&] { SetModels(ReadModelConfigFile(options_.model_config_file)); });
      }
      if (tls_file_.watched()) Again(tls_file_, options_.tls_file, [&] { SetTls(); });
      if (token_file_.watched()) Again(token_file_, options_.token_file, [&] { access_.Reload(); });
      if (admin_token_file_.watched()) {
        Again(admin_token_file_, options_.admin_token_file, [&] { access_.Reload(); });
      }
      lock.lock();
    }
  }
  void SetTls() {
    const TlsFiles files = ReadTlsFile(options_.tls_file);
    {
      const std::lock_guard lock(grpc_mutex_);
      if (grpc_ != nullptr) grpc_->SetTls(files);
    }
    for (const auto& server : http_) {
      if (server->port() != 0) server->SetTls(TlsFrom(files));
    }
  }
  template <typename Read>
  static void Again(WatchedFile& file, const std::string& path, const Read& read) {
    try {
      if (!file.Changed()) return;
      read();
      LogInfo("{}: read again", path);
    } catch (const Error& error) {
      LogError("{} is not followed: {}", path, error.message());
    }
  }

  const ServerOptions options_;
  const std::vector<ModelConfig> first_models_;
  std::atomic<bool> draining_{false};
  Access access_;
  Metrics metrics_;
  RequestLog log_;
  std::mutex models_mutex_;
  std::mutex grpc_mutex_;  // guards the pointer
  std::unique_ptr<GrpcServer> grpc_;
  ModelManager manager_;
  std::unique_ptr<Batcher> batcher_;
  RestApi rest_;
  WatchedFile config_file_, tls_file_, token_file_, admin_token_file_;
  std::vector<std::unique_ptr<net::HttpServer>> http_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread watcher_;
};

Server::Server(const ServerOptions& options) : state_(std::make_unique<State>(options)) {}
Server::~Server() = default;
int Server::rest_port() const { return state_->rest_port(); }
int Server::grpc_port() const { return state_->grpc_port(); }
bool Server::WaitUntilReady(std::chrono::milliseconds limit) const {
  return state_->models().WaitUntilReady(limit);
}
ModelManager& Server::models() { return state_->models(); }
void Server::Drain(std::chrono::milliseconds limit) { state_->Drain(limit); }

}  // namespace sextant::serving

#include "sextant/net/http_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/base/thread_scheduling.h"
#include "sextant/net/http_connection.h"

namespace sextant::net {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Unix = asio::local::stream_protocol;
using ReusePort = asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>;

constexpr std::chrono::milliseconds kSweep{250};
constexpr std::chrono::milliseconds kAcceptPause{100};  // after errors, such as too many open files

Error Unusable(const std::string& where, const error_code& error) {
  return MakeError<Code::kUnavailable>("cannot listen at {}: {}", where, error.message());
}

// Listening sockets of several threads share one port. The first is bound alone for a moment, so
// that a port that another program listens at is noticed.
tcp::acceptor ListenTcp(asio::io_context& context, const tcp::endpoint& endpoint, bool alone) {
  const std::string where = fmt::format("{}:{}", endpoint.address().to_string(), endpoint.port());
  error_code error;
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error && !alone) acceptor.set_option(ReusePort(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw Unusable(where, error);
  return acceptor;
}

Unix::acceptor ListenUnix(asio::io_context& context, const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) == 0) {
    if (!S_ISSOCK(info.st_mode)) throw AlreadyExists("{} is there and is no socket", path);
    error_code in_use;
    Unix::socket probe(context);
    probe.connect(Unix::endpoint(path), in_use);
    if (!in_use) {
      throw MakeError<Code::kUnavailable>("cannot listen at {}: another server does", path);
    }
    ::unlink(path.c_str());
  }
  error_code error;
  Unix::acceptor acceptor(context);
  acceptor.open(Unix(), error);
  if (!error) acceptor.bind(Unix::endpoint(path), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) throw Unusable(path, error);
  return acceptor;
}

// A thread with its listening socket and its connections.
class HttpWorker {
 public:
  HttpWorker(HttpShared& shared, int connections)
      : shared_(shared),
        max_connections_(connections),
        work_(context_.get_executor()),
        sweep_(context_),
        pause_(context_) {}

  asio::io_context& context() { return context_; }
  void Own(tcp::acceptor acceptor) { tcp_.emplace(std::move(acceptor)); }
  void Own(Unix::acceptor acceptor) { unix_.emplace(std::move(acceptor)); }
  void SetTls(std::shared_ptr<TlsContext> tls) {
    const std::lock_guard lock(tls_mutex_);
    tls_ = std::move(tls);
  }

  void Start() {
    asio::post(context_, [this] {
      Accept();
      SweepLater();
    });
    thread_ = std::thread([this] {
      RunSoonAfterWaking();
      context_.run();
    });
  }
  // On its own thread: takes what waits in the queue of the listening socket, then closes that.
  void StopAccepting() {
    asio::post(context_, [this] {
      accepting_ = false;
      TakeWaiting(tcp_);
      TakeWaiting(unix_);
    });
  }
  void Stop() {
    asio::post(context_, [this] {
      error_code ignored;
      if (tcp_) tcp_->close(ignored);
      if (unix_) unix_->close(ignored);
      sweep_.cancel();
      pause_.cancel();
      const auto connections = connections_;
      for (const auto& [key, connection] : connections) connection->Close();
      work_.reset();
      stopping_ = true;
    });
    if (thread_.joinable()) thread_.join();
  }

 private:
  void Accept() {
    if (waiting_ || !accepting_ || static_cast<int>(connections_.size()) >= max_connections_)
      return;
    waiting_ = true;
    if (tcp_) AcceptFrom(*tcp_);
    if (unix_) AcceptFrom(*unix_);
  }
  template <typename Acceptor>
  void AcceptFrom(Acceptor& acceptor) {
    using Socket = typename Acceptor::protocol_type::socket;
    acceptor.async_accept([this](error_code error, Socket socket) {
      waiting_ = false;
      if (error == asio::error::operation_aborted || stopping_) return;
      if (error) {
        pause_.expires_after(kAcceptPause);
        pause_.async_wait([this](error_code cancelled) {
          if (!cancelled) Accept();
        });
        return;
      }
      Take(std::move(socket));
      Accept();
    });
  }
  template <typename Acceptor>
  void TakeWaiting(std::optional<Acceptor>& acceptor) {
    if (!acceptor) return;
    error_code error;
    acceptor->non_blocking(true, error);
    for (;;) {
      typename Acceptor::protocol_type::socket socket(context_);
      acceptor->accept(socket, error);
      if (error) break;
      Take(std::move(socket));
    }
    acceptor->close(error);
  }
  void Take(tcp::socket socket) {
    error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    std::shared_ptr<TlsContext> tls;
    {
      const std::lock_guard lock(tls_mutex_);
      tls = tls_;
    }
    Serve(tls ? NewTransport(std::move(socket), std::move(tls)) : NewTransport(std::move(socket)));
  }
  void Take(Unix::socket socket) { Serve(NewTransport(std::move(socket))); }
  void Serve(std::unique_ptr<HttpTransport> transport) {
    const auto connection = std::make_shared<HttpConnection>(
        context_, shared_, std::move(transport), [this](HttpConnection& closed) {
          connections_.erase(&closed);
          shared_.connections.fetch_sub(1, std::memory_order_relaxed);
          if (!stopping_) Accept();
        });
    shared_.connections.fetch_add(1, std::memory_order_relaxed);
    connections_.emplace(connection.get(), connection);
    connection->Start();
  }
  void SweepLater() {
    sweep_.expires_after(kSweep);
    sweep_.async_wait([this](error_code cancelled) {
      if (cancelled || stopping_) return;
      const auto now = HttpConnection::Clock::now();
      const auto connections = connections_;  // closing one changes the map
      for (const auto& [key, connection] : connections) connection->Sweep(now);
      SweepLater();
    });
  }

  HttpShared& shared_;
  const int max_connections_;
  asio::io_context context_{1};
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  asio::steady_timer sweep_, pause_;
  std::optional<tcp::acceptor> tcp_;
  std::optional<Unix::acceptor> unix_;
  std::mutex tls_mutex_;
  std::shared_ptr<TlsContext> tls_;
  std::unordered_map<HttpConnection*, std::shared_ptr<HttpConnection>> connections_;
  bool waiting_ = false, accepting_ = true, stopping_ = false;
  std::thread thread_;
};

}  // namespace

class HttpServer::State {
 public:
  State(const HttpServerOptions& options, HttpHandler handler) {
    shared_.options = options;
    shared_.handler = std::move(handler);
    int threads = options.threads > 0 ? options.threads
                                      : static_cast<int>(std::thread::hardware_concurrency());
    threads = options.unix_path.empty() ? std::max(1, threads) : 1;
    const int connections = std::max(1, options.limits.connections / threads);
    for (int i = 0; i < threads; ++i) {
      workers_.push_back(std::make_unique<HttpWorker>(shared_, connections));
    }
    if (options.tls) SetTls(*options.tls);
    Listen();
    for (const auto& worker : workers_) worker->Start();
  }
  ~State() {
    Stop();
    if (!shared_.options.unix_path.empty()) ::unlink(shared_.options.unix_path.c_str());
  }

  void SetTls(const TlsConfig& tls) {
    const auto context = MakeTlsContext(tls);
    for (const auto& worker : workers_) worker->SetTls(context);
  }
  void Drain(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    shared_.draining = true;
    for (const auto& worker : workers_) worker->StopAccepting();
    while (shared_.connections.load() > 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    Stop();
  }
  void Stop() {
    for (const auto& worker : workers_) worker->Stop();
  }
  int port() const { return port_; }
  HttpCounts counts() const {
    return {shared_.connections.load(), shared_.bytes_in_flight.load(), shared_.requests.load()};
  }

 private:
  void Listen() {
    const HttpServerOptions& options = shared_.options;
    if (!options.unix_path.empty()) {
      return workers_[0]->Own(ListenUnix(workers_[0]->context(), options.unix_path));
    }
    error_code error;
    const auto address = asio::ip::make_address(options.address, error);
    if (error) throw InvalidArgument("{} is no IP address to listen at", options.address);
    tcp::endpoint endpoint(address, static_cast<uint16_t>(options.port));
    if (options.port != 0) ListenTcp(workers_[0]->context(), endpoint, /*alone=*/true);
    for (const auto& worker : workers_) {
      tcp::acceptor acceptor = ListenTcp(worker->context(), endpoint, /*alone=*/false);
      endpoint.port(acceptor.local_endpoint().port());
      worker->Own(std::move(acceptor));
    }
    port_ = endpoint.port();
  }

  HttpShared shared_;
  std::vector<std::unique_ptr<HttpWorker>> workers_;
  int port_ = 0;
};

HttpServer::HttpServer(const HttpServerOptions& options, HttpHandler handler)
    : state_(std::make_unique<State>(options, std::move(handler))) {}
HttpServer::~HttpServer() = default;
int HttpServer::port() const { return state_->port(); }
HttpCounts HttpServer::counts() const { return state_->counts(); }
void HttpServer::SetTls(const TlsConfig& tls) { state_->SetTls(tls); }
void HttpServer::Drain(std::chrono::milliseconds limit) { state_->Drain(limit); }
void HttpServer::Stop() { state_->Stop(); }

}  // namespace sextant::net

// FaultProxy: a TCP proxy between a client and a server of this machine that behaves as bad
// networks do. What it does is switched while connections are open.
//
//   FaultProxy proxy(server.port());                    // clients connect to proxy.port()
//   proxy.Set({.delay = 20ms});
//   proxy.CutAfter(FaultProxy::Way::kToServer, 100);    // resets the connection in mid-frame
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>

namespace sextant {

class FaultProxy {
 public:
  enum class Way { kToServer, kToClient };

  struct Faults {
    std::chrono::milliseconds delay{0};  // of every byte, in both ways
    int64_t bytes_per_second = 0;        // in each way; 0: as fast as it goes
    // Share of packets that are lost: what is behind them waits until they are sent again.
    double lost = 0;
    bool stall = false;                  // nothing gets through, nothing is lost
    std::optional<Way> black_hole = {};  // what goes this way disappears
    bool refuse = false;                 // new connections are reset
  };

  // To a port of the loopback interface. Listens at a port that the system chooses.
  explicit FaultProxy(int target_port);
  ~FaultProxy();
  FaultProxy(const FaultProxy&) = delete;
  FaultProxy& operator=(const FaultProxy&) = delete;

  int port() const { return port_; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void Set(const Faults& faults);
  // Of connections that are made from now on.
  void SetTarget(int port);
  // Resets the connection in this direction after the next "bytes" bytes. Once.
  void CutAfter(Way way, int64_t bytes);
  // Resets all connections.
  void Reset();

  // Connections reset by CutAfter or Reset.
  int cuts() const;
  // Connections made so far.
  int connections() const;
  int64_t bytes(Way way) const;  // forwarded

 private:
  struct Pipe;
  struct Link;

  void Loop();
  void Accept();
  bool Readable(const Pipe& pipe) const;
  bool Writable(const Pipe& pipe) const;
  void Read(Pipe& pipe);
  // False when the connection is to be reset.
  bool Write(Pipe& pipe);
  void Wake();

  int port_ = 0, listener_ = -1, wake_ = -1;
  mutable std::mutex mutex_;  // of all that follows
  bool stopping_ = false;
  int target_port_;
  Faults faults_;
  std::minstd_rand random_;          // of losses
  int64_t cut_after_[2] = {-1, -1};  // by way; -1: never
  int64_t bytes_[2] = {0, 0};
  int cuts_ = 0, connections_ = 0, resets_ = 0;
  std::list<Link> links_;
  std::thread thread_;
};

}  // namespace sextant

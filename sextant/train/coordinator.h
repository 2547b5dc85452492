// Coordinator: lets several threads stop together, and says why they did.
//
//   Coordinator coordinator;
//   StartQueueRunners(session, coordinator);
//   while (!coordinator.ShouldStop()) session.Run(train);
//   coordinator.RequestStop();
//   coordinator.Join();                       // throws what a thread failed with
//
// The first request to stop counts: what fails after it is a consequence and is not reported.
// Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::train {

class SEXTANT_API Coordinator {
 public:
  // Errors of the codes "clean" stop the threads without being a failure: the end of the data.
  explicit Coordinator(std::vector<Code> clean = {Code::kOutOfRange}) : clean_(std::move(clean)) {}
  // Asks the threads to stop and waits for them.
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  bool ShouldStop() const { return stop_.cancelled(); }
  // Asks all threads to stop, because of a failure if one is given.
  void RequestStop(const Status& failure = Status());
  // Cancelled by RequestStop: ends the Runs it is given to.
  CancellationToken& stop_token() { return stop_; }
  // Waits until a stop is requested or the time has passed. Whether one was requested.
  bool WaitForStop(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  // Runs "body" on a thread that Join waits for. What it throws is a request to stop.
  void Start(std::string name, std::function<void()> body);
  // Waits until all threads have ended, then throws the failure there was. Threads that run on for
  // "grace" after a request to stop are given up: DEADLINE_EXCEEDED names them, if there was no
  // failure.
  void Join(std::chrono::milliseconds grace = std::chrono::minutes(2));

 private:
  struct Worker {
    std::string name;
    std::thread thread;
    bool ended = false;
  };
  bool AllEnded() const;

  const std::vector<Code> clean_;
  CancellationToken stop_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Worker> workers_;
  Status failure_;
};

}  // namespace sextant::train

#pragma GCC visibility pop

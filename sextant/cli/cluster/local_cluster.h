// LocalCluster: a cluster of processes on this machine, each told by TF_CONFIG which task it is.
//
//   LocalCluster cluster({.workers = 2, .ps = 1, .chief = true, .program = {"program", "--flag"}});
//   int code = cluster.Run(std::cout);
//
// What the tasks print goes to the stream line by line, behind the name of the task ("worker 1 |
// "), and to a file per task. Tasks are started again by the restart policy. The cluster ends with
// its chief: the others then have some time to end by themselves before they are made to.
#pragma once

#include <chrono>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/child_process.h"
#include "sextant/base/temporary_directory.h"

namespace sextant::cli {

enum class RestartPolicy {
  kNever,
  kOnFailure,  // after any exit code but 0
  kExitCode,  // after 128 and more, as Kubeflow does: the program asks for it, or a signal ended it
};

struct LocalClusterOptions {
  int workers = 0, ps = 0, evaluators = 0;
  bool chief = false, master = false;  // one of them, or neither: worker 0 is the chief
  std::vector<std::string> program = {};
  RestartPolicy restart = RestartPolicy::kNever;
  int max_restarts = 100;    // of one task
  std::string log_dir = {};  // "": no files
  std::chrono::milliseconds restart_delay = std::chrono::seconds(1);
  // For tasks to end by themselves when the chief has ended or a signal has come, and then after
  // SIGTERM.
  std::chrono::milliseconds grace = std::chrono::seconds(30);
  std::chrono::milliseconds kill_grace = std::chrono::seconds(5);
};

class LocalCluster {
 public:
  // Chooses ports. Throws INVALID_ARGUMENT when there is nothing to run or nobody trains.
  explicit LocalCluster(const LocalClusterOptions& options);
  ~LocalCluster();

  // Runs all tasks to their end; may be called once. The exit code of the chief or, after SIGINT or
  // SIGTERM, which all tasks are sent, that of the signal. Throws NOT_FOUND when there is no such
  // program.
  int Run(std::ostream& out);

 private:
  using Clock = std::chrono::steady_clock;
  struct Task;

  void AddTasks(const std::string& job, int count);
  std::string TfConfig(const Task& task) const;
  void Start(Task& task);
  void Watch(std::ostream& out);
  void ReadLines(Task& task, std::ostream& out);
  void CheckEnd(Task& task, std::ostream& out);
  bool WantsRestart(const Task& task, const ExitStatus& status) const;
  void StopStragglers(std::ostream& out);
  void SignalAll(int signal);

  const LocalClusterOptions options_;
  TemporaryDirectory secrets_;                // the token's file
  std::vector<std::unique_ptr<Task>> tasks_;  // the chief first
  bool ending_ = false;                       // nothing is started again
  std::optional<Clock::time_point> terminate_at_, kill_at_;
};

}  // namespace sextant::cli

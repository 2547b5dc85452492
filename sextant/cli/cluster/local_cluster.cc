#include "sextant/cli/cluster/local_cluster.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <random>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/free_ports.h"
#include "sextant/base/interrupt.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

// A secret of this cluster alone, in a file that only this user reads.
std::string WriteToken(const std::string& folder) {
  std::string path = JoinPath(folder, "token");
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  std::random_device random;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", random());
  const bool written =
      file >= 0 && ::write(file, token.data(), token.size()) == static_cast<ssize_t>(token.size());
  if (file >= 0) ::close(file);
  if (!written) throw Internal("the token of the cluster cannot be written to {}", path);
  return path;
}

}  // namespace

struct LocalCluster::Task {
  std::string job;
  int index = 0;
  std::string address;
  std::optional<ChildProcess> process = {};
  std::optional<Clock::time_point> restart_at = {};
  std::optional<ExitStatus> ended = {};  // for good
  int restarts = 0;
  std::ofstream log = {};

  std::string Name() const { return fmt::format("{} {}", job, index); }
};

LocalCluster::LocalCluster(const LocalClusterOptions& options) : options_(options) {
  if (options.chief && options.master) {
    throw InvalidArgument("a cluster has a chief or a master, not both");
  }
  if (!options.chief && !options.master && options.workers == 0) {
    throw InvalidArgument("nobody would train; add a chief, a master or workers");
  }
  if (options.master && options.evaluators > 0) {
    throw InvalidArgument("a master evaluates itself; name it chief to have evaluators");
  }
  if (options.program.empty()) {
    throw InvalidArgument("there is no program to run; give it after --");
  }
  AddTasks("chief", options.chief ? 1 : 0);
  AddTasks("master", options.master ? 1 : 0);
  AddTasks("worker", options.workers);
  AddTasks("ps", options.ps);
  AddTasks("evaluator", options.evaluators);
  const std::vector<int> ports = FreePorts(static_cast<int>(tasks_.size()));
  for (size_t i = 0; i < tasks_.size(); ++i) {
    tasks_[i]->address = fmt::format("127.0.0.1:{}", ports[i]);
  }
  if (!options.log_dir.empty()) {
    FileSystem::ForPath(options.log_dir).CreateDirectories(options.log_dir);
    for (auto& task : tasks_) {
      const std::string name = fmt::format("{}-{}.log", task->job, task->index);
      task->log.open(JoinPath(options.log_dir, name), std::ios::app);
      if (!task->log) throw NotFound("{}/{} cannot be written", options.log_dir, name);
    }
  }
}

LocalCluster::~LocalCluster() = default;

void LocalCluster::AddTasks(const std::string& job, int count) {
  for (int i = 0; i < count; ++i) {
    tasks_.push_back(std::make_unique<Task>());
    tasks_.back()->job = job;
    tasks_.back()->index = i;
  }
}

std::string LocalCluster::TfConfig(const Task& task) const {
  Json cluster = Json::object();
  for (const auto& other : tasks_) {
    if (other->job != "evaluator") cluster[other->job].push_back(other->address);
  }
  return Json{{"cluster", cluster}, {"task", {{"type", task.job}, {"index", task.index}}}}.dump();
}

void LocalCluster::Start(Task& task) {
  const auto trainers = std::count_if(tasks_.begin(), tasks_.end(), [](const auto& other) {
    return other->job != "ps" && other->job != "evaluator";
  });
  ChildOptions options{.arguments = options_.program,
                       .environment = {{"TF_CONFIG", TfConfig(task)},
                                       {"SEXTANT_TOKEN_FILE", JoinPath(secrets_.path(), "token")}},
                       .output = Stream::kPipe,
                       .error = Stream::kMerge,
                       .own_group = true};
  if (std::getenv("SEXTANT_THREADS") == nullptr) {
    const auto threads = std::max<int64_t>(1, std::thread::hardware_concurrency() / trainers);
    options.environment.emplace_back("SEXTANT_THREADS", std::to_string(threads));
  }
  task.restart_at.reset();
  task.process.emplace(options);
}

int LocalCluster::Run(std::ostream& out) {
  WriteToken(secrets_.path());
  const InterruptScope signals;
  for (auto& task : tasks_) Start(*task);
  const auto running = [&] {
    return std::any_of(tasks_.begin(), tasks_.end(), [](const auto& task) { return !task->ended; });
  };
  bool interrupted = false;
  while (running()) {
    Watch(out);
    for (auto& task : tasks_) CheckEnd(*task, out);
    if (Interrupted() && !interrupted) {
      interrupted = ending_ = true;
      SignalAll(InterruptSignal());
      terminate_at_ = Clock::now() + options_.grace;
    }
    if (tasks_.front()->ended && !ending_) {
      ending_ = true;
      terminate_at_ = Clock::now() + options_.grace;
    }
    StopStragglers(out);
  }
  return interrupted ? ExitCodeOfSignal(InterruptSignal()) : tasks_.front()->ended->code;
}

// Waits until a task prints something, but not long: ends are found by looking.
void LocalCluster::Watch(std::ostream& out) {
  std::vector<pollfd> files;
  std::vector<Task*> of;
  for (auto& task : tasks_) {
    if (!task->process || task->process->output_ended()) continue;
    files.push_back({task->process->output_fd(), POLLIN, 0});
    of.push_back(task.get());
  }
  ::poll(files.data(), files.size(), 50);
  for (size_t i = 0; i < of.size(); ++i) {
    if (files[i].revents != 0) ReadLines(*of[i], out);
  }
  out.flush();
}

void LocalCluster::ReadLines(Task& task, std::ostream& out) {
  while (const auto line = task.process->ReadLine(std::chrono::milliseconds(0))) {
    out << task.Name() << " | " << *line << "\n";
    if (task.log.is_open()) task.log << *line << "\n" << std::flush;
  }
}

bool LocalCluster::WantsRestart(const Task& task, const ExitStatus& status) const {
  if (ending_ || task.restarts >= options_.max_restarts) return false;
  switch (options_.restart) {
    case RestartPolicy::kNever:
      return false;
    case RestartPolicy::kOnFailure:
      return status.code != 0;
    case RestartPolicy::kExitCode:
      return status.code >= 128;
  }
  return false;
}

void LocalCluster::CheckEnd(Task& task, std::ostream& out) {
  if (task.restart_at && (ending_ || Clock::now() >= *task.restart_at)) {
    if (!ending_) return Start(task);
    task.restart_at.reset();
  }
  if (!task.process) return;
  const auto status = task.process->TryWait();
  if (!status) return;
  ReadLines(task, out);
  task.process.reset();
  if (WantsRestart(task, *status)) {
    ++task.restarts;
    task.restart_at = Clock::now() + options_.restart_delay;
    out << task.Name() << " | (" << status->ToString() << "; is started again)\n";
    return;
  }
  task.ended = *status;
  if (!status->ok()) out << task.Name() << " | (" << status->ToString() << ")\n";
}

void LocalCluster::StopStragglers(std::ostream& out) {
  if (terminate_at_ && Clock::now() >= *terminate_at_) {
    terminate_at_.reset();
    kill_at_ = Clock::now() + options_.kill_grace;
    for (const auto& task : tasks_) {
      if (task->process) out << task->Name() << " | (still runs: is sent SIGTERM)\n";
    }
    SignalAll(SIGTERM);
  }
  if (kill_at_ && Clock::now() >= *kill_at_) {
    kill_at_.reset();
    SignalAll(SIGKILL);
  }
  // What was waiting to be started again will not be.
  for (auto& task : tasks_) {
    if (ending_ && !task->process && !task->ended) {
      task->restart_at.reset();
      task->ended = ExitStatus{.code = 1};
    }
  }
}

void LocalCluster::SignalAll(int signal) {
  for (auto& task : tasks_) {
    if (task->process) task->process->Signal(signal);
  }
}

}  // namespace sextant::cli

#include "sextant/testing/local_task.h"

#include <future>
#include <map>
#include <mutex>

#include "sextant/device/device.h"
#include "sextant/device/resource_manager.h"
#include "sextant/runtime/fragment_host.h"

namespace sextant {
namespace {

int64_t TravelBytes(std::span<const Tensor> tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == DType::kString) {
      for (const std::string& text : tensor.flat<std::string>())
        bytes += static_cast<int64_t>(text.size());
    } else if (IsPlain(tensor.dtype())) {
      bytes += static_cast<int64_t>(tensor.bytes());
    } else {
      throw Internal("a {} travels between tasks", DTypeName(tensor.dtype()));
    }
  }
  return bytes;
}

}  // namespace

class LocalCluster::Call : public RemoteCall {
 public:
  explicit Call(std::string task) : task_(std::move(task)) {}
  ~Call() override {
    cancellation_.Cancel(Status(Code::kCancelled, "the caller has given up"));
    if (result_.valid()) result_.wait();
  }

  void Run(std::function<std::vector<Tensor>(CancellationToken&)> work) {
    result_ = std::async(std::launch::async,
                         [this, work = std::move(work)] { return work(cancellation_); });
  }

  bool WaitFor(std::chrono::milliseconds time, CancellationToken& cancellation) override {
    const auto pass_on = cancellation.OnCancel(
        [this, &cancellation] { cancellation_.Cancel(cancellation.status()); });
    if (!result_.valid()) return true;
    if (result_.wait_for(time) != std::future_status::ready) return false;
    try {
      outputs_ = result_.get();
      return true;
    } catch (const Error& error) {
      cancellation.ThrowIfCancelled();
      if (error.code() == Code::kAborted) throw;
      throw ErrorOfTask(error, task_);
    }
  }

  void Take(std::span<Tensor> outputs, CancellationToken&) override {
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = outputs_.at(i).Clone();
  }

 private:
  const std::string task_;
  CancellationToken cancellation_;
  std::future<std::vector<Tensor>> result_;
  std::vector<Tensor> outputs_;
};

class LocalCluster::Task : public RemoteTask {
 public:
  Task(LocalCluster& cluster, const std::string& name, int devices)
      : cluster_(cluster), name_(name), devices_(MakeHostDevices(devices, name)) {
    Start();
  }

  // Afresh. Calls that are running end with what they had.
  void Start() {
    auto state = std::make_shared<State>();
    // A fragment is whole: its session needs no other task.
    state->host = std::make_unique<FragmentHost>(Environment(state->resources), SessionOptions{});
    const std::lock_guard lock(mutex_);
    state_ = std::move(state);
  }
  SessionEnvironment Environment(ResourceManager& resources) const {
    SessionEnvironment environment{.task = name_, .resources = &resources};
    for (const auto& device : devices_) environment.devices.push_back(device.get());
    return environment;
  }
  SessionEnvironment Environment() const { return Environment(state()->resources); }

  std::unique_ptr<RemoteCall> Start(std::shared_ptr<const Fragment> fragment, RunId run,
                                    std::vector<Tensor> inputs,
                                    std::optional<StepToken> /*token*/ = {}) override {
    if (fragment->sum) throw Unimplemented("summed calls need servers that a coordinator knows");
    ++cluster_.calls_;
    ++cluster_.running_;
    auto call = std::make_unique<Call>(name_);
    call->Run([this, fragment, run, inputs = std::move(inputs)](CancellationToken& cancellation) {
      const Ended ended(cluster_.running_);
      const std::shared_ptr<State> state = Meet(*fragment, run.session);
      if (cluster_.on_call_) cluster_.on_call_(*fragment, cancellation);
      state->host->Register(fragment);
      std::vector<Tensor> kept;
      for (const Fragment::KeptInput& input : fragment->kept_inputs) {
        const auto& maker = static_cast<const Task&>(cluster_.Find(input.task));
        kept.push_back(
            maker.state()->host->Kept(run.run, input.maker, std::span(&input.position, 1))[0]);
        if (&maker != this) cluster_.bytes_ += TravelBytes(std::span(&kept.back(), 1));
      }
      cluster_.bytes_ += TravelBytes(inputs);
      auto outputs =
          state->host->Run(fragment->fingerprint, run, inputs, std::move(kept), cancellation);
      cluster_.bytes_ += TravelBytes(outputs);
      return outputs;
    });
    return call;
  }
  void EndRun(uint64_t run) noexcept override { state()->host->EndRun(run); }
  void EndSession(uint64_t session) {
    state()->host->EndSession(session);
    const std::lock_guard lock(mutex_);
    met_.erase(session);
  }

  const FragmentHost& host() const { return *state()->host; }

 private:
  struct State {
    ResourceManager resources;
    std::unique_ptr<FragmentHost> host;
  };
  struct Ended {
    explicit Ended(std::atomic<int>& count) : running(count) {}
    ~Ended() { --running; }
    std::atomic<int>& running;
  };

  std::shared_ptr<State> state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  // The state that the session knows; when it is another, it is told once.
  std::shared_ptr<State> Meet(const Fragment& fragment, uint64_t session) {
    const std::lock_guard lock(mutex_);
    const auto [met, first] = met_.try_emplace(session, state_);
    if (met->second != state_) {
      met->second = state_;
      throw RestartedError(fragment);
    }
    return state_;
  }

  LocalCluster& cluster_;
  const std::string name_;
  const std::vector<std::unique_ptr<Device>> devices_;
  mutable std::mutex mutex_;
  std::shared_ptr<State> state_;
  std::map<uint64_t, std::shared_ptr<State>> met_;  // by session
};

LocalCluster::LocalCluster(const std::vector<std::string>& tasks, int devices_per_task) {
  for (const std::string& task : tasks)
    tasks_.push_back(std::make_unique<Task>(*this, task, devices_per_task));
}
LocalCluster::~LocalCluster() = default;

SessionEnvironment LocalCluster::environment(size_t task) {
  SessionEnvironment environment = tasks_[task]->Environment();
  environment.tasks = this;
  for (size_t other = 0; other < tasks_.size(); ++other) {
    if (other == task) continue;
    environment.remote_devices.push_back(tasks_[other]->Environment().devices[0]);
  }
  return environment;
}

RemoteTask& LocalCluster::Find(std::string_view task) {
  for (const auto& candidate : tasks_) {
    if (candidate->Environment().task == task) return *candidate;
  }
  throw NotFound("no task {}", task);
}

std::vector<Device*> LocalCluster::Devices(std::string_view task) {
  return static_cast<Task&>(Find(task)).Environment().devices;
}

void LocalCluster::EndSession(uint64_t session) noexcept {
  for (const auto& task : tasks_) task->EndSession(session);
}

size_t LocalCluster::sessions(size_t task) const { return tasks_[task]->host().num_sessions(); }
size_t LocalCluster::kept_runs(size_t task) const { return tasks_[task]->host().num_kept_runs(); }
size_t LocalCluster::fragments(size_t task) const { return tasks_[task]->host().num_fragments(); }
int LocalCluster::plans(size_t task) const { return tasks_[task]->host().num_plans(); }
void LocalCluster::Restart(size_t task) { tasks_[task]->Start(); }

}  // namespace sextant

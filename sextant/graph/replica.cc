#include "sextant/graph/replica.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/thread_scopes.h"

namespace sextant {
namespace {

thread_local Replica* current_replica = nullptr;

}  // namespace

// Whose turn it is, and where the others wait. All state is read and written by the thread whose
// turn it is, after it got it under the mutex.
class ReplicaGroup {
 public:
  ReplicaGroup(int count, const std::function<void(int)>& build, const ReplicaOptions& options);
  void Run();

  int count() const { return static_cast<int>(places_.size()); }
  const ReplicaOptions& options() const { return options_; }
  size_t EntriesBefore(std::string_view collection) const;
  std::map<std::string, std::vector<Output>, std::less<>>& variables() { return variables_; }

  void Meet(int index, std::string_view what, void* place,
            const std::function<void(const std::vector<void*>&)>& merge);

 private:
  struct Place {
    std::string point;  // where it waits; "" when it has ended
    void* value = nullptr;
    std::vector<Operation> control_inputs;
  };

  void Build(int index);
  void RunOnThread(int index);
  void NextTurn(int index);
  // Returns when it is the replica's turn. Throws CANCELLED when another one failed.
  void AwaitTurn(int index);
  void Fail(std::exception_ptr error);
  // Throws INVALID_ARGUMENT unless all are at this point.
  void CheckAllAt(std::string_view point) const;
  void MergeAll(const std::function<void(const std::vector<void*>&)>& merge);

  const std::function<void(int)>& build_;
  const ReplicaOptions& options_;
  const ThreadScopes scopes_;
  std::map<std::string, size_t, std::less<>> entries_before_;
  std::map<std::string, std::vector<Output>, std::less<>> variables_;  // of replica 0, in order
  std::vector<Place> places_;

  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_ = 0;
  std::exception_ptr failure_;
};

ReplicaGroup::ReplicaGroup(int count, const std::function<void(int)>& build,
                           const ReplicaOptions& options)
    : build_(build), options_(options), places_(count) {
  const Graph& graph = CurrentGraph();
  for (const std::string& name : graph.CollectionNames()) {
    entries_before_[name] = graph.Collection(name).size();
  }
}

size_t ReplicaGroup::EntriesBefore(std::string_view collection) const {
  const auto it = entries_before_.find(collection);
  return it == entries_before_.end() ? 0 : it->second;
}

void ReplicaGroup::Run() {
  std::vector<std::thread> threads;
  for (int i = 1; i < count(); ++i) threads.emplace_back([this, i] { RunOnThread(i); });
  // Other threads are joined whatever happens here.
  try {
    Build(0);
    AwaitTurn(0);
    CheckAllAt("");
  } catch (...) {
    Fail(std::current_exception());
  }
  for (std::thread& thread : threads) thread.join();
  if (failure_) std::rethrow_exception(failure_);
}

void ReplicaGroup::RunOnThread(int index) {
  // An exception must not leave the thread; the caller's thread throws it.
  try {
    AwaitTurn(index);
    OpenScopes(scopes_);
    const NameScope names(fmt::format("replica_{}", index));
    Build(index);
  } catch (...) {
    Fail(std::current_exception());
  }
}

void ReplicaGroup::Build(int index) {
  Replica replica(*this, index);
  std::optional<DeviceScope> device;
  if (!options_.devices.empty()) device.emplace(options_.devices[index]);
  current_replica = &replica;
  try {
    build_(index);
  } catch (...) {
    current_replica = nullptr;
    throw;
  }
  current_replica = nullptr;
  places_[index] = {};
  NextTurn(index);
}

void ReplicaGroup::NextTurn(int index) {
  const std::lock_guard lock(mutex_);
  turn_ = (index + 1) % count();
  changed_.notify_all();
}

void ReplicaGroup::AwaitTurn(int index) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return turn_ == index || failure_; });
  if (failure_) throw Error(Code::kCancelled, "another replica failed");
}

void ReplicaGroup::Fail(std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = std::move(error);
  changed_.notify_all();
}

void ReplicaGroup::CheckAllAt(std::string_view point) const {
  const auto say = [](const Place& place) { return place.point.empty() ? "the end" : place.point; };
  for (const Place& place : places_) {
    if (place.point == point) continue;
    throw InvalidArgument(
        "replica 0 came to {} where replica {} came to {}: the model function must build the same "
        "for every replica",
        say(places_[0]), &place - places_.data(), say(place));
  }
}

void ReplicaGroup::Meet(int index, std::string_view what, void* place,
                        const std::function<void(const std::vector<void*>&)>& merge) {
  if (CurrentGraph().outer() != nullptr) {
    throw Unimplemented("{} in the body of a function cannot be merged over replicas", what);
  }
  places_[index] = {std::string(what), place, {}};
  for (Node* node : CurrentScope().control_inputs) {
    places_[index].control_inputs.emplace_back(node);
  }
  NextTurn(index);
  AwaitTurn(index);
  if (index != 0) return;
  CheckAllAt(what);
  MergeAll(merge);
}

void ReplicaGroup::MergeAll(const std::function<void(const std::vector<void*>&)>& merge) {
  std::vector<void*> values;
  std::vector<Operation> before;
  for (const Place& place : places_) {
    values.push_back(place.value);
    for (const Operation& input : place.control_inputs) {
      if (std::find(before.begin(), before.end(), input) == before.end()) before.push_back(input);
    }
  }
  const OutsideReplicas merged;
  std::optional<ControlDependencies> after;
  if (!before.empty()) {
    after.emplace(std::vector<Operation>());  // replica 0's own are in the list
    after.emplace(before);
  }
  merge(values);
}

void BuildReplicas(int count, const std::function<void(int)>& build,
                   const ReplicaOptions& options) {
  if (count < 1 || (!options.devices.empty() && options.devices.size() != size_t(count))) {
    throw InvalidArgument("{} replicas cannot be built on {} devices", count,
                          options.devices.size());
  }
  if (options.reduction != "one_device" && options.reduction != "tree" &&
      options.reduction != "ring") {
    throw InvalidArgument("there is no reduction '{}'; there are one_device, tree, ring",
                          options.reduction);
  }
  ReplicaGroup(count, build, options).Run();
}

Replica* Replica::Current() { return current_replica; }
int Replica::count() const { return group_.count(); }
const ReplicaOptions& Replica::options() const { return group_.options(); }

void Replica::Meet(std::string_view what, void* place,
                   const std::function<void(const std::vector<void*>&)>& merge) {
  group_.Meet(index_, what, place, merge);
}

bool Replica::IsCommon(std::string_view collection, Output value) const {
  return index_ == 0 || value.node()->type() == "VarHandleOp" ||
         options().common_collections.contains(collection);
}

std::vector<Output> Replica::Visible(std::string_view collection,
                                     std::vector<Output> entries) const {
  if (index_ == 0 || options().common_collections.contains(collection)) return entries;
  const size_t before = group_.EntriesBefore(collection);
  std::vector<Output> visible;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (i < before || entries[i].node()->type() == "VarHandleOp") visible.push_back(entries[i]);
  }
  if (const auto own = collections_.find(collection); own != collections_.end()) {
    visible.insert(visible.end(), own->second.begin(), own->second.end());
  }
  return visible;
}

void Replica::NoteVariable(std::string_view name, Output handle) {
  group_.variables()[std::string(name)].push_back(handle);
}

Output Replica::NextVariable(std::string_view name) {
  const std::vector<Output>& made = group_.variables()[std::string(name)];
  size_t& used = variables_used_[std::string(name)];
  if (used >= made.size()) {
    throw InvalidArgument(
        "replica {} makes a variable '{}' that replica 0 did not make: the model function must "
        "build the same for every replica",
        index_, name);
  }
  return made[used++];
}

OutsideReplicas::OutsideReplicas() : previous_(current_replica) { current_replica = nullptr; }
OutsideReplicas::~OutsideReplicas() { current_replica = previous_; }

}  // namespace sextant

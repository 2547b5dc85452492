// Membership: which tasks of a cluster are alive, by leases.
//
//   Membership members({.lease = 5s});
//   members.Join({"worker", 1}, incarnation, now);        // kAdmitted
//   members.Renew({"worker", 1}, incarnation, now + 1s);  // a heartbeat; true
//   members.Expire(now + 7s);                             // {worker 1}: its lease ended at 6 s
//
// A process is known by its task and an incarnation, a random number of its own. Of two processes
// with the same task the one that holds the lease is the task; the other is refused until that
// lease has ended. A process whose lease has ended may join again.
//
// Time is an argument, of a steady clock: nothing here waits, locks or reads a clock.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sextant::dist {

using SteadyTime = std::chrono::steady_clock::time_point;
using SteadyDuration = std::chrono::steady_clock::duration;

struct TaskId {
  std::string job;
  int index = 0;

  auto operator<=>(const TaskId&) const = default;
  // "worker 1"
  std::string ToString() const { return job + " " + std::to_string(index); }
};

struct Member {
  TaskId task;
  uint64_t incarnation = 0;
  SteadyTime lease_end = {};
};

class Membership {
 public:
  explicit Membership(SteadyDuration lease) : lease_(lease) {}

  enum class Admission { kAdmitted, kTaken };
  // kTaken: another incarnation of the task has a lease that has not ended.
  Admission Join(const TaskId& task, uint64_t incarnation, SteadyTime now);

  // Extends the lease. False when this incarnation has none: it must join again.
  bool Renew(const TaskId& task, uint64_t incarnation, SteadyTime now);

  // Whether this incarnation had a lease and has none any more.
  bool Leave(const TaskId& task, uint64_t incarnation);

  // Removes the members whose leases have ended by now.
  std::vector<Member> Expire(SteadyTime now);

  bool IsAlive(const TaskId& task, uint64_t incarnation, SteadyTime now) const;
  std::optional<uint64_t> IncarnationOf(const TaskId& task) const;
  // Of one job.
  int Count(const std::string& job) const;
  const std::map<TaskId, Member>& members() const { return members_; }
  // When the first lease ends, for the caller of Expire.
  std::optional<SteadyTime> NextExpiry() const;

 private:
  const SteadyDuration lease_;
  std::map<TaskId, Member> members_;
};

}  // namespace sextant::dist

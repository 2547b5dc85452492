#include "sextant/dist/membership.h"

#include <algorithm>

namespace sextant::dist {

Membership::Admission Membership::Join(const TaskId& task, uint64_t incarnation, SteadyTime now) {
  const auto found = members_.find(task);
  if (found != members_.end() && found->second.incarnation != incarnation &&
      found->second.lease_end > now) {
    return Admission::kTaken;
  }
  members_[task] = {task, incarnation, now + lease_};
  return Admission::kAdmitted;
}

bool Membership::Renew(const TaskId& task, uint64_t incarnation, SteadyTime now) {
  if (!IsAlive(task, incarnation, now)) return false;
  members_[task].lease_end = now + lease_;
  return true;
}

bool Membership::Leave(const TaskId& task, uint64_t incarnation) {
  const auto found = members_.find(task);
  if (found == members_.end() || found->second.incarnation != incarnation) return false;
  members_.erase(found);
  return true;
}

std::vector<Member> Membership::Expire(SteadyTime now) {
  std::vector<Member> expired;
  std::erase_if(members_, [&](const auto& entry) {
    if (entry.second.lease_end > now) return false;
    expired.push_back(entry.second);
    return true;
  });
  return expired;
}

bool Membership::IsAlive(const TaskId& task, uint64_t incarnation, SteadyTime now) const {
  const auto found = members_.find(task);
  return found != members_.end() && found->second.incarnation == incarnation &&
         found->second.lease_end > now;
}

std::optional<uint64_t> Membership::IncarnationOf(const TaskId& task) const {
  const auto found = members_.find(task);
  if (found == members_.end()) return std::nullopt;
  return found->second.incarnation;
}

int Membership::Count(const std::string& job) const {
  return static_cast<int>(std::count_if(members_.begin(), members_.end(),
                                        [&](const auto& entry) { return entry.first.job == job; }));
}

std::optional<SteadyTime> Membership::NextExpiry() const {
  std::optional<SteadyTime> next;
  for (const auto& [task, member] : members_) {
    if (!next || member.lease_end < *next) next = member.lease_end;
  }
  return next;
}

}  // namespace sextant::dist

// Sessions of this process and a peer: as which incarnation they know it, what it keeps for them
// and their Runs, and how it learns that they ended.
#include <charconv>

#include "sextant/dist/peer.h"
#include "sextant/dist/peer_notice.h"
#include "sextant/dist/wire.h"

namespace sextant::dist {

struct Peer::EndRunNotice : Notice<EndRunRequest> {
  explicit EndRunNotice(const std::shared_ptr<Peer>& to) : Notice(to->token()), peer(to) {}
  void Ended(const grpc::Status& status) override {
    const std::shared_ptr<Peer> told = status.ok() ? peer.lock() : nullptr;
    if (!told) return;  // said again, if there is somebody to say it
    const std::lock_guard lock(told->mutex_);
    for (const uint64_t run : request.runs()) told->ended_runs_.erase(run);
  }
  const std::weak_ptr<Peer> peer;
};

struct Peer::EndSessionNotice : Notice<EndSessionRequest> {
  explicit EndSessionNotice(const std::shared_ptr<Peer>& to) : Notice(to->token()), peer(to) {}
  void Ended(const grpc::Status& status) override {
    const std::shared_ptr<Peer> told = status.ok() ? peer.lock() : nullptr;
    if (!told) return;  // likewise
    const std::lock_guard lock(told->mutex_);
    for (const uint64_t session : request.sessions()) told->ended_sessions_.erase(session);
  }
  const std::weak_ptr<Peer> peer;
};

void Peer::NoteRun(const Fragment& fragment, const RunId& run) {
  const std::lock_guard lock(mutex_);
  if (!fragment.kept.empty()) runs_.try_emplace(run.run, 0);
  if (run.session != 0) sessions_.try_emplace(run.session, 0);
}

bool Peer::connected(uint64_t session) const {
  const std::lock_guard lock(mutex_);
  const auto met = sessions_.find(session);
  return met != sessions_.end() && met->second != 0;
}

void Peer::Meet(const HelloReply& hello, uint64_t session) {
  const std::lock_guard lock(mutex_);
  state_ = "connected";
  incarnation_ = hello.incarnation();
  // Another call of the session may have met it before, as another process.
  if (uint64_t& met = sessions_[session]; met == 0) met = incarnation_;
  if (options_.task.empty()) place_ = ShortTaskName(hello.task());
  ShareWith(hello);
}

Error Peer::Gone() {
  const std::lock_guard lock(mutex_);
  state_ = "gone";
  incarnation_ = 0;  // not that of sessions: whoever comes up there has nothing of theirs
  return Error(Code::kUnavailable,
               fmt::format("{} is gone: nobody listens at {}", place_, address()));
}

bool Peer::Restarted(const grpc::Status& status, uint64_t session) {
  const std::string details = status.error_details();
  if (!details.starts_with(kRestarted)) return false;
  uint64_t incarnation = 0;
  std::from_chars(details.data() + kRestarted.size(), details.data() + details.size(), incarnation);
  const std::lock_guard lock(mutex_);
  incarnation_ = incarnation;
  if (const auto met = sessions_.find(session); met != sessions_.end()) met->second = incarnation;
  return true;
}

void Peer::ForgetIncarnation() {
  const std::lock_guard lock(mutex_);
  incarnation_ = 0;
  for (auto& [session, met] : sessions_) met = 0;
}

void Peer::EndRun(uint64_t run) noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      if (runs_.erase(run) == 0) return;  // it keeps nothing of it
      ended_runs_.insert(run);
    }
    TellEndedRuns();
  } catch (...) {  // the peer forgets the run when it no longer hears of this process
  }
}

void Peer::EndSession(uint64_t session) noexcept {
  try {
    {
      const std::lock_guard lock(mutex_);
      if (sessions_.erase(session) == 0) return;  // it has never heard of it
      ended_sessions_.insert(session);
    }
    TellEndedSessions();
  } catch (...) {  // as above
  }
}

void Peer::TellEndedRuns() {
  auto notice = std::make_shared<EndRunNotice>(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    if (ended_runs_.empty()) return;
    notice->request.mutable_runs()->Assign(ended_runs_.begin(), ended_runs_.end());
  }
  FillStamp(0, 0, notice->request.mutable_stamp());
  control_stub_->async()->EndRun(&notice->context, &notice->request, &notice->reply,
                                 net::AsyncCall::Callback(notice));
}

void Peer::TellEndedSessions() {
  auto notice = std::make_shared<EndSessionNotice>(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    if (ended_sessions_.empty()) return;
    notice->request.mutable_sessions()->Assign(ended_sessions_.begin(), ended_sessions_.end());
  }
  FillStamp(0, 0, notice->request.mutable_stamp());
  control_stub_->async()->EndSession(&notice->context, &notice->request, &notice->reply,
                                     net::AsyncCall::Callback(notice));
}

void Peer::StayAlive() {
  TellEndedRuns();
  TellEndedSessions();
  {
    const std::lock_guard lock(mutex_);
    if (runs_.empty() && sessions_.empty()) return;
  }
  auto notice = std::make_shared<Notice<HelloRequest, HelloReply>>(token_);
  notice->request.set_task(options_.own_task);
  notice->request.set_version(kWireVersion);
  FillStamp(0, 0, notice->request.mutable_stamp());
  control_stub_->async()->Hello(&notice->context, &notice->request, &notice->reply,
                                net::AsyncCall::Callback(notice));
}

}  // namespace sextant::dist

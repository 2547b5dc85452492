// CallHistory: lets a call be sent again without being run again (the reply cache of at-most-once
// RPC).
//
// A caller whose connection broke cannot know whether its call was run, so it sends the call again
// under the same sequence number. The history recognises it: a call that runs is joined, one that
// has ended is answered with what it answered before. So every call takes effect at most once, and
// exactly once when its caller gets an answer.
//
//   sender A: 5 → begin, run …            connection breaks
//   sender A: 5 → join; both get the answer when it is there
//   sender A: 6, done_below 6 → the answer of 5 is forgotten; 5 again → ABORTED
//   sender A: its session has ended, done_below 7 → the answer of 6 too
//
// Numbers are given before calls are sent, and one whose tensors go ahead in parts comes long after
// those that follow it. So a number is refused only when its call has been here: below done_below,
// or among those whose answers were dropped because there were too many.
//
// Thread-safe. Knows no gRPC: Reply is whatever an answer is.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/dist/number_set.h"

namespace sextant::dist {

template <typename Reply>
class CallHistory {
 public:
  using Done = std::function<void(const Status&, const Reply&)>;

  // A call that is to be run. It must end, by End.
  struct Running {
    uint64_t sender = 0, sequence = 0, run = 0;
    CancellationToken cancellation;
  };

  // The most answers of one sender that are remembered, beside calls that run.
  explicit CallHistory(size_t remembered = 64) : remembered_(remembered) {}

  // The call to run, or null when it is known: then "done" is called now, if it has ended, or with
  // the others when it does. Throws ABORTED for a call that has been forgotten.
  std::shared_ptr<Running> Begin(uint64_t sender, uint64_t sequence, uint64_t done_below,
                                 uint64_t run, Done done);
  // False: the answer is not kept, as its sender has said that it will not ask again.
  bool End(Running& running, Status status, Reply reply);

  // Cancels a running call. One that has not come yet will be answered with this status: what
  // cancels a call may overtake it.
  void Cancel(uint64_t sender, uint64_t sequence, const Status& why);
  void CancelAll(const Status& why);
  // Notes that the sender lives, and has the answers of all calls below that number.
  void Touch(uint64_t sender, uint64_t done_below = 0);
  // Called at regular intervals: senders not heard of for so many calls of it are forgotten and
  // their calls cancelled. Returns them.
  std::vector<uint64_t> ForgetSilent(int looks, const Status& why);

  uint64_t duplicates() const;
  size_t running() const;

 private:
  struct Call {
    std::shared_ptr<Running> running;     // null once it has ended
    std::list<uint64_t>::iterator ended;  // then its place in Sender::ended
    std::vector<Done> waiting;
    Status status;
    Reply reply{};
  };
  struct Sender {
    std::map<uint64_t, Call> calls;
    std::list<uint64_t> ended;  // numbers of those that have, the first to end in front
    uint64_t done_below = 0;    // as the sender has said
    NumberSet dropped;          // numbers from there on whose answers are gone
    int silent = 0;             // looks since it was heard of

    void Ended(uint64_t sequence, Call& call) { call.ended = ended.insert(ended.end(), sequence); }
    bool Forgotten(uint64_t sequence) const {
      return sequence < done_below || dropped.contains(sequence);
    }
  };
  void Forget(Sender& sender, uint64_t done_below);

  const size_t remembered_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Sender> senders_;
  uint64_t duplicates_ = 0;
};

// ---- implementation

template <typename Reply>
std::shared_ptr<typename CallHistory<Reply>::Running> CallHistory<Reply>::Begin(
    uint64_t sender_id, uint64_t sequence, uint64_t done_below, uint64_t run, Done done) {
  std::unique_lock lock(mutex_);
  Sender& sender = senders_[sender_id];
  sender.silent = 0;
  Forget(sender, done_below);
  if (const auto known = sender.calls.find(sequence); known != sender.calls.end()) {
    ++duplicates_;
    if (known->second.running) {
      known->second.waiting.push_back(std::move(done));
      return nullptr;
    }
    const Status status = known->second.status;
    const Reply reply = known->second.reply;
    lock.unlock();
    done(status, reply);
    return nullptr;
  }
  if (sender.Forgotten(sequence)) {
    throw MakeError<Code::kAborted>("call {} was answered before and is forgotten", sequence);
  }
  Call& call = sender.calls[sequence];
  call.running = std::make_shared<Running>();
  call.running->sender = sender_id;
  call.running->sequence = sequence;
  call.running->run = run;
  call.waiting.push_back(std::move(done));
  return call.running;
}

template <typename Reply>
void CallHistory<Reply>::Forget(Sender& sender, uint64_t done_below) {
  sender.done_below = std::max(sender.done_below, done_below);
  sender.dropped.EraseBelow(sender.done_below);
  for (auto it = sender.calls.begin(); it != sender.calls.end() && it->first < sender.done_below;) {
    if (it->second.running) {
      ++it;
    } else {
      sender.ended.erase(it->second.ended);
      it = sender.calls.erase(it);
    }
  }
  while (sender.ended.size() >= remembered_) {
    sender.dropped.Insert(sender.ended.front());
    sender.calls.erase(sender.ended.front());
    sender.ended.pop_front();
  }
}

template <typename Reply>
bool CallHistory<Reply>::End(Running& running, Status status, Reply reply) {
  std::vector<Done> waiting;
  bool kept = false;
  {
    std::lock_guard lock(mutex_);
    const auto sender = senders_.find(running.sender);
    if (sender == senders_.end()) return false;
    Call& call = sender->second.calls.at(running.sequence);
    waiting = std::move(call.waiting);
    kept = running.sequence >= sender->second.done_below;
    if (kept) {
      call.waiting.clear();
      call.running = nullptr;
      sender->second.Ended(running.sequence, call);
      call.status = status;
      call.reply = reply;
    } else {
      sender->second.calls.erase(running.sequence);
    }
  }
  for (const Done& done : waiting) done(status, reply);
  return kept;
}

template <typename Reply>
void CallHistory<Reply>::Cancel(uint64_t sender_id, uint64_t sequence, const Status& why) {
  std::shared_ptr<Running> running;
  {
    std::lock_guard lock(mutex_);
    Sender& sender = senders_[sender_id];
    sender.silent = 0;
    if (sender.Forgotten(sequence)) return;
    const auto [call, is_new] = sender.calls.try_emplace(sequence);
    if (is_new) {
      call->second.status = why;
      sender.Ended(sequence, call->second);
    }
    running = call->second.running;
  }
  if (running) running->cancellation.Cancel(why);
}

template <typename Reply>
void CallHistory<Reply>::CancelAll(const Status& why) {
  std::vector<std::shared_ptr<Running>> all;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, sender] : senders_) {
      for (auto& [sequence, call] : sender.calls) {
        if (call.running) all.push_back(call.running);
      }
    }
  }
  for (const auto& running : all) running->cancellation.Cancel(why);
}

template <typename Reply>
void CallHistory<Reply>::Touch(uint64_t sender, uint64_t done_below) {
  std::lock_guard lock(mutex_);
  const auto it = senders_.find(sender);
  if (it == senders_.end()) return;
  it->second.silent = 0;
  Forget(it->second, done_below);
}

template <typename Reply>
std::vector<uint64_t> CallHistory<Reply>::ForgetSilent(int looks, const Status& why) {
  std::vector<uint64_t> silent;
  std::vector<std::shared_ptr<Running>> cancelled;
  {
    std::lock_guard lock(mutex_);
    for (auto it = senders_.begin(); it != senders_.end();) {
      Sender& sender = it->second;
      if (++sender.silent <= looks) {
        ++it;
        continue;
      }
      bool runs = false;
      for (auto& [sequence, call] : sender.calls) {
        if (!call.running) continue;
        runs = true;
        cancelled.push_back(call.running);
      }
      if (runs) {  // gone at the next look, when its calls have ended
        ++it;
        continue;
      }
      silent.push_back(it->first);
      it = senders_.erase(it);
    }
  }
  for (const auto& running : cancelled) running->cancellation.Cancel(why);
  return silent;
}

template <typename Reply>
uint64_t CallHistory<Reply>::duplicates() const {
  std::lock_guard lock(mutex_);
  return duplicates_;
}

template <typename Reply>
size_t CallHistory<Reply>::running() const {
  std::lock_guard lock(mutex_);
  size_t count = 0;
  for (const auto& [id, sender] : senders_) {
    for (const auto& [sequence, call] : sender.calls) count += call.running ? 1 : 0;
  }
  return count;
}

}  // namespace sextant::dist

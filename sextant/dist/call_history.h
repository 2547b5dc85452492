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
//   sender A: 7, done_below 8 but for 6 and 7 → the answer of 5 is forgotten; 5 again → ABORTED
//   sender A: done_below 8 but for 7 → 6 still runs here, but A has given it up: it is cancelled
//
// Numbers are given before calls are sent, and one whose tensors go ahead in parts comes long after
// those that follow it. So every message says which calls are under way for the sender
// (sender_progress.h), and a number is refused only when it is not among them, or when its answer
// was dropped because there were too many.
//
// Thread-safe. Knows no gRPC: Reply is whatever an answer is.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/dist/sender_progress.h"

namespace sextant::dist {

template <typename Reply>
class CallHistory {
 public:
  using Done = std::function<void(const Status&, const Reply&)>;

  // A call that is to be run. It must end, by End.
  struct Running {
    uint64_t sender = 0, sequence = 0, run = 0;
    const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
    CancellationToken cancellation;
  };

  // The most answers of one sender that are remembered, beside calls that run.
  explicit CallHistory(size_t remembered = 64) : remembered_(remembered) {}

  // The call to run, or null when it is known: then "done" is called now, if it has ended, or with
  // the others when it does. Throws ABORTED for a call that has been forgotten. "progress" is what
  // came with it, as Touch.
  std::shared_ptr<Running> Begin(const SenderProgress& progress, uint64_t sequence, uint64_t run,
                                 Done done);
  void End(Running& running, Status status, Reply reply);

  // Cancels a running call. One that has not come yet will be answered with this status: what
  // cancels a call may overtake it.
  void Cancel(const SenderProgress& progress, uint64_t sequence, const Status& why);
  void CancelAll(const Status& why);
  // Notes that a sender which is known lives, and what it says: answers that it has are forgotten,
  // calls that it has given up are cancelled.
  void Touch(const SenderProgress& progress);
  // Called at regular intervals: senders not heard of during the last `looks` calls of it are
  // forgotten and their calls cancelled. Returns them.
  std::vector<uint64_t> ForgetSilent(int looks, const Status& why);

  uint64_t duplicates() const;
  size_t running() const;
  // For how long each call that runs has run.
  std::vector<std::chrono::duration<double>> RunningFor() const;

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
    std::list<uint64_t> ended;     // numbers of those that have, the first to end in front
    uint64_t done_below = 0;       // as the sender has said
    std::set<uint64_t> under_way;  // smaller numbers that may come, or come again
    int silent = 0;                // looks since it was heard of

    void Ended(uint64_t sequence, Call& call) { call.ended = ended.insert(ended.end(), sequence); }
    bool Forgotten(uint64_t sequence) const {
      return sequence < done_below && !under_way.contains(sequence);
    }
    void Note(const SenderProgress& progress);
  };
  // What is to be done when no lock is held.
  struct Outcome {
    std::vector<std::shared_ptr<Running>> given_up;
    std::vector<Reply> dropped;
    ~Outcome() {
      for (const auto& running : given_up)
        running->cancellation.Cancel(Status(Code::kCancelled, "the caller has given it up"));
    }
  };
  // REQUIRES: mutex_ is held.
  void Hear(Sender& sender, const SenderProgress& progress, Outcome& outcome);

  const size_t remembered_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Sender> senders_;
  uint64_t duplicates_ = 0;
};

// ---- implementation

template <typename Reply>
void CallHistory<Reply>::Sender::Note(const SenderProgress& progress) {
  std::erase_if(under_way, [&](uint64_t sequence) { return progress.Ended(sequence); });
  for (const uint64_t sequence : progress.under_way) {
    if (sequence >= done_below) under_way.insert(sequence);  // smaller ones were told before
  }
  done_below = std::max(done_below, progress.done_below);
}

template <typename Reply>
void CallHistory<Reply>::Hear(Sender& sender, const SenderProgress& progress, Outcome& outcome) {
  sender.silent = 0;
  sender.Note(progress);
  const auto drop = [&](auto call) {
    outcome.dropped.push_back(std::move(call->second.reply));
    sender.ended.erase(call->second.ended);
    return sender.calls.erase(call);
  };
  for (auto call = sender.calls.begin(); call != sender.calls.end();) {
    if (!sender.Forgotten(call->first)) {
      ++call;
    } else if (call->second.running) {
      outcome.given_up.push_back((call++)->second.running);
    } else {
      call = drop(call);
    }
  }
  while (sender.ended.size() >= remembered_) {
    sender.under_way.erase(sender.ended.front());
    drop(sender.calls.find(sender.ended.front()));
  }
}

template <typename Reply>
std::shared_ptr<typename CallHistory<Reply>::Running> CallHistory<Reply>::Begin(
    const SenderProgress& progress, uint64_t sequence, uint64_t run, Done done) {
  Outcome outcome;
  std::unique_lock lock(mutex_);
  Sender& sender = senders_[progress.sender];
  Hear(sender, progress, outcome);
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
  call.running->sender = progress.sender;
  call.running->sequence = sequence;
  call.running->run = run;
  call.waiting.push_back(std::move(done));
  return call.running;
}

template <typename Reply>
void CallHistory<Reply>::End(Running& running, Status status, Reply reply) {
  std::vector<Done> waiting;
  {
    std::lock_guard lock(mutex_);
    const auto sender = senders_.find(running.sender);
    if (sender == senders_.end()) return;
    Call& call = sender->second.calls.at(running.sequence);
    waiting = std::move(call.waiting);
    if (sender->second.Forgotten(running.sequence)) {  // nobody will ask again
      sender->second.calls.erase(running.sequence);
    } else {
      call.waiting.clear();
      call.running = nullptr;
      sender->second.Ended(running.sequence, call);
      call.status = status;
      call.reply = reply;
    }
  }
  for (const Done& done : waiting) done(status, reply);
}

template <typename Reply>
void CallHistory<Reply>::Cancel(const SenderProgress& progress, uint64_t sequence,
                                const Status& why) {
  Outcome outcome;
  std::shared_ptr<Running> running;
  {
    std::lock_guard lock(mutex_);
    Sender& sender = senders_[progress.sender];
    Hear(sender, progress, outcome);
    const auto known = sender.calls.find(sequence);
    if (known != sender.calls.end()) {
      running = known->second.running;
    } else if (!sender.Forgotten(sequence)) {
      Call& call = sender.calls[sequence];
      call.status = why;
      sender.Ended(sequence, call);
    }
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
void CallHistory<Reply>::Touch(const SenderProgress& progress) {
  Outcome outcome;
  std::lock_guard lock(mutex_);
  const auto it = senders_.find(progress.sender);
  if (it != senders_.end()) Hear(it->second, progress, outcome);
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
  return RunningFor().size();
}

template <typename Reply>
std::vector<std::chrono::duration<double>> CallHistory<Reply>::RunningFor() const {
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::chrono::duration<double>> all;
  std::lock_guard lock(mutex_);
  for (const auto& [id, sender] : senders_) {
    for (const auto& [sequence, call] : sender.calls) {
      if (call.running) all.push_back(now - call.running->begun);
    }
  }
  return all;
}

}  // namespace sextant::dist

// ReadAhead: threads that make elements before the consumer asks for them (ParallelMap, Prefetch).
//
// As in parallel_batch.cc, threads take turns at reading a group of pending elements from the input
// and finish their groups beside each other. Groups stand in groups_ in the order of reading and
// are given in that order once they are done (ordered), or as they are done.
//
//   groups_:  [0 1 done] [2 3 finishing] [4 5 reading]      the consumer has group [0 1] next
//
// How much is made ahead is limited, by two groups to a thread (ParallelMap) or by the buffer that
// Prefetch was asked for; kAutotune begins with two elements and grows by one whenever the consumer
// has to wait, up to 16. Half of the buffer at most is read at once, so that the consumer has
// elements while the other half is made.
//
// Invariants: ahead_ is the number of elements in groups_, counted as asked for while a group is
// read. The consumer owns current_, a group taken out of groups_, and gives its elements without
// the lock; a used group goes back to spare_ with the buffers of the elements the consumer gave in
// return. Nothing of an element's failure leaves its place: failures[i] is thrown when element i
// would be given. To save, the threads finish the groups they have begun, and all are written.
#include "sextant/data/read_ahead.h"

#include <algorithm>

#include "sextant/data/dataset.h"

namespace sextant::data {
namespace {

constexpr int64_t kMaxReadGroup = 64;
constexpr int64_t kFirstAhead = 2, kMaxAhead = 16;  // of kAutotune

int64_t FirstLimit(const ReadAheadOptions& options) {
  return options.ahead == kAutotune ? kFirstAhead : options.ahead;
}

}  // namespace

ReadAhead::ReadAhead(std::unique_ptr<NodeIterator> input, const DeferredWork* work,
                     const IterationContext& context, const ReadAheadOptions& options)
    : input_(std::move(input)),
      work_(work),
      options_(options),
      group_size_(kMaxReadGroup),
      limit_(FirstLimit(options)),
      workers_(options.threads, context.cancellation,
               [this](Workers::Lock& lock) { return Step(lock); }) {}

int64_t ReadAhead::Room() const {
  // Two groups for each thread: one to work on while the other is given.
  if (options_.ahead == 0) {
    const int64_t limit = 2 * workers_.max_threads() * group_size_.get();
    return ahead_ < limit ? group_size_.get() : 0;
  }
  // Half at most, so that the consumer can work while the other half is made.
  return std::min({group_size_.get(), limit_ - ahead_, std::max<int64_t>(1, limit_ / 2)});
}

ReadAhead::GroupPtr ReadAhead::NewGroup(int64_t count) {
  GroupPtr group;
  if (spare_.empty()) {
    group = std::make_unique<Group>();
  } else {
    group = std::move(spare_.back());
    spare_.pop_back();
  }
  if (const auto size = static_cast<size_t>(count); group->pending.size() < size) {
    group->pending.resize(size);
    group->elements.resize(size);
    group->failures.resize(size);
  }
  group->count = group->given = 0;
  group->done = false;
  return group;
}

bool ReadAhead::Read(Group& group, int64_t count) noexcept {
  for (; group.count < count; ++group.count) {
    const auto i = static_cast<size_t>(group.count);
    group.failures[i] = nullptr;
    try {
      if (work_ == nullptr) std::swap(group.elements[i], group.pending[i].element);
      if (!input_->NextPending(&group.pending[i])) return true;
      if (work_ == nullptr) std::swap(group.elements[i], group.pending[i].element);
    } catch (...) {  // crosses to the consumer's thread
      group.failures[i] = std::current_exception();
    }
  }
  return false;
}

void ReadAhead::Finish(Group& group) noexcept {
  if (work_ == nullptr) return;
  for (int64_t i = 0; i < group.count; ++i) {
    if (group.failures[i]) continue;
    try {
      work_->Finish(group.pending[i], &group.elements[i]);
    } catch (...) {  // crosses to the consumer's thread
      group.failures[i] = std::current_exception();
    }
  }
}

bool ReadAhead::Step(Workers::Lock& lock) {
  const int64_t room = Room();
  if (reading_ || ended_ || room <= 0) return false;
  Group& group = *groups_.emplace_back(NewGroup(room));
  reading_ = true;
  ahead_ += room;
  lock.unlock();

  const auto start = GroupSize::Clock::now();
  const bool ended = Read(group, room);
  lock.lock();
  reading_ = false;
  ended_ |= ended;
  ahead_ += group.count - room;
  workers_.NotifyWork();  // another thread may read now
  lock.unlock();
  Finish(group);
  lock.lock();
  group.done = true;
  group_size_.Learn(group.count, GroupSize::Clock::now() - start);
  workers_.NotifyConsumer();
  return true;
}

std::deque<ReadAhead::GroupPtr>::iterator ReadAhead::FindDone() {
  if (options_.ordered) {
    return !groups_.empty() && groups_.front()->done ? groups_.begin() : groups_.end();
  }
  return std::ranges::find_if(groups_, [](const GroupPtr& group) { return group->done; });
}

bool ReadAhead::Await() {
  while (!current_ || current_->given == current_->count) {
    Workers::Lock lock(workers_.mutex());
    if (current_) spare_.push_back(std::move(current_));
    workers_.NotifyWork();
    if (FindDone() == groups_.end() && options_.ahead == kAutotune && !ended_) {
      limit_ = std::min(limit_ + 1, kMaxAhead);
    }
    workers_.Await(lock, [&] {
      return FindDone() != groups_.end() || (groups_.empty() && ended_ && !reading_);
    });
    const auto done = FindDone();
    if (done == groups_.end()) return false;
    current_ = std::move(*done);
    groups_.erase(done);
    ahead_ -= current_->count;
    workers_.NotifyWork();
  }
  ThrowIfFailed(current_->failures[current_->given++]);
  return true;
}

bool ReadAhead::Next(Element* element) {
  if (!Await()) return false;
  std::swap(*element, current_->elements[current_->given - 1]);
  return true;
}

bool ReadAhead::NextPending(PendingElement* pending) {
  if (!NodeIterator::NextPending(pending)) return false;
  pending->origin = current_->pending[current_->given - 1].origin;
  return true;
}

void ReadAhead::Save(StateWriter& writer) {
  Workers::Pause pause(workers_);
  Workers::Lock lock(workers_.mutex());
  const auto save = [&](const Group& group) {
    for (int64_t i = group.given; i < group.count; ++i) {
      SaveResult(writer, group.failures[i], group.elements[i]);
    }
  };
  writer.PutInt("ahead", ahead_ + (current_ ? current_->count - current_->given : 0));
  if (current_) save(*current_);
  for (const GroupPtr& group : groups_) save(*group);
  writer.PutInt("ended", ended_);
  input_->Save(writer);
}

void ReadAhead::Restore(StateReader& reader) {
  current_ = std::make_unique<Group>();
  for (int64_t i = reader.GetInt("ahead"); i > 0; --i) {
    Result result = RestoreResult(reader);
    current_->pending.emplace_back();
    current_->elements.push_back(std::move(result.element));
    current_->failures.push_back(std::move(result.failure));
    ++current_->count;
  }
  ended_ = reader.GetInt("ended") != 0;
  input_->Restore(reader);
}

}  // namespace sextant::data

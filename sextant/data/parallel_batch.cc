#include "sextant/data/parallel_batch.h"

#include <algorithm>
#include <utility>

namespace sextant::data {
namespace {

// One that waits for the consumer, one that is being finished and one that is being begun.
constexpr size_t kMaxFillings = 3;
constexpr int64_t kMaxTaskGroup = 32, kMaxRowGroup = 128;

}  // namespace

ParallelBatch::ParallelBatch(const DatasetNode& node, const Walk& walk, int64_t size,
                             bool drop_remainder)
    : node_(node),
      size_(size),
      drop_remainder_(drop_remainder),
      rows_(node.TaskRows()),
      input_(node.MakeTasks(walk)),
      group_size_(std::min(rows_ != nullptr ? kMaxRowGroup : kMaxTaskGroup, size)),
      workers_(node.parallel(), walk.cancellation,
               [this](Workers::Lock& lock) { return Step(lock); }) {
  // What threads give back needs no memory then.
  spare_groups_.reserve(static_cast<size_t>(workers_.max_threads()));
  spare_.reserve(kMaxFillings + 1);
}

ParallelBatch::FillingPtr ParallelBatch::NewFilling(Element recycled) {
  FillingPtr filling;
  if (spare_.empty()) {
    filling = std::make_unique<Filling>();
  } else {
    filling = std::move(spare_.back());
    spare_.pop_back();
  }
  filling->rows.Reset(size_, std::move(recycled));
  filling->rows.ReserveRejected();
  filling->read = filling->finished = 0;
  filling->closed = false;
  return filling;
}

ParallelBatch::Filling* ParallelBatch::Open() {
  if (!fillings_.empty() && !fillings_.back()->closed) return fillings_.back().get();
  if (fillings_.size() == kMaxFillings) return nullptr;
  return fillings_.emplace_back(NewFilling({})).get();
}

// Stops behind a row that fails. Returns whether the input is at its end.
bool ParallelBatch::Read(Filling& filling, int64_t first, int64_t wanted, Group& group,
                         int64_t* count, bool* failed) noexcept {
  if (rows_ != nullptr) {
    group.rows.Restart(wanted);
    group.rows.set_keeps_origins(rows_->origins);
    try {
      input_->NextRows(group.rows);
    } catch (...) {  // crosses to the consumer's thread
      filling.rows.Reject(first + group.rows.rows(), std::current_exception());
      *failed = true;
    }
    *count = group.rows.rows();
    return !*failed && *count < wanted;
  }
  std::vector<Task>& tasks = group.tasks;
  for (*count = 0; *count < wanted; ++*count) {
    try {
      if (tasks.size() == static_cast<size_t>(*count)) tasks.emplace_back();
      if (!input_->NextTask(&tasks[*count])) return true;
    } catch (...) {  // crosses to the consumer's thread
      filling.rows.Reject(first + *count, std::current_exception());
      *failed = true;
      return false;
    }
  }
  return false;
}

void ParallelBatch::Finish(Group& group, int64_t count, RowBatch& batch, int64_t first) noexcept {
  if (count == 0) return;
  try {
    if (rows_ != nullptr) {
      node_.FinishRows(group.rows, batch, first);
    } else {
      node_.FinishRows(std::span(group.tasks).first(static_cast<size_t>(count)), batch, first);
    }
  } catch (...) {  // crosses to the consumer's thread
    batch.RejectRest(first, count, std::current_exception());
  }
}

bool ParallelBatch::Step(Workers::Lock& lock) {
  if (reading_ || ended_ || held_) return false;
  Filling* const filling = Open();
  if (!filling) return false;
  const int64_t first = filling->read;
  const int64_t wanted = std::min(group_size_.get(), size_ - first);
  std::unique_ptr<Group> group;
  if (spare_groups_.empty()) {
    group = std::make_unique<Group>();
  } else {
    group = std::move(spare_groups_.back());
    spare_groups_.pop_back();
  }
  reading_ = true;
  lock.unlock();

  const auto start = GroupSize::Clock::now();
  int64_t count = 0;
  bool failed = false;
  const bool ended = Read(*filling, first, wanted, *group, &count, &failed);
  lock.lock();
  reading_ = false;
  ended_ |= ended;
  filling->read += count + failed;
  filling->closed = ended || filling->read == size_;
  workers_.NotifyWork();  // another thread may read now
  lock.unlock();

  Finish(*group, count, filling->rows, first);
  lock.lock();
  filling->finished += count + failed;
  spare_groups_.push_back(std::move(group));
  group_size_.Learn(count, GroupSize::Clock::now() - start);
  if (filling->done()) workers_.NotifyConsumer();
  return true;
}

ParallelBatch::Filling* ParallelBatch::AwaitBatch() {
  Workers::Lock lock(workers_.mutex());
  workers_.NotifyWork();
  workers_.Await(
      lock, [&] { return fillings_.empty() ? ended_ && !reading_ : fillings_.front()->done(); });
  return fillings_.empty() ? nullptr : fillings_.front().get();
}

void ParallelBatch::RemoveFirst() {
  spare_.push_back(std::move(fillings_.front()));
  fillings_.pop_front();
  workers_.NotifyWork();
}

bool ParallelBatch::Next(Element* element) {
  for (;;) {
    if (held_) {
      if (!fillings_.empty()) TakeAllApart();
      if (NextOfOutcomes(element)) return true;
    }
    Filling* const filling = AwaitBatch();
    if (!filling) return false;
    const int64_t rows = filling->read;
    if (filling->rows.has_rejected()) {
      // The rows behind a failed one move up, those of later batches too. Once all in flight are
      // used up, batches are filled in place again.
      TakeAllApart();
      continue;
    }
    const bool given = rows == size_ || (rows > 0 && !drop_remainder_);
    if (given) {
      Element recycled = std::exchange(*element, filling->rows.Take(rows));
      filling->rows.Reset(size_, std::move(recycled));
    }
    Workers::Lock lock(workers_.mutex());
    RemoveFirst();
    if (given) return true;
  }
}

void ParallelBatch::TakeApart(Filling& filling) {
  const std::span<RowBatch::Rejected> rejected = filling.rows.rejected();
  std::list<Outcome> outcomes;
  std::vector<Outcome*> in_place_of(rejected.size());
  size_t next = 0;
  for (int64_t row = 0; row < filling.read; ++row) {
    if (next < rejected.size() && rejected[next].row == row) {
      in_place_of[next++] = &outcomes.emplace_back();
    } else {
      outcomes.push_back({{}, filling.rows.Row(row)});
    }
  }
  // Nothing throws from here on.
  for (size_t i = 0; i < rejected.size(); ++i) {
    *in_place_of[i] = {std::move(rejected[i].failure), std::move(rejected[i].element)};
  }
  outcomes_.splice(outcomes_.end(), outcomes);
}

void ParallelBatch::TakeAllApart() {
  Workers::Pause pause(workers_);
  Workers::Lock lock(workers_.mutex());
  held_ = true;
  while (!fillings_.empty()) {
    TakeApart(*fillings_.front());
    RemoveFirst();
  }
}

bool ParallelBatch::NextOfOutcomes(Element* element) {
  if (!partial_) {
    Workers::Lock lock(workers_.mutex());
    partial_ = NewFilling(std::move(*element));
  }
  RowBatch& rows = partial_->rows;
  while (!rows.full()) {
    if (outcomes_.empty()) {
      Release();
      return false;
    }
    Outcome outcome = std::move(outcomes_.front());
    outcomes_.pop_front();
    ThrowIfFailed(outcome.failure);
    *rows.scratch() = std::move(outcome.element);
    rows.Append(rows.scratch());
  }
  *element = rows.Take(size_);
  Workers::Lock lock(workers_.mutex());
  spare_.push_back(std::move(partial_));
  return true;
}

void ParallelBatch::Release() {
  Workers::Lock lock(workers_.mutex());
  partial_->rows.Reserve();
  partial_->read = partial_->finished = partial_->rows.rows();
  partial_->closed = ended_;
  fillings_.push_back(std::move(partial_));
  held_ = false;
}

void ParallelBatch::Save(StateWriter& writer) {
  TakeAllApart();
  const int64_t begun = partial_ ? partial_->rows.rows() : 0;
  writer.Int("rows", begun + static_cast<int64_t>(outcomes_.size()));
  for (int64_t row = 0; row < begun; ++row) SaveOutcome(writer, {}, partial_->rows.Row(row));
  for (const Outcome& outcome : outcomes_) SaveOutcome(writer, outcome.failure, outcome.element);
  writer.Int("ended", ended_);
  input_->Save(writer);
}

void ParallelBatch::Restore(StateReader& reader) {
  for (int64_t i = reader.Int("rows"); i > 0; --i) outcomes_.push_back(RestoreOutcome(reader));
  ended_ = reader.Int("ended") != 0;
  held_ = true;
  input_->Restore(reader);
}

}  // namespace sextant::data

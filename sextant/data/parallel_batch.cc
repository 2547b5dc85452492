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
               [this](Workers::Lock& lock) { return Step(lock); }) {}

ParallelBatch::FillingPtr ParallelBatch::NewFilling(Element recycled) {
  FillingPtr filling;
  if (spare_.empty()) {
    filling = std::make_unique<Filling>();
  } else {
    filling = std::move(spare_.back());
    spare_.pop_back();
  }
  filling->rows.Reset(size_, std::move(recycled));
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
                         int64_t* count, bool* failed) {
  if (rows_ != nullptr) {
    group.rows.Restart(wanted);
    group.rows.set_keeps_origins(rows_->origins);
    try {
      input_->NextRows(group.rows);
    } catch (...) {  // crosses to the consumer's thread
      filling.rows.Reject(first + group.rows.rows(), CurrentStatus());
      *failed = true;
    }
    *count = group.rows.rows();
    return !*failed && *count < wanted;
  }
  std::vector<Task>& tasks = group.tasks;
  for (*count = 0; *count < wanted; ++*count) {
    if (tasks.size() == static_cast<size_t>(*count)) tasks.emplace_back();
    try {
      if (!input_->NextTask(&tasks[*count])) return true;
    } catch (...) {  // crosses to the consumer's thread
      filling.rows.Reject(first + *count, CurrentStatus());
      *failed = true;
      return false;
    }
  }
  return false;
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

  if (rows_ != nullptr && count > 0) {
    node_.FinishRows(group->rows, filling->rows, first);
  } else {
    node_.FinishRows(std::span(group->tasks).first(static_cast<size_t>(count)), filling->rows,
                     first);
  }
  lock.lock();
  filling->finished += count + failed;
  spare_groups_.push_back(std::move(group));
  group_size_.Learn(count, GroupSize::Clock::now() - start);
  if (filling->done()) workers_.NotifyConsumer();
  return true;
}

ParallelBatch::FillingPtr ParallelBatch::AwaitBatch() {
  Workers::Lock lock(workers_.mutex());
  workers_.NotifyWork();
  workers_.Await(
      lock, [&] { return fillings_.empty() ? ended_ && !reading_ : fillings_.front()->done(); });
  if (fillings_.empty()) return nullptr;
  FillingPtr filling = std::move(fillings_.front());
  fillings_.pop_front();
  workers_.NotifyWork();
  return filling;
}

bool ParallelBatch::Next(Element* element) {
  for (;;) {
    if (held_ && NextOfOutcomes(element)) return true;
    FillingPtr filling = AwaitBatch();
    if (!filling) return false;
    const int64_t rows = filling->read;
    if (filling->rows.has_rejected()) {
      // The rows behind a failed one move up, those of later batches too. Once all in flight are
      // used up, batches are filled in place again.
      Workers::Pause pause(workers_);
      TakeApart(*filling);
      TakeAllApart();
      continue;
    }
    const bool given = rows == size_ || (rows > 0 && !drop_remainder_);
    if (given) {
      Element recycled = std::exchange(*element, filling->rows.Take(rows));
      filling->rows.Reset(size_, std::move(recycled));
    }
    Workers::Lock lock(workers_.mutex());
    spare_.push_back(std::move(filling));
    if (given) return true;
  }
}

void ParallelBatch::TakeApart(Filling& filling) {
  std::vector<RowBatch::Rejected> rejected = filling.rows.TakeRejected();
  auto next = rejected.begin();
  for (int64_t row = 0; row < filling.read; ++row) {
    if (next != rejected.end() && next->row == row) {
      outcomes_.push_back({std::move(next->status), std::move(next->element)});
      ++next;
    } else {
      outcomes_.push_back({{}, filling.rows.Row(row)});
    }
  }
}

void ParallelBatch::TakeAllApart() {
  Workers::Lock lock(workers_.mutex());
  for (FillingPtr& filling : fillings_) {
    TakeApart(*filling);
    spare_.push_back(std::move(filling));
  }
  fillings_.clear();
  held_ = true;
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
    outcome.status.ThrowIfError();
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
  Workers::Pause pause(workers_);
  TakeAllApart();
  const int64_t begun = partial_ ? partial_->rows.rows() : 0;
  writer.Int("rows", begun + static_cast<int64_t>(outcomes_.size()));
  for (int64_t row = 0; row < begun; ++row) SaveOutcome(writer, {}, partial_->rows.Row(row));
  for (const Outcome& outcome : outcomes_) SaveOutcome(writer, outcome.status, outcome.element);
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

// Batches filled in place by several threads.
//
// Making an element has a serial part, the iterator (which record, which random stream), and a part
// that depends on that element alone (parse, decode, augment; DeferredWork). The threads take turns
// at the serial part, a group of consecutive rows at a time; each then finishes its group beside
// the others and writes it to those rows of the batch that the group was given when it was read.
// There is no queue of elements between Map and Batch, and no copy from one to the other: the
// "map and batch fusion" of Murray et al., "tf.data: A Machine Learning Data Processing Framework",
// VLDB 2021, here for any deferred work.
//
//   Batches of 4, groups of 2:   thread A   read 0 1 | finish 0 1 | read 4 5 | finish 4 5 ...
//                                thread B            | read 2 3   | finish 2 3    | read 6 7 ...
//   The consumer gets the first batch when rows 0 to 3 are finished.
//
// Invariants: one thread reads at a time (reading_), so rows are numbered in the order of the input
// and batches do not depend on timing. A batch is done when it is closed (full, or the input is at
// its end) and as many rows are finished as were read. At most kMaxFillings batches are in flight.
//
// A row that failed leaves a hole, where a serial Batch would move the rows behind it up, those of
// later batches too. The consumer then stops the threads (held_) and takes all batches in flight
// apart into results_, from which it fills batches row by row: with row 1 failed, rows 0 | error |
// 2 3 4 5 ... become the error and the batch 0 2 3 4. When results_ are used up, the batch begun
// goes back to the threads, which fill the rest of it in place (Release). Save does the same.
#include "sextant/data/parallel_batch.h"

#include <algorithm>
#include <utility>

namespace sextant::data {
namespace {

// One that waits for the consumer, one that is being finished and one that is being begun.
constexpr size_t kMaxFillings = 3;
constexpr int64_t kMaxPendingGroup = 32, kMaxRowGroup = 128;

}  // namespace

ParallelBatch::ParallelBatch(const DeferredWork& work, const IterationContext& context,
                             int64_t size, bool drop_remainder)
    : work_(work),
      size_(size),
      drop_remainder_(drop_remainder),
      row_format_(work.row_format()),
      input_(work.MakeIterator(context)),
      group_size_(std::min(row_format_ != nullptr ? kMaxRowGroup : kMaxPendingGroup, size)),
      workers_(work.parallelism(), context.cancellation,
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
  if (row_format_ != nullptr) {
    group.rows.Restart(wanted);
    group.rows.set_keeps_origins(row_format_->origins);
    try {
      input_->NextRows(group.rows);
    } catch (...) {  // crosses to the consumer's thread
      filling.rows.Reject(first + group.rows.rows(), std::current_exception());
      *failed = true;
    }
    *count = group.rows.rows();
    return !*failed && *count < wanted;
  }
  std::vector<PendingElement>& pending = group.pending;
  for (*count = 0; *count < wanted; ++*count) {
    try {
      if (pending.size() == static_cast<size_t>(*count)) pending.emplace_back();
      if (!input_->NextPending(&pending[*count])) return true;
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
    if (row_format_ != nullptr) {
      work_.FinishRows(group.rows, batch, first);
    } else {
      work_.FinishRows(std::span(group.pending).first(static_cast<size_t>(count)), batch, first);
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
      if (NextOfResults(element)) return true;
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
  std::list<Result> results;
  std::vector<Result*> in_place_of(rejected.size());
  size_t next = 0;
  for (int64_t row = 0; row < filling.read; ++row) {
    if (next < rejected.size() && rejected[next].row == row) {
      in_place_of[next++] = &results.emplace_back();
    } else {
      results.push_back({{}, filling.rows.Row(row)});
    }
  }
  // Nothing throws from here on.
  for (size_t i = 0; i < rejected.size(); ++i) {
    *in_place_of[i] = {std::move(rejected[i].failure), std::move(rejected[i].element)};
  }
  results_.splice(results_.end(), results);
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

bool ParallelBatch::NextOfResults(Element* element) {
  if (!partial_) {
    Workers::Lock lock(workers_.mutex());
    partial_ = NewFilling(std::move(*element));
  }
  RowBatch& rows = partial_->rows;
  while (!rows.full()) {
    if (results_.empty()) {
      Release();
      return false;
    }
    Result result = std::move(results_.front());
    results_.pop_front();
    ThrowIfFailed(result.failure);
    *rows.scratch() = std::move(result.element);
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
  writer.PutInt("rows", begun + static_cast<int64_t>(results_.size()));
  for (int64_t row = 0; row < begun; ++row) SaveResult(writer, {}, partial_->rows.Row(row));
  for (const Result& result : results_) SaveResult(writer, result.failure, result.element);
  writer.PutInt("ended", ended_);
  input_->Save(writer);
}

void ParallelBatch::Restore(StateReader& reader) {
  for (int64_t i = reader.GetInt("rows"); i > 0; --i) results_.push_back(RestoreResult(reader));
  ended_ = reader.GetInt("ended") != 0;
  held_ = true;
  input_->Restore(reader);
}

}  // namespace sextant::data

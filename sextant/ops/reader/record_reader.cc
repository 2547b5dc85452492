#include "sextant/ops/reader/record_reader.h"

#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/formats/wire.h"
#include "sextant/ops/queue/tensor_queue.h"

namespace sextant {

// While it lives, no other thread reads.
class RecordReader::Turn {
 public:
  Turn(RecordReader& reader, const RunWait& wait) : reader_(reader) {
    const auto registration = wait.OnCancel([&reader] {
      { std::lock_guard lock(reader.mutex_); }
      reader.free_.notify_all();
    });
    std::unique_lock lock(reader.mutex_);
    wait.Until(lock, reader.free_, [&] { return !reader.busy_ || wait.cancelled(); });
    wait.status().ThrowIfError();
    reader.busy_ = true;
  }
  ~Turn() {
    const std::lock_guard lock(reader_.mutex_);
    reader_.busy_ = false;
    reader_.free_.notify_one();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  RecordReader& reader_;
};

void RecordReader::Read(int64_t count, TensorQueue& queue, const RunWait& wait,
                        std::vector<std::string>* keys, std::vector<std::string>* values) {
  if (count <= 0) throw InvalidArgument("the number of records must be positive, not {}", count);
  const Turn turn(*this, wait);
  const size_t before = keys->size();
  while (keys->size() == before) {
    if (!unit_) StartNext(queue, wait);
    std::string key, value;
    bool more = true;
    while (static_cast<int64_t>(keys->size() - before) < count &&
           (more = unit_->Next(&key, &value))) {
      keys->push_back(std::move(key));
      values->push_back(std::move(value));
    }
    const std::lock_guard lock(mutex_);
    state_.produced += static_cast<int64_t>(keys->size() - before);
    if (!more || unit_->done()) {
      unit_.reset();
      ++state_.finished;
    }
  }
}

void RecordReader::StartNext(TensorQueue& queue, const RunWait& wait) {
  if (queue.spec().types != std::vector<DType>{DType::kString}) {
    throw InvalidArgument("Expected queue with single string component, got {} '{}'",
                          queue.spec().kind, queue.spec().name);
  }
  {
    const std::lock_guard lock(mutex_);
    state_.name.clear();
  }
  const Tensor name = std::move(queue.Dequeue(wait)[0]);
  unit_ = open_(name.scalar<std::string>());
  const std::lock_guard lock(mutex_);
  state_.name = name.scalar<std::string>();
  ++state_.started;
}

int64_t RecordReader::records_produced() const {
  const std::lock_guard lock(mutex_);
  return state_.produced;
}

int64_t RecordReader::units_completed() const {
  const std::lock_guard lock(mutex_);
  return state_.finished;
}

void RecordReader::Reset(const RunWait& wait) {
  const Turn turn(*this, wait);
  unit_.reset();
  const std::lock_guard lock(mutex_);
  state_ = State();
}

void RecordReader::CheckSaves() const {
  if (!saves_) throw Unimplemented("a {} cannot tell where it stands", kind_);
}

std::string RecordReader::SerializeState(const RunWait& wait) {
  CheckSaves();
  const Turn turn(*this, wait);
  std::string bytes;
  const auto number = [&](uint32_t field, int64_t value) {
    if (value == 0) return;
    PutVarint32(&bytes, field << 3);
    PutVarint64(&bytes, static_cast<uint64_t>(value));
  };
  number(1, state_.started);
  number(2, state_.finished);
  number(3, state_.produced);
  if (!state_.name.empty()) {
    PutVarint32(&bytes, 4 << 3 | static_cast<uint32_t>(WireType::kBytes));
    PutVarint64(&bytes, state_.name.size());
    bytes += state_.name;
  }
  return bytes;
}

void RecordReader::RestoreState(const std::string& state, const RunWait& wait) {
  CheckSaves();
  State restored;
  WireReader fields(state);
  while (fields.Next()) {
    if (fields.Is(1, WireType::kVarint)) restored.started = static_cast<int64_t>(fields.number());
    if (fields.Is(2, WireType::kVarint)) restored.finished = static_cast<int64_t>(fields.number());
    if (fields.Is(3, WireType::kVarint)) restored.produced = static_cast<int64_t>(fields.number());
    if (fields.Is(4, WireType::kBytes)) restored.name = fields.bytes();
  }
  if (!fields.ok() || restored.finished < 0 || restored.produced < 0) {
    throw InvalidArgument("could not parse the state of a {}: {} bytes", kind_, state.size());
  }
  const Turn turn(*this, wait);
  auto unit = restored.started > restored.finished ? open_(restored.name) : nullptr;
  unit_ = std::move(unit);
  const std::lock_guard lock(mutex_);
  state_ = std::move(restored);
}

}  // namespace sextant

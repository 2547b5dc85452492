#include "sextant/data/interleave.h"

#include <algorithm>
#include <iterator>

#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

constexpr int64_t kMaxPartGroup = 32;

}  // namespace

InterleaveIterator::InterleaveIterator(std::unique_ptr<NodeIterator> input, const DatasetFn& fn,
                                       const Walk& walk, const InterleaveOptions& options)
    : input_(std::move(input)),
      fn_(fn),
      walk_(walk),
      options_(options),
      parts_(static_cast<size_t>(options.cycle)),
      group_size_(kMaxPartGroup) {
  if (options.parallel != 1) {
    workers_.emplace(options.parallel, walk.cancellation,
                     [this](Workers::Lock& lock) { return Step(lock); });
  }
}

std::unique_ptr<InterleaveIterator::Part> InterleaveIterator::MakePart(Element from,
                                                                       int64_t number) const {
  auto part = std::make_unique<Part>();
  part->from = std::move(from);
  part->number = number;
  try {
    part->node = fn_(part->from).node();
    if (!part->node) throw InvalidArgument("the function returned a Dataset without a source");
    part->walk = part->node->MakeIterator(walk_.Nested(number));
  } catch (...) {  // thrown when the consumer comes to it
    const Error error =
        Error(CurrentStatus()).WithPrefix(fmt::format("Dataset of element {}: ", number));
    part->taken.push_back({std::make_exception_ptr(error), {}});
  }
  return part;
}

void InterleaveIterator::Open(size_t slot) {
  std::unique_ptr<Part> part;
  if (!input_ended_) {
    Element from;
    try {
      if (input_->Next(&from)) {
        part = MakePart(std::move(from), opened_++);
      } else {
        input_ended_ = true;
      }
    } catch (...) {  // thrown when the consumer comes to it
      part = std::make_unique<Part>();
      part->taken.push_back({std::current_exception(), {}});
    }
  }
  Assign(slot, std::move(part));
}

void InterleaveIterator::Assign(size_t slot, std::unique_ptr<Part> part) {
  if (!workers_) {
    parts_[slot] = std::move(part);
    return;
  }
  {
    Workers::Lock lock(workers_->mutex());
    parts_[slot].swap(part);
    workers_->NotifyWork();
  }
}

void InterleaveIterator::Advance() {
  used_ = 0;
  slot_ = (slot_ + 1) % parts_.size();
}

bool InterleaveIterator::Next(Element* element) {
  if (!started_) {
    started_ = true;
    for (size_t slot = 0; slot < parts_.size() && !input_ended_; ++slot) Open(slot);
  }
  while (std::ranges::any_of(parts_, [](const auto& part) { return part != nullptr; })) {
    if (!parts_[slot_]) {
      Advance();
      continue;
    }
    const Got got = Take(*parts_[slot_], element);
    if (got == Got::kElement) {
      if (++used_ == options_.block) Advance();
      return true;
    }
    if (got == Got::kEnd) {
      walk_.cancellation->ThrowIfCancelled();
      Open(slot_);
      Advance();
    } else {
      FindReady();
    }
  }
  return false;
}

InterleaveIterator::Got InterleaveIterator::Take(Part& part, Element* element) {
  if (part.taken.empty() && workers_) {
    const Got got = AwaitReady(part);
    if (got != Got::kElement) return got;
  }
  if (!part.taken.empty()) {
    Outcomes given;
    given.splice(given.end(), part.taken, part.taken.begin());
    Outcome& outcome = given.front();
    if (!part.walk && part.taken.empty() && !part.ended) {
      part.ended = true;
      Open(slot_);
    }
    ThrowIfFailed(outcome.failure);
    std::swap(*element, outcome.element);
    if (workers_) returned_.splice(returned_.end(), given);
    return Got::kElement;
  }
  if (part.ended) return Got::kEnd;
  if (part.walk->Next(element)) return Got::kElement;
  return Got::kEnd;
}

InterleaveIterator::Got InterleaveIterator::AwaitReady(Part& part) {
  Workers::Lock lock(workers_->mutex());
  const auto ready = [&] { return !part.ready.empty() || (part.ended && !part.reading); };
  if (!options_.ordered && !ready()) return Got::kNothingYet;
  workers_->Await(lock, ready);
  if (part.ready.empty()) return Got::kEnd;
  part.taken.swap(part.ready);
  spare_.splice(spare_.end(), returned_);
  workers_->NotifyWork();
  return Got::kElement;
}

void InterleaveIterator::FindReady() {
  Workers::Lock lock(workers_->mutex());
  const auto ready = [&](size_t slot) {
    const Part* part = parts_[slot].get();
    return part && (!part->taken.empty() || !part->ready.empty() || part->ended);
  };
  const auto find = [&] {
    for (size_t i = 0; i < parts_.size(); ++i) {
      const size_t slot = (slot_ + i) % parts_.size();
      if (!ready(slot)) continue;
      if (slot != slot_) used_ = 0;
      slot_ = slot;
      return true;
    }
    return false;
  };
  workers_->Await(lock, find);
}

// Reads ahead for the part that the consumer comes to first of those that have little.
bool InterleaveIterator::Step(Workers::Lock& lock) {
  Part* part = nullptr;
  const int64_t count = group_size_.get();
  for (size_t i = 0; i < parts_.size() && !part; ++i) {
    Part* const next = parts_[(slot_ + i) % parts_.size()].get();
    if (next && next->walk && !next->reading && !next->ended &&
        static_cast<int64_t>(next->ready.size()) < count) {
      part = next;
    }
  }
  if (!part) return false;
  Outcomes made;
  for (int64_t i = 0; i < count; ++i) {
    if (spare_.empty()) {
      made.emplace_back();
    } else {
      made.splice(made.end(), spare_, std::prev(spare_.end()));
    }
  }
  part->reading = true;
  lock.unlock();
  const auto start = GroupSize::Clock::now();
  auto end = made.begin();
  bool ended = false;
  for (; end != made.end(); ++end) {
    try {
      if ((ended = !part->walk->Next(&end->element))) break;
    } catch (...) {  // crosses to the consumer's thread
      end->failure = std::current_exception();
    }
  }
  const auto time = GroupSize::Clock::now() - start;
  lock.lock();
  spare_.splice(spare_.end(), made, end, made.end());
  group_size_.Learn(static_cast<int64_t>(made.size()), time);
  part->ready.splice(part->ready.end(), made);
  part->reading = false;
  part->ended = ended;
  workers_->NotifyWork();
  workers_->NotifyConsumer();
  return true;
}

void InterleaveIterator::Save(StateWriter& writer) {
  std::optional<Workers::Pause> pause;
  if (workers_) pause.emplace(*workers_);
  writer.Int("slot", static_cast<int64_t>(slot_));
  writer.Int("used", used_);
  writer.Int("opened", opened_);
  writer.Int("started", started_);
  writer.Int("input_ended", input_ended_);
  for (const auto& part : parts_) {
    writer.Int("part", part != nullptr);
    if (!part) continue;
    writer.Int("number", part->number);
    writer.Int("ended", part->ended);
    writer.Int("ready", static_cast<int64_t>(part->taken.size() + part->ready.size()));
    for (const auto* queue : {&part->taken, &part->ready}) {
      for (const Outcome& outcome : *queue) SaveOutcome(writer, outcome.failure, outcome.element);
    }
    writer.Int("walk", part->walk && !part->ended);
    if (!part->walk || part->ended) continue;
    writer.Whole("from", part->from);
    part->walk->Save(writer);
  }
  input_->Save(writer);
}

void InterleaveIterator::Restore(StateReader& reader) {
  slot_ = static_cast<size_t>(reader.Int("slot"));
  if (slot_ >= parts_.size()) throw DataLoss("the saved state has too many datasets");
  used_ = reader.Int("used");
  opened_ = reader.Int("opened");
  started_ = reader.Int("started") != 0;
  input_ended_ = reader.Int("input_ended") != 0;
  for (size_t slot = 0; slot < parts_.size(); ++slot) {
    if (reader.Int("part") == 0) continue;
    auto part = std::make_unique<Part>();
    part->number = reader.Int("number");
    part->ended = reader.Int("ended") != 0;
    Outcomes taken;
    for (int64_t i = reader.Int("ready"); i > 0; --i) taken.push_back(RestoreOutcome(reader));
    if (reader.Int("walk") != 0) {
      part = MakePart(reader.Whole("from"), part->number);
      if (!part->walk) ThrowIfFailed(part->taken.front().failure);
      part->walk->Restore(reader);
    }
    part->taken = std::move(taken);
    // Only a state that lies has neither: nothing would ever come of the part.
    if (!part->walk && part->taken.empty()) part->ended = true;
    Assign(slot, std::move(part));
  }
  input_->Restore(reader);
}

namespace {

class InterleaveNode : public UnaryNode {
 public:
  using DatasetFn = InterleaveIterator::DatasetFn;

  InterleaveNode(std::shared_ptr<const DatasetNode> input, DatasetFn fn,
                 const InterleaveOptions& options)
      : UnaryNode(std::move(input)), fn_(std::move(fn)), options_(options) {
    if (options.cycle < 1 || options.block < 1) {
      throw InvalidArgument("Interleave needs a cycle and a block of at least 1, not {} and {}",
                            options.cycle, options.block);
    }
    if (options.parallel < 1 && options.parallel != kAutotune) {
      throw InvalidArgument("Interleave cannot read {} datasets at once", options.parallel);
    }
  }

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override {
    return std::make_unique<InterleaveIterator>(input_->MakeIterator(walk), fn_, walk, options_);
  }
  std::string Describe() const override {
    return fmt::format("{}.Interleave({},{}{})", input_->Describe(), options_.cycle, options_.block,
                       options_.parallel == 1 ? ""
                       : options_.ordered     ? ",parallel"
                                              : ",any");
  }
  // Of the first dataset: the others are taken to have the same fields.
  ElementSpec Spec() const override { return DatasetNode::Spec(); }

 private:
  const DatasetFn fn_;
  const InterleaveOptions options_;
};

}  // namespace

Dataset Dataset::Interleave(InterleaveIterator::DatasetFn fn,
                            const InterleaveOptions& options) const {
  return Dataset(std::make_shared<InterleaveNode>(node_, std::move(fn), options));
}

Dataset Dataset::FlatMap(InterleaveIterator::DatasetFn fn) const {
  return Interleave(std::move(fn), {.cycle = 1, .block = 1});
}

}  // namespace sextant::data

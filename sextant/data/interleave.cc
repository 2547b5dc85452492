// Interleave: elements of several datasets in turn.
//
// parts_ is a circle of `cycle` slots, each with one open dataset. The consumer takes `block`
// elements from a slot, then moves to the next. A dataset at its end leaves its slot to the next
// element of the input, so that the order depends on the data alone:
//
//   cycle 2, block 1, datasets a1 a2 | b1 | c1 c2:    a1 b1 a2 c1 c2    (c takes the slot of b)
//
// Threads read ahead: each takes the first slot from the consumer's on that has few elements ready
// and that no thread reads (Part::reading), and appends a group of elements to Part::ready. The
// consumer takes all that are ready at once (Part::taken) and then works without the lock. With
// ordered = false it passes over slots that have nothing ready.
//
// Invariants: one thread reads a part at a time, so its elements are in order. What a part throws
// is an element of `ready`, thrown at its place. The input is read, and datasets are opened, by the
// consumer alone. Results move from list to list (spare_, made, ready, taken, returned_) with the
// buffers of their elements, so that a steady state allocates nothing.
#include "sextant/data/interleave.h"

#include <algorithm>
#include <iterator>

#include "sextant/data/cancellable_loop.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

constexpr int64_t kMaxPartGroup = 32;

}  // namespace

InterleaveIterator::InterleaveIterator(std::unique_ptr<NodeIterator> input, const DatasetFn& fn,
                                       const IterationContext& context,
                                       const InterleaveOptions& options)
    : input_(std::move(input)),
      fn_(fn),
      context_(context),
      options_(options),
      parts_(static_cast<size_t>(options.cycle)),
      group_size_(kMaxPartGroup) {
  if (options.parallel != 1) {
    workers_.emplace(options.parallel, context.cancellation,
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
    part->iterator = part->node->MakeIterator(context_.Nested(number));
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
    const CancellableLoop loop;
    for (size_t slot = 0; slot < parts_.size() && !input_ended_; ++slot) {
      loop.Turn();
      Open(slot);
    }
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
      context_.cancellation->ThrowIfCancelled();
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
    Results given;
    given.splice(given.end(), part.taken, part.taken.begin());
    Result& result = given.front();
    if (!part.iterator && part.taken.empty() && !part.ended) {
      part.ended = true;
      Open(slot_);
    }
    ThrowIfFailed(result.failure);
    std::swap(*element, result.element);
    if (workers_) returned_.splice(returned_.end(), given);
    return Got::kElement;
  }
  if (part.ended) return Got::kEnd;
  if (part.iterator->Next(element)) return Got::kElement;
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
  // Read once: the consumer moves on meanwhile, and no part may be passed over.
  const size_t first = slot_;
  for (size_t i = 0; i < parts_.size() && !part; ++i) {
    Part* const next = parts_[(first + i) % parts_.size()].get();
    if (next && next->iterator && !next->reading && !next->ended &&
        static_cast<int64_t>(next->ready.size()) < count) {
      part = next;
    }
  }
  if (!part) return false;
  Results made;
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
      if ((ended = !part->iterator->Next(&end->element))) break;
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
  writer.PutInt("slot", static_cast<int64_t>(slot_));
  writer.PutInt("used", used_);
  writer.PutInt("opened", opened_);
  writer.PutInt("started", started_);
  writer.PutInt("input_ended", input_ended_);
  for (const auto& part : parts_) {
    writer.PutInt("part", part != nullptr);
    if (!part) continue;
    writer.PutInt("number", part->number);
    writer.PutInt("ended", part->ended);
    writer.PutInt("ready", static_cast<int64_t>(part->taken.size() + part->ready.size()));
    for (const auto* queue : {&part->taken, &part->ready}) {
      for (const Result& result : *queue) SaveResult(writer, result.failure, result.element);
    }
    writer.PutInt("walk", part->iterator && !part->ended);
    if (!part->iterator || part->ended) continue;
    writer.PutElement("from", part->from);
    part->iterator->Save(writer);
  }
  input_->Save(writer);
}

void InterleaveIterator::Restore(StateReader& reader) {
  slot_ = static_cast<size_t>(reader.GetInt("slot"));
  if (slot_ >= parts_.size()) throw DataLoss("the saved state has too many datasets");
  used_ = reader.GetInt("used");
  opened_ = reader.GetInt("opened");
  started_ = reader.GetInt("started") != 0;
  input_ended_ = reader.GetInt("input_ended") != 0;
  for (size_t slot = 0; slot < parts_.size(); ++slot) {
    if (reader.GetInt("part") == 0) continue;
    auto part = std::make_unique<Part>();
    part->number = reader.GetInt("number");
    part->ended = reader.GetInt("ended") != 0;
    Results taken;
    for (int64_t i = reader.GetInt("ready"); i > 0; --i) taken.push_back(RestoreResult(reader));
    if (reader.GetInt("walk") != 0) {
      part = MakePart(reader.GetElement("from"), part->number);
      if (!part->iterator) ThrowIfFailed(part->taken.front().failure);
      part->iterator->Restore(reader);
    }
    part->taken = std::move(taken);
    // Only a state that lies has neither: nothing would ever come of the part.
    if (!part->iterator && part->taken.empty()) part->ended = true;
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

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override {
    return std::make_unique<InterleaveIterator>(input_->MakeIterator(context), fn_,
                                                context.Inside(), options_);
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

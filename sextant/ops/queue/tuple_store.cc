#include "sextant/ops/queue/tuple_store.h"

#include <deque>
#include <map>

#include "sextant/base/philox.h"

namespace sextant {
namespace {

class FifoStore : public TupleStore {
 public:
  void Push(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Pop() override {
    Tuple tuple = std::move(tuples_.front());
    tuples_.pop_front();
    return tuple;
  }
  void PutBack(std::vector<Tuple> tuples) override {
    for (auto it = tuples.rbegin(); it != tuples.rend(); ++it) tuples_.push_front(std::move(*it));
  }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }

 private:
  std::deque<Tuple> tuples_;
};

class ShuffleStore : public TupleStore {
 public:
  ShuffleStore(int64_t seed, int64_t seed2) : philox_(Philox::ForSeeds(seed, seed2)) {}

  void Push(Tuple tuple) override { tuples_.push_back(std::move(tuple)); }
  Tuple Pop() override {
    const size_t index = NextWord() % tuples_.size();
    std::swap(tuples_[index], tuples_.back());
    Tuple tuple = std::move(tuples_.back());
    tuples_.pop_back();
    return tuple;
  }
  void PutBack(std::vector<Tuple> tuples) override {
    for (Tuple& tuple : tuples) Push(std::move(tuple));
  }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }

 private:
  uint32_t NextWord() {
    if (used_ == block_.size()) {
      block_ = philox_.Next();
      used_ = 0;
    }
    return block_[used_++];
  }

  Philox philox_;
  Philox::Block block_{};
  size_t used_ = block_.size();
  std::vector<Tuple> tuples_;
};

class PriorityStore : public TupleStore {
 public:
  void Push(Tuple tuple) override {
    const int64_t priority = tuple[0].scalar<int64_t>();
    tuples_.emplace(priority, std::move(tuple));
  }
  Tuple Pop() override {
    Tuple tuple = std::move(tuples_.begin()->second);
    tuples_.erase(tuples_.begin());
    return tuple;
  }
  void PutBack(std::vector<Tuple> tuples) override {
    for (auto it = tuples.rbegin(); it != tuples.rend(); ++it) {
      const int64_t priority = (*it)[0].scalar<int64_t>();
      tuples_.emplace_hint(tuples_.lower_bound(priority), priority, std::move(*it));
    }
  }
  int64_t size() const override { return static_cast<int64_t>(tuples_.size()); }

 private:
  std::multimap<int64_t, Tuple> tuples_;
};

}  // namespace

std::unique_ptr<TupleStore> MakeFifoStore() { return std::make_unique<FifoStore>(); }
std::unique_ptr<TupleStore> MakeShuffleStore(int64_t seed, int64_t seed2) {
  return std::make_unique<ShuffleStore>(seed, seed2);
}
std::unique_ptr<TupleStore> MakePriorityStore() { return std::make_unique<PriorityStore>(); }

}  // namespace sextant

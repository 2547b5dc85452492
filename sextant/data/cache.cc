#include "sextant/base/cancellation.h"
#include "sextant/data/cache_store.h"
#include "sextant/data/dataset.h"
#include "sextant/data/state.h"
#include "sextant/data/unary_node.h"

namespace sextant::data {
namespace {

class CacheNode : public UnaryNode {
 public:
  CacheNode(std::shared_ptr<const DatasetNode> input, std::string path)
      : UnaryNode(std::move(input)),
        path_(std::move(path)),
        store_(path_.empty() ? NewMemoryCache() : NewFileCache(path_, input_->Describe())) {}

  std::unique_ptr<NodeIterator> MakeIterator(const Walk& walk) const override;
  std::string Describe() const override {
    return fmt::format("{}.Cache({})", input_->Describe(), path_);
  }
  std::unique_ptr<NodeIterator> Input(Walk walk, const CacheOrigin& origin) const {
    walk.iteration = origin.iteration;
    walk.entropy = origin.entropy;
    return input_->MakeIterator(walk);
  }
  CacheStore& store() const { return *store_; }

 private:
  const std::string path_;
  const std::unique_ptr<CacheStore> store_;
};

// Reads the store, or fills it with what the input gives. A state is the number of elements given
// and the walk that they are of: restoring walks the input again where the store does not have it.
class CacheIterator : public NodeIterator {
 public:
  CacheIterator(const CacheNode& node, const Walk& walk) : node_(node), walk_(walk) {}

  bool Next(Element* element) override {
    if (ended_) return false;
    if (!reader_ && !filler_) Begin();
    if (reader_) {
      ended_ = !reader_->Next(element);
    } else if (++calls_; input_->Next(element)) {
      filler_->Add(*element);
    } else {
      filler_->Commit();
      ended_ = true;
    }
    given_ += !ended_;
    return !ended_;
  }
  void Save(StateWriter& writer) override {
    writer.Int("cache", reader_ != nullptr || filler_ != nullptr);
    writer.Int("filling", filler_ != nullptr);
    writer.Int("ended", ended_);
    writer.Int("given", given_);
    writer.Int("calls", calls_);
    writer.Int("iteration", origin_.iteration);
    writer.Int("entropy", static_cast<int64_t>(origin_.entropy));
  }
  void Restore(StateReader& reader) override {
    const bool begun = reader.Int("cache") != 0;
    const bool filling = reader.Int("filling") != 0;
    ended_ = reader.Int("ended") != 0;
    given_ = reader.Int("given");
    const int64_t calls = reader.Int("calls");
    origin_.iteration = reader.Int("iteration");
    origin_.entropy = static_cast<uint64_t>(reader.Int("entropy"));
    if (begun && !FindInStore()) Refill(filling && !ended_ ? calls : INT64_MAX);
  }

 private:
  void Begin() {
    reader_ = node_.store().Read();
    origin_ = reader_ ? reader_->origin() : CacheOrigin{walk_.iteration, walk_.entropy};
    if (!reader_) BeginFilling();
  }
  void BeginFilling() {
    input_ = node_.Input(walk_, origin_);
    filler_ = node_.store().Fill(origin_);
  }

  // Whether the store has the elements of the saved walk; goes to the one behind those given.
  bool FindInStore() {
    reader_ = node_.store().Read();
    if (reader_ && reader_->origin() != origin_) reader_.reset();
    Element element;
    for (int64_t i = 0; reader_ && i < given_; ++i) {
      if (!reader_->Next(&element)) throw DataLoss("Cache holds fewer elements than were read");
    }
    return reader_ != nullptr;
  }
  // Fills the store by so many calls of the input, or all; those that failed were thrown before.
  void Refill(int64_t calls) {
    BeginFilling();
    Element element;
    for (; calls_ < calls; ++calls_) {
      walk_.cancellation->ThrowIfCancelled();
      try {
        if (!input_->Next(&element)) break;
        filler_->Add(element);
      } catch (const Error&) {
        continue;
      }
    }
    if (calls != INT64_MAX) return;
    filler_->Commit();
    filler_.reset();
    if (!FindInStore()) throw DataLoss("Cache could not be made again");
  }

  const CacheNode& node_;
  const Walk walk_;
  CacheOrigin origin_;
  std::unique_ptr<NodeIterator> input_;
  std::unique_ptr<CacheFiller> filler_;
  std::unique_ptr<CacheReader> reader_;
  int64_t given_ = 0;
  int64_t calls_ = 0;  // of the input
  bool ended_ = false;
};

std::unique_ptr<NodeIterator> CacheNode::MakeIterator(const Walk& walk) const {
  return std::make_unique<CacheIterator>(*this, walk);
}

}  // namespace

Dataset Dataset::Cache(const std::string& path) const {
  return Dataset(std::make_shared<CacheNode>(node_, path));
}

}  // namespace sextant::data

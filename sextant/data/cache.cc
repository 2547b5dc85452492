// Cache: the elements of the first complete iteration, kept for all later ones.
//
// The first iterator fills the store; those that begin before it came to its end read their input
// themselves and fill stores of their own, of which the last to be complete stays. Later iterators
// read the store.
//
// A saved state does not hold the cached elements: it holds how many were given and which iteration
// over the input they are of (CacheOrigin: epoch and entropy). Restored, the iterator looks for
// that iteration in the store; where it is not there (memory of another process) it repeats it, by
// as many calls of the input as were made, failed ones included, because they count in positions of
// the input too. So the input's order must not depend on timing.
#include "sextant/base/cancellation.h"
#include "sextant/data/cache_store.h"
#include "sextant/data/cancellable_loop.h"
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

  std::unique_ptr<NodeIterator> MakeIterator(const IterationContext& context) const override;
  std::string Describe() const override {
    return fmt::format("{}.Cache({})", input_->Describe(), path_);
  }
  std::unique_ptr<NodeIterator> Input(IterationContext context, const CacheOrigin& origin) const {
    context.iteration = origin.iteration;
    context.entropy = origin.entropy;
    return input_->MakeIterator(context.Whole("Cache keeps elements from one epoch to the next"));
  }
  CacheStore& store() const { return *store_; }

 private:
  const std::string path_;
  const std::unique_ptr<CacheStore> store_;
};

// Reads the store, or fills it with what the input gives. A state is the number of elements given
// and the iteration that they are of: restoring iterates over the input again where the store does
// not have it.
class CacheIterator : public NodeIterator {
 public:
  CacheIterator(const CacheNode& node, const IterationContext& context)
      : node_(node), context_(context) {}

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
    writer.PutInt("cache", reader_ != nullptr || filler_ != nullptr);
    writer.PutInt("filling", filler_ != nullptr);
    writer.PutInt("ended", ended_);
    writer.PutInt("given", given_);
    writer.PutInt("calls", calls_);
    writer.PutInt("iteration", origin_.iteration);
    writer.PutInt("entropy", static_cast<int64_t>(origin_.entropy));
  }
  void Restore(StateReader& reader) override {
    const bool begun = reader.GetInt("cache") != 0;
    const bool filling = reader.GetInt("filling") != 0;
    ended_ = reader.GetInt("ended") != 0;
    given_ = reader.GetInt("given");
    const int64_t calls = reader.GetInt("calls");
    origin_.iteration = reader.GetInt("iteration");
    origin_.entropy = static_cast<uint64_t>(reader.GetInt("entropy"));
    if (begun && !FindInStore()) Refill(filling && !ended_ ? calls : INT64_MAX);
  }

 private:
  void Begin() {
    reader_ = node_.store().Read();
    origin_ = reader_ ? reader_->origin() : CacheOrigin{context_.iteration, context_.entropy};
    if (!reader_) BeginFilling();
  }
  void BeginFilling() {
    input_ = node_.Input(context_, origin_);
    filler_ = node_.store().Fill(origin_);
  }

  // Whether the store has the elements of the saved iteration; goes to the one behind those given.
  bool FindInStore() {
    reader_ = node_.store().Read();
    if (reader_ && reader_->origin() != origin_) reader_.reset();
    Element element;
    const CancellableLoop loop;
    for (int64_t i = 0; reader_ && i < given_; ++i) {
      loop.Turn();
      if (!reader_->Next(&element)) throw DataLoss("Cache holds fewer elements than were read");
    }
    return reader_ != nullptr;
  }
  // Fills the store by n calls of the input, or all; those that failed were thrown before.
  void Refill(int64_t calls) {
    BeginFilling();
    Element element;
    for (; calls_ < calls; ++calls_) {
      context_.cancellation->ThrowIfCancelled();
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
  const IterationContext context_;
  CacheOrigin origin_;
  std::unique_ptr<NodeIterator> input_;
  std::unique_ptr<CacheFiller> filler_;
  std::unique_ptr<CacheReader> reader_;
  int64_t given_ = 0;
  int64_t calls_ = 0;  // of the input
  bool ended_ = false;
};

std::unique_ptr<NodeIterator> CacheNode::MakeIterator(const IterationContext& context) const {
  return std::make_unique<CacheIterator>(*this, context);
}

}  // namespace

Dataset Dataset::Cache(const std::string& path) const {
  return Dataset(std::make_shared<CacheNode>(node_, path));
}

}  // namespace sextant::data

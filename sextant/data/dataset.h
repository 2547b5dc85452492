// Dataset: a description of a pipeline of elements. Copies are cheap and share the description;
// nothing is read before an iterator is made. Immutable and thread-safe.
//
//   auto train = data::TFRecordFiles({"train.tfrecords"})
//                    .Shuffle(10000, {.seed = 1})
//                    .ParseExamples({{"image", DType::kString, {}}, {"label", DType::kInt64, {}}})
//                    .Map(Decode, {.parallel = data::kAutotune})
//                    .Repeat()
//                    .Batch(128)
//                    .Prefetch();
//   auto it = train.MakeIterator();
//   for (data::Element batch; it->Next(&batch);) ...
//
// Determinism: with the seeds given, the elements and their order depend on nothing else: not on
// the number of threads, not on timing, unless MapOptions or InterleaveOptions ask for `ordered =
// false`.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/base/philox.h"
#include "sextant/data/element.h"
#include "sextant/data/example_spec.h"
#include "sextant/data/iterator.h"

#pragma GCC visibility push(default)

namespace sextant::data {

class DatasetNode;
class RowBatch;

// A number of parallel calls, or of buffered elements, that the pipeline tunes while it runs: it
// starts with one thread, or two elements, and grows by one whenever the consumer has to wait, up
// to the number of cores (threads; while a core is idle) or 16 (elements).
inline constexpr int kAutotune = -1;

// What a map function may use beside its element. "random" is a stream of its own for every
// element, by the map's seed, the epoch (Repeat) and the element's index in it: the same in any
// order of execution.
struct SEXTANT_API MapContext {
  Philox& random;  // the element's own stream
  int64_t index;   // of the element in its iteration

  // A tensor, not initialised, to be written and returned as field `name` of the result, in this
  // call. Where the results go to a Batch it is the row of the batch, so that nothing is allocated
  // or copied; a function that also keeps what it returns makes tensors of its own.
  Tensor NewField(std::string_view name, DType dtype, const Shape& shape);

  // For NewField: a former result, whose buffers are reused, and the row of the batch.
  Element* recycled = nullptr;
  RowBatch* batch = nullptr;
  int64_t row = 0;
};
// A function may take its element by value or by const reference; the buffers of an element taken
// by reference are reused.
using MapFn = std::function<Element(Element&&)>;
using RandomMapFn = std::function<Element(Element&&, MapContext&)>;

struct SEXTANT_API MapOptions {
  // Concurrent calls, or kAutotune. Unless it is 1, the function must be thread-safe, and a Batch
  // behind the Map (also with a Shuffle or Repeat between) has its rows filled in by the threads.
  int parallel = 1;
  bool ordered = true;  // false: elements come in the order in which they are finished
  int64_t seed = 0;     // of MapContext::random
  // The fields of what the function returns; those of the first element when needed and not given.
  std::optional<ElementSpec> spec;
};
struct SEXTANT_API ShuffleOptions {
  std::optional<int64_t> seed;  // none: another order for every iterator
  bool reshuffle = true;        // another order in every iteration (Repeat after Shuffle)
};
struct SEXTANT_API BatchOptions {
  bool drop_remainder = false;
};
struct SEXTANT_API PaddedBatchOptions {
  bool drop_remainder = false;
  // By field; a dimension of -1 is padded to the longest of the batch. Fields not named: all -1.
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes;
  // By field: a scalar of the field's type. Default 0 or "".
  std::vector<std::pair<std::string, Tensor>> values;
};
struct SEXTANT_API InterleaveOptions {
  int cycle = 4;     // datasets that are open at the same time
  int block = 1;     // consecutive elements of one dataset
  int parallel = 1;  // threads that read ahead, or kAutotune
  bool ordered = true;
};
struct SEXTANT_API IgnoreErrorsOptions {
  int64_t budget = -1;  // errors that are skipped; the next one is thrown. -1: all are skipped
  std::shared_ptr<std::atomic<int64_t>> counted;  // if given: incremented for each
};

class SEXTANT_API Dataset {
 public:
  Dataset() = default;
  explicit Dataset(std::shared_ptr<const DatasetNode> node) : node_(std::move(node)) {}

  Dataset Map(MapFn fn, const MapOptions& options = {}) const;        // fn of each element
  Dataset Map(RandomMapFn fn, const MapOptions& options = {}) const;  // with random numbers
  Dataset Filter(std::function<bool(const Element&)> keep) const;     // those that "keep" accepts
  Dataset FlatMap(std::function<Dataset(const Element&)> fn) const;   // one after another
  Dataset Interleave(std::function<Dataset(const Element&)> fn,
                     const InterleaveOptions& options = {}) const;            // several in turn
  Dataset Shuffle(int64_t buffer, const ShuffleOptions& options = {}) const;  // drawn from a buffer
  Dataset Repeat(int64_t count = -1) const;                                   // -1: endlessly
  // An element that fails, or whose types or shapes differ from the first, is thrown and skipped.
  Dataset Batch(int64_t size, const BatchOptions& options = {}) const;
  Dataset PaddedBatch(int64_t size, const PaddedBatchOptions& options = {}) const;
  // Batches of elements of like length: boundaries b0 < b1 … make buckets [0,b0), [b0,b1) …,
  // [bn,∞); sizes has one batch size per bucket. Elements are padded as in PaddedBatch.
  Dataset BucketByLength(std::function<int64_t(const Element&)> length,
                         std::vector<int64_t> boundaries, std::vector<int64_t> sizes,
                         const PaddedBatchOptions& options = {}) const;
  Dataset Unbatch() const;
  // Each window is a batch of `size` elements, every `stride`-th, beginning `shift` (-1: size)
  // elements after the window before; the last ones are shorter.
  Dataset Window(int64_t size, int64_t shift = -1, int64_t stride = 1,
                 bool drop_remainder = false) const;
  Dataset Prefetch(int buffer = kAutotune) const;
  // Keeps the elements of the first iteration that came to its end, in memory (of the Dataset: all
  // its iterators share them) or in a file that later processes read too. A restored iterator finds
  // those of memory by iterating over the input again: its order must not depend on timing.
  Dataset Cache(const std::string& path = "") const;
  Dataset Take(int64_t count) const;
  Dataset Skip(int64_t count) const;
  // Elements i with i % shards == index.
  Dataset Shard(int64_t shards, int64_t index) const;
  Dataset Concatenate(const Dataset& other) const;
  // Adds a field with 0, 1, …
  Dataset Enumerate(const std::string& field = "index", int64_t start = 0) const;
  Dataset IgnoreErrors(const IgnoreErrorsOptions& options = {}) const;

  // Parses field "record" (serialized tf.train.Examples, one or a batch) into the features named.
  // Before a Batch, whole batches are parsed straight into its buffers.
  Dataset ParseExamples(const ExampleSpec& spec) const;

  std::unique_ptr<Iterator> MakeIterator() const;  // a new iteration, from the start
  // Of the structure: transformations and their parameters, not the functions' code.
  std::string Fingerprint() const;
  // The fields, their types and what is known of their shapes. May make an element to find out.
  ElementSpec Spec() const;

  // Whether threads make its elements ahead of the consumer: another Prefetch gains nothing.
  bool prefetches() const;
  bool valid() const { return node_ != nullptr; }
  const std::shared_ptr<const DatasetNode>& node() const { return node_; }

 private:
  std::shared_ptr<const DatasetNode> node_;
};

// Elements of several datasets side by side; their field names must differ. Ends with the shortest.
Dataset Zip(const std::vector<Dataset>& datasets);

}  // namespace sextant::data

#pragma GCC visibility pop

#include "sextant/data/iterator.h"

#include <random>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/state.h"

namespace sextant::data {
namespace {

constexpr std::string_view kMagic = "SXDATA1\n";

// What users' functions and the library throw, too.
template <typename F>
auto AsErrors(F f) {
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (...) {
    throw Error(CurrentStatus());
  }
}

uint64_t SystemEntropy() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

Iterator::Iterator(std::shared_ptr<const DatasetNode> node)
    : node_(std::move(node)),
      cancellation_(std::make_shared<CancellationToken>()),
      entropy_(SystemEntropy()) {}

Iterator::~Iterator() {
  cancellation_->Cancel();  // so that no thread of an input waits while those behind it are joined
}

NodeIterator& Iterator::Root() {
  if (!root_) root_ = node_->MakeIterator({0, entropy_, cancellation_});
  return *root_;
}

bool Iterator::Next(Element* element) {
  cancellation_->ThrowIfCancelled();
  const CancellationScope scope(cancellation_.get());
  return AsErrors([&] { return Root().Next(element); });
}

std::string Iterator::SaveState() {
  cancellation_->ThrowIfCancelled();
  const CancellationScope scope(cancellation_.get());
  StateWriter writer;
  writer.PutBytes("pipeline", node_->Describe());
  writer.PutInt("entropy", static_cast<int64_t>(entropy_));
  AsErrors([&] { Root().Save(writer); });
  std::string bytes(kMagic);
  PutFixed32(&bytes, MaskedCrc32c(writer.bytes()));
  return bytes += writer.bytes();
}

void Iterator::RestoreState(std::string_view bytes) {
  if (root_) throw FailedPrecondition("RestoreState was called after Next; make a new iterator");
  uint32_t crc;
  const CancellationScope scope(cancellation_.get());
  if (!bytes.starts_with(kMagic)) throw DataLoss("this is not the saved state of a dataset");
  bytes.remove_prefix(kMagic.size());
  if (!GetFixed32(&bytes, &crc) || crc != MaskedCrc32c(bytes)) {
    throw DataLoss("the saved state of the dataset does not match its checksum");
  }
  StateReader reader(bytes);
  const std::string saved = reader.GetBytes("pipeline"), here = node_->Describe();
  if (saved != here) {
    throw FailedPrecondition("the state was saved by the dataset {}, this one is {}", saved, here);
  }
  entropy_ = static_cast<uint64_t>(reader.GetInt("entropy"));
  AsErrors([&] { Root().Restore(reader); });
  if (!reader.AtEnd()) throw DataLoss("the saved state of the dataset is too long");
}

void Iterator::Cancel() { cancellation_->Cancel(); }

}  // namespace sextant::data

#include "sextant/data/dataset.h"

#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"

namespace sextant::data {
namespace {

const DatasetNode& Checked(const std::shared_ptr<const DatasetNode>& node) {
  if (!node) throw FailedPrecondition("a Dataset without a source cannot be used");
  return *node;
}

}  // namespace

std::unique_ptr<Iterator> Dataset::MakeIterator() const {
  Checked(node_);
  return std::make_unique<Iterator>(node_);
}

std::string Dataset::Fingerprint() const { return Checked(node_).Describe(); }

bool Dataset::prefetches() const { return Checked(node_).prefetches(); }

ElementSpec Dataset::Spec() const { return Checked(node_).Spec(); }

}  // namespace sextant::data

// DatasetResource: a data::Dataset as the resource of a handle. The node of an iterator holds it in
// attribute kAttr, so it lives as long as a graph or a Plan that has the node; every session makes
// iterators of its own. A GraphDef has only the handle's name.
#pragma once

#include <string>
#include <utility>

#include "sextant/data/dataset.h"
#include "sextant/tensor/handle.h"

namespace sextant {

class DatasetResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "ElementSource";
  static constexpr const char* kAttr = "_source";

  explicit DatasetResource(data::Dataset dataset) : dataset_(std::move(dataset)) {}

  const data::Dataset& dataset() const { return dataset_; }
  std::string DebugString() const override { return "dataset " + dataset_.Fingerprint(); }

 private:
  const data::Dataset dataset_;
};

}  // namespace sextant

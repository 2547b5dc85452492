// ElementSource: what an iterator in a graph draws its elements from. Implemented by module data
// (data/graph_iterator.h), which ops may not see.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "sextant/base/cancellation.h"
#include "sextant/tensor/handle.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// One walk. Used by one thread at a time.
class ElementStream {
 public:
  virtual ~ElementStream() = default;
  // The components of the next element, or false at the end. Throws what making it throws. When the
  // token is cancelled the walk is over: this call and all later ones throw.
  virtual bool Next(std::span<Tensor> components, CancellationToken& cancellation) = 0;
  // Where the walk stands, and back. REQUIRES for Restore: called before Next.
  virtual std::string Save() = 0;
  virtual void Restore(std::string_view state) = 0;
};

// Makes walks. Immutable and thread-safe. The node of an iterator holds it, as the resource of a
// handle in its attribute kAttr, so it lives as long as a graph or a Plan that has the node; every
// session opens walks of its own. A GraphDef has only the handle's name.
class ElementSource : public Resource {
 public:
  static constexpr const char* kTypeName = "ElementSource";
  static constexpr const char* kAttr = "_source";
  virtual std::unique_ptr<ElementStream> Open() const = 0;
};

}  // namespace sextant

#include "sextant/data/scratch_element.h"

#include <new>
#include <vector>

namespace sextant::data {
namespace {

// The one given back last is taken first: each depth of nesting finds its own again.
thread_local std::vector<Element> spare;

}  // namespace

ScratchElement::ScratchElement() {
  if (spare.empty()) return;
  element_ = std::move(spare.back());
  spare.pop_back();
}

ScratchElement::~ScratchElement() {
  try {
    spare.push_back(std::move(element_));
  } catch (const std::bad_alloc&) {  // its buffers are not used again
  }
}

}  // namespace sextant::data

#include "sextant/data/scratch_element.h"

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

ScratchElement::~ScratchElement() { spare.push_back(std::move(element_)); }

}  // namespace sextant::data

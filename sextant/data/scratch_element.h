// ScratchElement: a temporary element whose buffers the thread reuses for later ones. They may
// nest.
#pragma once

#include "sextant/data/element.h"

namespace sextant::data {

class ScratchElement {
 public:
  // Has the fields of an earlier one, with their last values.
  ScratchElement();
  ~ScratchElement();
  ScratchElement(const ScratchElement&) = delete;
  ScratchElement& operator=(const ScratchElement&) = delete;

  Element* get() { return &element_; }
  Element& operator*() { return element_; }
  Element* operator->() { return &element_; }

 private:
  Element element_;
};

}  // namespace sextant::data

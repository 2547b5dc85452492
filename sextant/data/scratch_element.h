// ScratchElement: an element for as long as a call lasts, whose buffers the thread's later calls
// use again. Calls may nest.
#pragma once

#include "sextant/data/element.h"

namespace sextant::data {

class ScratchElement {
 public:
  // With the fields of an earlier one, as that was left.
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

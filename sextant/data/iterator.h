// Iterator: one walk over a Dataset. Its position can be saved at any element and restored in
// another process, where exactly the elements follow that would have followed.
//
// An iterator is used by one thread at a time; it may have threads of its own. Cancel may be called
// from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sextant/data/element.h"

namespace sextant::data {

class StateReader;
class StateWriter;

class Iterator {
 public:
  virtual ~Iterator() = default;

  // Puts the next element into *element, or returns false at the end, then and ever after. Throws
  // what the functions and files of the pipeline throw: DATA_LOSS and the like name the file and the
  // offset or line. A failed element is passed over: the next call goes on behind it (which is what
  // IgnoreErrors does), unless the source itself is at an end with it.
  virtual bool Next(Element* element) = 0;

  // Writes where the walk stands. Elements already made ahead of the consumer (Prefetch,
  // ParallelMap) are part of it. REQUIRES: not inside Next.
  virtual void Save(StateWriter& writer) = 0;
  // Continues a walk saved by an iterator of an equal pipeline. REQUIRES: called before Next.
  // Throws DATA_LOSS or FAILED_PRECONDITION when the state does not fit.
  virtual void Restore(StateReader& reader) = 0;

  // Makes a Next that waits, and every later one, throw CANCELLED. Reaches the inputs and the
  // threads of the iterator.
  virtual void Cancel() = 0;
};

// The whole state as bytes with a checksum, and back. The bytes begin with a fingerprint of the
// pipeline's structure: RestoreState throws FAILED_PRECONDITION when it was saved by another one.
std::string SaveState(Iterator& iterator, std::string_view fingerprint);
void RestoreState(Iterator& iterator, std::string_view fingerprint, std::string_view bytes);

}  // namespace sextant::data

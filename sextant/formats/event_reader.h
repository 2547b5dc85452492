// EventReader: the events of an event file, one after another, also while it is being written.
#pragma once

#include <string>
#include <string_view>

#include "sextant/formats/tfrecord.h"

namespace sextant::proto {
class Event;
}

namespace sextant {

// TensorBoard's rule: "tfevents" is anywhere in the name.
bool IsEventFileName(std::string_view path);

// Used by one thread at a time.
class EventReader {
 public:
  explicit EventReader(const std::string& path) : records_(path) {}

  // Puts the next event into *event, or returns false at the end. Throws DATA_LOSS with the path
  // and the offset when the file is damaged, as TFRecordReader does, or a record is not an Event.
  bool Next(proto::Event* event);

  // The file may still grow: an incomplete record at the end is not yet there, and Next looks again
  // when called again.
  void Follow() { records_.Follow(); }

  // Where the next event begins, and going there.
  uint64_t offset() const { return records_.offset(); }
  void Seek(uint64_t offset) { records_.Seek(offset); }
  const std::string& path() const { return records_.path(); }
  // Whether the file ends inside the header of a record, which is no error: a writer was killed.
  bool ended_in_header() const { return records_.ended_in_header(); }

 private:
  TFRecordReader records_;
};

}  // namespace sextant

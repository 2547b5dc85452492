#include "sextant/formats/event_reader.h"

#include <limits>

#include "sextant/base/error.h"
#include "sextant/proto/event.pb.h"

namespace sextant {

bool IsEventFileName(std::string_view path) {
  return BaseName(path).find("tfevents") != std::string_view::npos;
}

bool EventReader::Next(proto::Event* event) {
  const uint64_t offset = records_.offset();
  std::string_view record;
  if (!records_.NextView(&record)) return false;
  if (record.size() > std::numeric_limits<int>::max() ||
      !event->ParseFromArray(record.data(), static_cast<int>(record.size()))) {
    throw DataLoss("{}: the record at {} holds {} bytes that are not an Event", path(), offset,
                   record.size());
  }
  return true;
}

}  // namespace sextant

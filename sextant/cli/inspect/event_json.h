// An event as JSON, in the form of the recorded index files.
#pragma once

namespace sextant::proto {
class Event;
}

namespace sextant {
class JsonWriter;
}

namespace sextant::cli {

void WriteEvent(const proto::Event& event, JsonWriter& json);

}  // namespace sextant::cli

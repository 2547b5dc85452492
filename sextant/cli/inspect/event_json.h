// An event as JSON, in the form of the recorded index files.
#pragma once

namespace tensorflow {
class Event;
}

namespace sextant::cli {

class JsonWriter;

void WriteEvent(const tensorflow::Event& event, JsonWriter& json);

}  // namespace sextant::cli

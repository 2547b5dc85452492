// EventWriter: an event file, as TensorBoard reads them: records, each an Event.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant::proto {
class Event;
class Summary;
}  // namespace sextant::proto

namespace sextant {

class FlushAtTerminate;
class TFRecordWriter;

struct SEXTANT_API EventWriterOptions {
  // Readers see an event after at most n others or n seconds, whichever comes first
  // when the next one is written, or when the clock was set back, or after Flush.
  int max_queue = 10;
  double flush_seconds = 120;
  std::string filename_suffix;
  // Seconds since the epoch; the clock of the machine when not given.
  std::function<double()> now;
};

// Thread-safe. Throws what the file system throws.
class SEXTANT_API EventWriter {
 public:
  // Creates the directory if need be and in it a new file,
  // events.out.tfevents.<seconds>.<host><suffix>, whose first event names the version and is
  // flushed at once. The seconds are since the epoch, or more than those of every file there, so
  // that readers, who go by names, take it for the newest.
  explicit EventWriter(const std::string& log_dir, EventWriterOptions options = {});
  // Closes, and ignores errors: call Close.
  ~EventWriter();
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;

  // Values whose tag this writer has written before are written without their metadata.
  void AddSummary(const proto::Summary& summary, int64_t step);
  // The output of a summary op. Throws INVALID_ARGUMENT when the bytes are not a Summary.
  void AddSerializedSummary(std::string_view summary, int64_t step);
  void AddScalar(const std::string& tag, float value, int64_t step);

  // A serialized GraphDef; TensorBoard shows shapes when nodes have _output_shapes.
  void AddGraph(std::string graph_def, int64_t step = 0);
  void AddMetaGraph(std::string meta_graph_def, int64_t step = 0);
  // A serialized RunMetadata. Throws INVALID_ARGUMENT when the tag was used before.
  void AddRunMetadata(const std::string& tag, std::string run_metadata, int64_t step);

  // A run begins at a step: TensorBoard then drops what an earlier run wrote from there on.
  void AddSessionStart(int64_t step);
  void AddSessionStop(int64_t step);
  // The path without the number of the step.
  void AddSessionCheckpoint(const std::string& checkpoint_path, int64_t step);

  // Any event; without a wall time it gets the present one.
  void AddEvent(proto::Event event);

  // What was added is in the file when it returns.
  void Flush();
  // Further events are refused with FAILED_PRECONDITION until Reopen.
  void Close();
  // After Close, goes on in a new file; otherwise does nothing.
  void Reopen();

  // The file written to, or written last.
  std::string path() const;

 private:
  void Open();
  void Write(proto::Event& event);
  void FlushLocked();

  const std::string log_dir_;
  const EventWriterOptions options_;

  mutable std::mutex mutex_;
  std::unique_ptr<TFRecordWriter> file_;  // null when closed
  std::string path_;
  double last_flush_ = 0;
  int unflushed_ = 0;
  std::set<std::string> tags_;
  std::set<std::string> run_metadata_tags_;
  const std::unique_ptr<FlushAtTerminate> at_terminate_;  // last: it uses the others
};

}  // namespace sextant

#pragma GCC visibility pop

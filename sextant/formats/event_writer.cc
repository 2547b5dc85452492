#include "sextant/formats/event_writer.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/flush_at_terminate.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/event.pb.h"

namespace sextant {
namespace {

using proto::Event;
using proto::SessionLog;

constexpr char kFileVersion[] = "brain.Event:2";

double SystemSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::string HostName() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  return name;
}

EventWriterOptions WithClock(EventWriterOptions options) {
  if (!options.now) options.now = SystemSeconds;
  return options;
}

constexpr std::string_view kPrefix = "events.out.tfevents.";

// Of the names of event files in the directory; -1 when there is none.
int64_t LargestSeconds(const std::string& log_dir) {
  int64_t largest = -1;
  for (const std::string& name : FileSystem::ForPath(log_dir).ListDirectory(log_dir)) {
    int64_t seconds;
    if (!name.starts_with(kPrefix)) continue;
    const char* const begin = name.data() + kPrefix.size();
    const auto [end, error] = std::from_chars(begin, name.data() + name.size(), seconds);
    if (error == std::errc() && *end == '.') largest = std::max(largest, seconds);
  }
  return largest;
}

// Readers take the files of a directory in the order of their names and pass over those that come
// before one they have read. So the seconds are more than all that are there, also when several
// files are begun in one second or the clock was set back.
std::string NewPath(const std::string& log_dir, int64_t now, const std::string& suffix) {
  const int64_t seconds = std::max(now, LargestSeconds(log_dir) + 1);
  return JoinPath(log_dir, fmt::format("{}{:010}.{}{}", kPrefix, seconds, HostName(), suffix));
}

Event SessionEvent(SessionLog::SessionStatus status, int64_t step) {
  Event event;
  event.set_step(step);
  event.mutable_session_log()->set_status(status);
  return event;
}

}  // namespace

EventWriter::EventWriter(const std::string& log_dir, EventWriterOptions options)
    : log_dir_(log_dir),
      options_(WithClock(std::move(options))),
      at_terminate_(std::make_unique<FlushAtTerminate>([this] {
        const std::unique_lock lock(mutex_, std::try_to_lock);
        if (lock && file_ != nullptr) FlushLocked();
      })) {
  Open();
}

EventWriter::~EventWriter() {
  try {
    Close();
  } catch (const Error&) {  // the contract: only Close tells
  }
}

void EventWriter::Open() {
  FileSystem::ForPath(log_dir_).CreateDirectories(log_dir_);
  const auto seconds = static_cast<int64_t>(options_.now());
  path_ = NewPath(log_dir_, seconds, options_.filename_suffix);
  file_ = std::make_unique<TFRecordWriter>(path_);
  Event first;
  first.set_wall_time(static_cast<double>(seconds));
  first.set_file_version(kFileVersion);
  Write(first);
  FlushLocked();
}

void EventWriter::Write(Event& event) {
  if (file_ == nullptr) {
    throw FailedPrecondition("{}: the event file is closed; Reopen starts another", path_);
  }
  const double now = options_.now();
  if (event.wall_time() == 0) event.set_wall_time(now);
  if (event.ByteSizeLong() > std::numeric_limits<int>::max()) {
    throw InvalidArgument("{}: an event at step {} has more than 2 GB", path_, event.step());
  }
  file_->Write(event.SerializeAsString());
  const bool long_ago = now >= last_flush_ + options_.flush_seconds || now < last_flush_;
  if (++unflushed_ > options_.max_queue || long_ago) {
    FlushLocked();
  }
}

void EventWriter::FlushLocked() {
  file_->Flush();
  unflushed_ = 0;
  last_flush_ = options_.now();
}

void EventWriter::AddEvent(Event event) {
  std::lock_guard lock(mutex_);
  Write(event);
}

void EventWriter::AddSummary(const proto::Summary& summary, int64_t step) {
  Event event;
  event.set_step(step);
  *event.mutable_summary() = summary;
  std::lock_guard lock(mutex_);
  for (auto& value : *event.mutable_summary()->mutable_value()) {
    const bool seen = tags_.contains(value.tag());
    if (seen) value.clear_metadata();
  }
  Write(event);
  for (const auto& value : event.summary().value()) {
    if (value.has_metadata()) tags_.insert(value.tag());
  }
}

void EventWriter::AddSerializedSummary(std::string_view summary, int64_t step) {
  proto::Summary parsed;
  if (!parsed.ParseFromString(std::string(summary))) {
    throw InvalidArgument("{}: {} bytes at step {} that are not a Summary", path(), summary.size(),
                          step);
  }
  AddSummary(parsed, step);
}

void EventWriter::AddScalar(const std::string& tag, float value, int64_t step) {
  proto::Summary summary;
  summary.add_value()->set_tag(tag);
  summary.mutable_value(0)->set_simple_value(value);
  AddSummary(summary, step);
}

void EventWriter::AddGraph(std::string graph_def, int64_t step) {
  Event event;
  event.set_step(step);
  event.set_graph_def(std::move(graph_def));
  AddEvent(std::move(event));
}

void EventWriter::AddMetaGraph(std::string meta_graph_def, int64_t step) {
  Event event;
  event.set_step(step);
  event.set_meta_graph_def(std::move(meta_graph_def));
  AddEvent(std::move(event));
}

void EventWriter::AddRunMetadata(const std::string& tag, std::string run_metadata, int64_t step) {
  Event event;
  event.set_step(step);
  event.mutable_tagged_run_metadata()->set_tag(tag);
  event.mutable_tagged_run_metadata()->set_run_metadata(std::move(run_metadata));
  std::lock_guard lock(mutex_);
  if (run_metadata_tags_.contains(tag)) {
    throw InvalidArgument("{}: there is already run metadata with the tag '{}'", path_, tag);
  }
  Write(event);
  run_metadata_tags_.insert(tag);
}

void EventWriter::AddSessionStart(int64_t step) { AddEvent(SessionEvent(SessionLog::START, step)); }

void EventWriter::AddSessionStop(int64_t step) { AddEvent(SessionEvent(SessionLog::STOP, step)); }

void EventWriter::AddSessionCheckpoint(const std::string& checkpoint_path, int64_t step) {
  Event event = SessionEvent(SessionLog::CHECKPOINT, step);
  event.mutable_session_log()->set_checkpoint_path(checkpoint_path);
  AddEvent(std::move(event));
}

void EventWriter::Flush() {
  std::lock_guard lock(mutex_);
  if (file_ != nullptr) FlushLocked();
}

void EventWriter::Close() {
  std::lock_guard lock(mutex_);
  if (file_ == nullptr) return;
  const auto file = std::move(file_);
  file->Close();
}

void EventWriter::Reopen() {
  std::lock_guard lock(mutex_);
  if (file_ == nullptr) Open();
}

std::string EventWriter::path() const {
  std::lock_guard lock(mutex_);
  return path_;
}

}  // namespace sextant

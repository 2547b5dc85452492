// Hooks that measure the program: where a step's time goes, how much memory there is in use.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/base/resident_memory.h"
#include "sextant/proto/step_stats.pb.h"
#include "sextant/train/hook_timer.h"
#include "sextant/train/hooks.h"

namespace sextant::train {
namespace {

using Scalar = std::function<void(const std::string&, float, int64_t)>;
using Metadata = std::function<void(const std::string&, std::string, int64_t)>;

class ProfileHook : public Hook {
 public:
  ProfileHook(std::string directory, Every every, Metadata run_metadata)
      : directory_(std::move(directory)), timer_(every), run_metadata_(std::move(run_metadata)) {}
  void BeforeRun(RunContext& run) override {
    due_ = timer_.Due(run.global_step() + 1);
    if (due_) run.Trace();
  }
  void AfterRun(RunContext& run) override {
    if (!due_) return;
    const int64_t step = run.global_step();
    timer_.Fire(step);
    FileSystem& fs = FileSystem::ForPath(directory_);
    fs.CreateDirectories(directory_);
    fs.WriteFileAtomically(JoinPath(directory_, fmt::format("timeline-{}.json", step)),
                           run.trace()->ChromeTrace());
    if (!run_metadata_) return;
    proto::RunMetadata metadata;
    run.trace()->ToRunMetadata(&metadata);
    run_metadata_(fmt::format("step_{}", step), metadata.SerializeAsString(), step);
  }

 private:
  const std::string directory_;
  HookTimer timer_;
  const Metadata run_metadata_;
  bool due_ = false;
};

constexpr double kMegabyte = 1 << 20;

double ResidentMegabytes() { return static_cast<double>(ResidentBytes()) / kMegabyte; }

double PeakMegabytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / kMegabyte;
}

class MemoryHook : public Hook {
 public:
  MemoryHook(Every every, Scalar scalar) : timer_(every), scalar_(std::move(scalar)) {}
  void AfterRun(RunContext& run) override {
    const int64_t step = run.global_step();
    if (!timer_.Due(step)) return;
    timer_.Fire(step);
    const double resident = ResidentMegabytes(), peak = std::max(PeakMegabytes(), resident);
    LogInfo("Memory: {:.1f} MB (most: {:.1f} MB)", resident, peak);
    if (!scalar_) return;
    scalar_("memory/resident_mb", static_cast<float>(resident), step);
    scalar_("memory/peak_mb", static_cast<float>(peak), step);
  }

 private:
  HookTimer timer_;
  const Scalar scalar_;
};

}  // namespace

HookRef ProfileSteps(std::string directory, Every every, Metadata run_metadata) {
  return std::make_shared<ProfileHook>(std::move(directory), every, std::move(run_metadata));
}
HookRef LogMemory(Every every, Scalar scalar) {
  return std::make_shared<MemoryHook>(every, std::move(scalar));
}

}  // namespace sextant::train

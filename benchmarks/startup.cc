// From the start of a process to its first training steps: what peers/startup.py measures.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>

#include "benchmarks/census_job.h"
#include "benchmarks/report.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"

namespace sextant::bench {
namespace {

double SinceEpoch() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void Mark(const char* name) {
  fmt::print("{}|{:.6f}|{:.1f}\n", name, SinceEpoch(), PeakMegabytes());
  std::fflush(stdout);
}

class MarkFirstStep : public train::Hook {
 public:
  void AfterRun(train::RunContext&) override {
    if (!seen_) Mark("first step");
    seen_ = true;
  }

 private:
  bool seen_ = false;
};

struct Marks {
  std::vector<double> seconds;
  double megabytes = 0;
};

// What a child process printed, by name; "exit" is when it was gone.
void RunChild(const std::string& data, std::map<std::string, Marks>* marks) {
  const double start = SinceEpoch();
  const std::string command =
      fmt::format("'{}' startup --child --data '{}'",
                  std::filesystem::read_symlink("/proc/self/exe").string(), data);
  FILE* child = popen(command.c_str(), "r");
  if (child == nullptr) throw Internal("cannot start {}", command);
  char line[200], name[100];
  double at = 0, megabytes = 0;
  while (std::fgets(line, sizeof line, child) != nullptr) {
    if (std::sscanf(line, "%99[^|]|%lf|%lf", name, &at, &megabytes) != 3) continue;
    Marks& mark = (*marks)[name];
    mark.seconds.push_back(at - start);
    mark.megabytes = megabytes;
  }
  if (pclose(child) != 0) throw Internal("{} failed", command);
  (*marks)["exit"].seconds.push_back(SinceEpoch() - start);
}

}  // namespace

void StartupChild(const std::string& data) {
  SetLogLevel(LogLevel::kWarning);
  Mark("imported");
  const CensusFiles files(data);
  CensusEstimator(files.folder() + "/model", 0)
      .Train([&] { return CensusInput(files.train(), 40, true, "line"); },
             {.steps = 100, .hooks = {std::make_shared<MarkFirstStep>()}});
  Mark("100 steps");
}

void MeasureStartup(const Options& options, const std::string& data) {
  if (data.empty()) throw InvalidArgument("the startup workload needs --data DIR, with adult.data");
  std::map<std::string, Marks> marks;
  for (int i = 0; i < options.repeats; ++i) RunChild(data, &marks);
  for (const auto& [name, mark] : marks) {
    Extra extra = {{"mode", Quote("estimator: process start to " + name)}};
    if (mark.megabytes > 0) extra.emplace_back("rss_mb", fmt::format("{:.1f}", mark.megabytes));
    Emit("startup", "seconds", mark.seconds, true, extra);
  }
}

}  // namespace sextant::bench

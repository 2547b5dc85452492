#include "benchmarks/census_job.h"

#include <sys/resource.h>

#include "sextant/base/file_system.h"
#include "sextant/models/registry.h"

namespace sextant::bench {
namespace {

// Without blank lines, the comment at the top of adult.test and the dots behind its labels.
void Clean(const std::string& from, const std::string& to) {
  FileSystem& files = FileSystem::ForPath(from);
  const std::string text = files.ReadFile(from);
  std::string clean;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    std::string_view line(text.data() + begin, end - begin);
    if (line.empty() || line[0] == '|') continue;
    if (line.ends_with('.')) line.remove_suffix(1);
    clean.append(line);
    clean.push_back('\n');
  }
  files.WriteFileAtomically(to, clean);
}

}  // namespace

CensusFiles::CensusFiles(const std::string& data) {
  Clean(JoinPath(data, "adult.data"), train());
  Clean(JoinPath(data, "adult.test"), test());
}

Estimator CensusEstimator(const std::string& model_dir, int threads) {
  const models::RegisteredModel& model = models::FindModel("wide_deep");
  const HParams params = models::DefaultParams(model);
  RunConfig config;
  config.model_dir = model_dir;
  config.session.threads = threads;
  return Estimator(model.model_fn(params), config, params);
}

ServingInputFn CensusReceiver() {
  const models::RegisteredModel& model = models::FindModel("wide_deep");
  return model.receivers.front().second(models::DefaultParams(model));
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace sextant::bench

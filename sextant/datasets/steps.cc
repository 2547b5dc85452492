#include "sextant/datasets/steps.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::datasets {

std::string Fetch(const PublishedFile& file, const DataOptions& options, std::ostream& out) {
  PublishedFile wanted = file;
  if (!options.url.empty()) wanted.urls = {JoinPath(options.url, file.name)};
  bool was_there = false;
  std::string path = Download(wanted, options.out, &was_there);
  if (!was_there) {
    out << fmt::format("Successfully downloaded {} {} bytes.\n", file.name,
                       FileSystem::ForPath(path).Stat(path).size)
        << std::flush;
  }
  return path;
}

void WriteSplit(const LabelledImages& images, int64_t count, const std::string& split,
                const std::string& folder, std::ostream& out) {
  if (count > images.size()) {
    throw InvalidArgument("{} examples are wanted for {}, but there are only {}", count, split,
                          images.size());
  }
  const std::string path = JoinPath(folder, split + ".tfrecords");
  out << fmt::format("Generating {}\n", path) << std::flush;
  WriteImageRecords(images, count < 0 ? images.size() : count, path);
}

}  // namespace sextant::datasets

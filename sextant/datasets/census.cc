#include "sextant/datasets/census.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/interrupt.h"
#include "sextant/base/utf8.h"
#include "sextant/datasets/steps.h"
#include "sextant/datasets/synthetic.h"

namespace sextant::datasets {
namespace {

constexpr int kCensusColumns = 15;

PublishedFile CensusFile(const std::string& name, uint64_t size, const std::string& digest) {
  return {
      .name = name,
      .urls = {"https://archive.ics.uci.edu/ml/machine-learning-databases/adult/" + name},
      .size = size,
      .digest = "sha256:" + digest,
  };
}

PublishedFile TrainFile() {
  return CensusFile("adult.data", 3974305,
                    "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d");
}

PublishedFile TestFile() {
  return CensusFile("adult.test", 2003153,
                    "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05");
}

std::string ReadCensus(const PublishedFile& file, const DataOptions& options, std::ostream& out) {
  const std::string path =
      options.from.empty() ? Fetch(file, options, out) : JoinPath(options.from, file.name);
  ThrowIfInterrupted();
  return std::string(WithoutByteOrderMark(FileSystem::ForPath(path).ReadFile(path)));
}

void Write(const std::string& rows, int64_t wanted, const std::string& name,
           const DataOptions& options, std::ostream& out) {
  const int64_t count = std::count(rows.begin(), rows.end(), '\n');
  if (wanted > count) {
    throw InvalidArgument("{} rows are wanted for {}, but there are only {}", wanted, name, count);
  }
  const std::string path = JoinPath(options.out, name);
  out << fmt::format("Generating {}\n", path) << std::flush;
  FileSystem::ForPath(path).WriteFileAtomically(path, rows);
}

}  // namespace

std::string CleanCensus(std::string_view text, int64_t count, const std::string& name) {
  std::string rows;
  int64_t line_number = 0, kept = 0;
  for (size_t begin = 0; begin < text.size() && kept != count;) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('|')) continue;
    if (line.ends_with('.')) line.remove_suffix(1);
    const auto columns = std::count(line.begin(), line.end(), ',') + 1;
    if (columns != kCensusColumns || !(line.ends_with("<=50K") || line.ends_with(">50K"))) {
      throw DataLoss("{}, line {}, is no row of 15 columns with the label <=50K or >50K at the end",
                     name, line_number);
    }
    rows.append(line).push_back('\n');
    ++kept;
  }
  return rows;
}

void MakeCensus(const DataOptions& options, std::ostream& out) {
  std::string train, test;
  if (options.synthetic) {
    train = SyntheticCensus(CountOr(options.train, 32561), options.seed, 0);
    test = SyntheticCensus(CountOr(options.eval, 16281), options.seed, 1);
  } else {
    train = CleanCensus(ReadCensus(TrainFile(), options, out), options.train, "adult.data");
    test = CleanCensus(ReadCensus(TestFile(), options, out), options.eval, "adult.test");
  }
  Write(train, options.train, "adult.data.csv", options, out);
  Write(test, options.eval, "adult.test.csv", options, out);
  out << "Done!\n";
}

}  // namespace sextant::datasets

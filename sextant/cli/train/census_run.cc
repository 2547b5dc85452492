#include "sextant/cli/train/census_run.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/datasets/synthetic.h"

namespace sextant::cli {

CensusRun::CensusRun(const std::string& name)
    : directory_(fmt::format("{}{}_{}", testing::TempDir(), name, getpid())) {
  SetLogLevel(LogLevel::kWarning);
  FileSystem::ForPath(directory_).CreateDirectories(data());
  Write("data/adult.data.csv", datasets::SyntheticCensus(400, 1, 0));
  Write("data/adult.test.csv", datasets::SyntheticCensus(100, 1, 1));
}

CensusRun::~CensusRun() { FileSystem::ForPath(directory_).DeleteRecursively(directory_); }

std::string CensusRun::Write(const std::string& name, const std::string& text) const {
  std::string path = JoinPath(directory_, name);
  FileSystem::ForPath(path).WriteFileAtomically(path, text);
  return path;
}

TrainFlags CensusRun::flags() const {
  return {.model_dir = model_dir(), .data = data(), .verbosity = "warn", .seed = 1};
}

std::string CensusRun::Train(const std::string& model, const std::string& hparams) const {
  HParams params = models::DefaultParams(models::FindModel(model));
  params.Parse("train_steps=20,train_batch_size=20,eval_steps=2,eval_batch_size=20");
  params.Parse(hparams);
  std::ostringstream out;
  TrainModel(models::FindModel(model), params, flags(), out);
  return out.str();
}

std::string CensusRun::Export(const std::string& receiver) const {
  std::ostringstream out;
  ExportModel({.model_dir = model_dir(), .out = directory_ + "/export", .receiver = receiver}, out);
  std::string path = out.str();
  path.pop_back();
  return path;
}

std::string MessageOf(const std::function<void()>& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

}  // namespace sextant::cli

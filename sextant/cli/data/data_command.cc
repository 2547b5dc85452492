#include "sextant/cli/data/data_command.h"

#include <iostream>
#include <memory>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_file.h"
#include "sextant/cli/data/verify.h"
#include "sextant/cli/interruptible.h"
#include "sextant/datasets/census.h"
#include "sextant/datasets/cifar10.h"
#include "sextant/datasets/mnist.h"
#include "sextant/datasets/options.h"

namespace sextant::cli {
namespace {

constexpr int64_t kMostExamples = 1'000'000'000;

using Options = std::shared_ptr<datasets::DataOptions>;
using MakeData = void (*)(const datasets::DataOptions& options, std::ostream& out);

Options AddCommonOptions(Command& command, const std::string& from, MakeData make) {
  auto options = std::make_shared<datasets::DataOptions>();
  command.AddOption("--out DIR", &options->out, "output directory, created if needed",
                    Need::kRequired);
  command.AddOption("--from PATH", &options->from, from + "; downloaded when not given");
  command.AddOption("--url URL", &options->url, "download from here, not from the authors' pages");
  command.AddFlag("--synthetic", &options->synthetic,
                  "generate a data set of the same form that a model can learn");
  command.AddOption("--seed N", &options->seed, "random seed of the synthetic data set");
  command.OutliveOutput();
  command.OnCheck([options] {
    if (options->synthetic && !options->from.empty()) {
      throw InvalidArgument("--synthetic and --from exclude each other");
    }
    if (!options->url.empty() && (options->synthetic || !options->from.empty())) {
      throw InvalidArgument("--url is for downloads: leave out --synthetic and --from");
    }
  });
  command.OnRun([options, make] {
    const Interruptible interruptible;
    FileSystem& files = FileSystem::ForPath(options->out);
    files.CreateDirectories(options->out);
    DeleteStaleTemporaries(files, options->out, "");  // of runs that were killed
    make(*options, std::cout);
    return 0;
  });
  return options;
}

void AddCount(Command& command, const std::string& name, int64_t* count, const std::string& usual) {
  command.AddOption(name + " N", count, "how many examples; all, " + usual + ", when not given", 0,
                    kMostExamples);
}

void AddCifar10(Command& data) {
  Command& command =
      data.AddCommand("cifar10", "Writes CIFAR-10 as train, validation and eval.tfrecords.",
                      "sextant data cifar10 --out data/cifar10\n"
                      "sextant data cifar10 --out data/cifar10 --from cifar-10-python.tar.gz\n"
                      "sextant data cifar10 --out data/cifar10 --synthetic --train 4000 "
                      "--validation 500 --eval 500");
  const Options options = AddCommonOptions(
      command,
      "cifar-10-python.tar.gz, cifar-10-binary.tar.gz, or a folder of either or of the "
      "files in it",
      datasets::MakeCifar10);
  AddCount(command, "--train", &options->train, "40000");
  AddCount(command, "--validation", &options->validation, "10000");
  AddCount(command, "--eval,--test", &options->eval, "10000");
}

void AddMnist(Command& data) {
  Command& command =
      data.AddCommand("mnist", "Writes MNIST as train, validation and test.tfrecords.",
                      "sextant data mnist --out data/mnist\n"
                      "sextant data mnist --out data/mnist --from MNIST_data");
  const Options options = AddCommonOptions(
      command, "a folder with the four idx files, gzipped or not", datasets::MakeMnist);
  AddCount(command, "--train", &options->train, "55000");
  AddCount(command, "--validation", &options->validation, "5000");
  AddCount(command, "--test,--eval", &options->eval, "10000");
  command.AddFlag("--idx", &options->idx, "write the four idx files, too");
}

void AddCensus(Command& data) {
  Command& command = data.AddCommand(
      "census", "Writes the census income data, cleaned, as adult.data.csv and adult.test.csv.",
      "sextant data census --out data/census\n"
      "sextant data census --out data/census --synthetic");
  const Options options =
      AddCommonOptions(command, "a folder with adult.data and adult.test", datasets::MakeCensus);
  AddCount(command, "--train", &options->train, "32561");
  AddCount(command, "--test,--eval", &options->eval, "16281");
}

void AddVerify(Command& data) {
  Command& command =
      data.AddCommand("verify", "Checks every checksum of record files and counts the records.",
                      "sextant data verify data/cifar10/*.tfrecords");
  auto paths = std::make_shared<std::vector<std::string>>();
  command.AddArgument("FILE", paths.get(),
                      "TFRecord or event files; GZIP and ZLIB are known by their content");
  command.OnRun([paths] {
    const Interruptible interruptible;
    return VerifyRecordFiles(*paths, std::cout) ? 0 : kExitError;
  });
}

}  // namespace

void AddDataCommand(Command& program) {
  Command& data = program.AddCommand("data", "Makes data sets, and checks record files.",
                                     "sextant data cifar10 --out data/cifar10");
  AddCifar10(data);
  AddMnist(data);
  AddCensus(data);
  AddVerify(data);
}

}  // namespace sextant::cli

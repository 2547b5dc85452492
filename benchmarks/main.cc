// sextant-bench: measures Sextant on the workloads of benchmarks/peers and prints the same kind of
// lines.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

#include "benchmarks/program_main.h"
#include "benchmarks/report.h"
#include "sextant/base/error.h"

namespace sextant::bench {
namespace {

void AddOptions(CLI::App* app, Options& options) {
  app->add_option("--threads", options.threads, "threads (default: all cores)");
  app->add_option("--seconds", options.seconds, "length of one repeat")->capture_default_str();
  app->add_option("--repeats", options.repeats, "timed groups")->capture_default_str();
  app->add_option("--warmup", options.warmup, "steps before timing")->capture_default_str();
}

// A workload that is a model: its batch sizes and steps before timing unless given.
struct Model {
  const char* name;
  const char* description;
  std::vector<int64_t> batches;
  int warmup;
  void (*run)(const Options& options);
};

const Model kModels[] = {
    {"resnet44", "training step of ResNet-44", {128}, 3, MeasureResnet44},
    {"resnet44_estimator", "ResNet-44 as a user trains it", {128}, 3, MeasureResnet44Estimator},
    {"resnet44_infer", "forward pass of ResNet-44", {1, 128}, 3, MeasureResnet44Inference},
    {"mnist_convnet", "MNIST convolutional net", {50}, 3, MeasureMnistConvnet},
    {"gru_seq2seq", "GRU sequence autoencoder", {64}, 20, MeasureGruSeq2Seq},
};

void AddModels(CLI::App& app, Options& options) {
  for (const Model& model : kModels) {
    CLI::App* command = app.add_subcommand(model.name, model.description);
    AddOptions(command, options);
    command->add_option("--batch", options.batches, "batch sizes");
    command->add_flag("--profile", options.profile, "print the time of each kind of op to stderr");
  }
}

void RunModels(const CLI::App& app, Options& options) {
  for (const Model& model : kModels) {
    const CLI::App* command = app.get_subcommand(model.name);
    if (!*command) continue;
    if (command->count("--batch") == 0) options.batches = model.batches;
    if (command->count("--warmup") == 0) options.warmup = model.warmup;
    model.run(options);
  }
}

// The workload runs as soon as its options are parsed.
void AddOps(CLI::App& app, Options& options, OpsOptions& ops) {
  CLI::App* command = app.add_subcommand("ops", "each case of the op case tables");
  AddOptions(command, options);
  command->add_option("filter", ops.filter, "only cases that contain this text, such as MatMul(");
  command->add_option("--cases", ops.folder, "folder of the tables")->capture_default_str();
  command->callback([&options, &ops, command] {
    if (command->count("--seconds") == 0) options.seconds = 0.01;
    MeasureOps(options, ops);
  });
}

// In a program of its own: no other workload shall load gRPC.
void AddWire(CLI::App& app) {
  app.add_subcommand("wire", "tensors between processes, against raw TCP and protobuf")
      ->callback([] {
        const auto path = std::filesystem::read_symlink("/proc/self/exe").parent_path();
        const std::string program = (path / "sextant-bench-wire").string();
        execl(program.c_str(), program.c_str(), nullptr);
        throw NotFound("{} cannot be started: build it", program);
      });
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Measures Sextant; prints one JSON line per measurement.\nExample: sextant-bench matmul "
      "--size 1024");
  app.require_subcommand(1);
  Options options;
  options.threads = static_cast<int>(std::thread::hardware_concurrency());
  int chain = 1000;
  std::vector<int> sizes = {256, 512, 1024, 2048};
  CLI::App* peak = app.add_subcommand("peak", "multiply-add and copy limits of the machine");
  CLI::App* overhead = app.add_subcommand("session_overhead", "cost of Session::Run itself");
  CLI::App* matmul = app.add_subcommand("matmul", "square float32 matrix products");
  CLI::App* input = app.add_subcommand("input", "files of records and of CSV to batches");
  CheckpointOptions checkpoints;
  CLI::App* checkpoint = app.add_subcommand("checkpoint", "saving and restoring variables");
  CensusOptions job;
  CLI::App* census = app.add_subcommand("census", "the census program through the Estimator");
  CLI::App* startup = app.add_subcommand("startup", "process start to the first training steps");
  CLI::App* serving = app.add_subcommand("serving", "one request to an exported model");
  AddWire(app);
  bool child = false;
  int requests = 2000;
  for (CLI::App* command : {census, startup, serving}) {
    AddOptions(command, options);
    command->add_option("--data", job.data, "folder with adult.data and adult.test");
  }
  for (CLI::App* command : {census, serving}) {
    command->add_option("--batch", options.batches, "batch sizes");
  }
  census->add_flag("--profile", options.profile, "print the time of each kind of op to stderr");
  census->add_option("--mode", job.modes, "train, train_and_evaluate, input");
  census->add_option("--style", job.styles, "of parsing: line, batched");
  startup->add_flag("--child", child, "run the job instead of timing it");
  serving->add_option("--count", requests, "requests")->capture_default_str();
  for (CLI::App* command : {peak, overhead, matmul, input, checkpoint}) {
    AddOptions(command, options);
  }
  checkpoint->add_option("--megabytes", checkpoints.megabytes, "of variables")
      ->capture_default_str();
  checkpoint->add_option("--variables", checkpoints.variables, "number of them")
      ->capture_default_str();
  checkpoint->add_option("--dir", checkpoints.folder, "where to write");
  InputOptions files;
  input->add_option("--batch", options.batches, "batch sizes");
  input->add_option("--megabytes", files.megabytes, "of records")->capture_default_str();
  input->add_option("--data", files.data, "folder with adult.data, for rows of CSV");
  input->add_option("--copies", files.copies, "of adult.data in the file")->capture_default_str();
  input->add_flag("--csv-only", files.csv_only, "leave the records out");
  overhead->add_option("--chain", chain, "additions one after another")->capture_default_str();
  matmul->add_option("--size", sizes, "rows and columns");
  AddModels(app, options);
  OpsOptions ops;
  AddOps(app, options, ops);
  CLI11_PARSE(app, argc, argv);
  RunModels(app, options);
  if (*checkpoint) {
    if (checkpoint->count("--repeats") == 0) options.repeats = 3;
    MeasureCheckpoint(options, checkpoints);
  }
  if (*input) {
    if (input->count("--batch") == 0) options.batches = {128};
    MeasureInput(options, files);
  }
  if (*census) {
    if (census->count("--batch") == 0) options.batches = {40, 128, 512};
    MeasureCensus(options, job);
  }
  if (*startup) child ? StartupChild(job.data) : MeasureStartup(options, job.data);
  if (*serving) {
    if (serving->count("--batch") == 0) options.batches = {1};
    MeasureServing(options, job.data, requests);
  }
  if (*peak) Peak(options);
  if (*overhead) SessionOverhead(options, chain);
  if (*matmul) {
    if (matmul->count("--warmup") == 0) options.warmup = 3;
    Matmul(options, sizes);
  }
  return 0;
}

}  // namespace
}  // namespace sextant::bench

int main(int argc, char** argv) {
  return sextant::bench::RunProgram("sextant-bench", sextant::bench::Main, argc, argv);
}

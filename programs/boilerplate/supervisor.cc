// Trains any model on any data set, evaluates it and exports it:
//   supervisor train_and_eval --model Simple --dataset CIFAR10
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "boilerplate/datasets/datasets.h"
#include "boilerplate/flags/core.h"
#include "boilerplate/hooks/hooks_helper.h"
#include "boilerplate/logger/logger.h"
#include "boilerplate/models/model_fn.h"
#include "boilerplate/models/models.h"
#include "boilerplate/utils/distribution_utils.h"
#include "boilerplate/utils/run_directory.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

class Supervisor {
 public:
  explicit Supervisor(const AllFlags& flags)
      : flags_(flags),
        devices_(CountDevices(flags.num_gpus, flags.device_type)),
        dataset_(MakeDataset(
            flags.dataset,
            {.data_dir = flags.data_dir,
             .batch_size = PerDeviceBatchSize(flags.batch_size, devices_),
             .parallel = flags.num_parallel_calls > 0 ? static_cast<int>(flags.num_parallel_calls)
                                                      : sx::data::kAutotune,
             .synthetic = flags.use_synthetic_data,
             .seed = flags.seed})),
        model_(MakeModel(flags.model, flags.dataset, dataset_->shape())),
        parameters_(ParametersOf(flags)) {
    CheckFlags(flags);
    GetTrainHooks(flags.hooks, {});  // throws for a name that is none
  }

  // Rounds of some epochs, each followed by an evaluation when it is asked for.
  void Train(bool evaluate) {
    const int64_t examples = dataset_->NumExamples("train");
    if (evaluate) dataset_->NumExamples("validation");  // throws when there are none
    const int64_t round = flags_.epochs_between_evals * ((examples - 1) / flags_.batch_size + 1);
    const int64_t rounds = flags_.train_epochs / flags_.epochs_between_evals;
    const int64_t last = std::min(rounds * round, flags_.max_train_steps.value_or(rounds * round));
    const std::shared_ptr<BenchmarkLogger> logger = MakeLogger(flags_);
    const std::string model_dir = OpenRunDirectory(flags_, parameters_);
    if (const std::string& folder = flags_.export_dir; !folder.empty()) {
      sx::FileSystem::ForPath(folder).CreateDirectories(folder);  // throws where none can be
    }
    logger->LogRun(flags_.model, flags_.dataset, parameters_, flags_.benchmark_test_id);
    try {
      sx::Estimator estimator = MakeEstimator(model_dir);
      const auto hooks = GetTrainHooks(flags_.hooks, {model_dir, flags_.batch_size, logger});
      int64_t step = GlobalStep(estimator);
      if (step >= last) fmt::print("{} is at step {} already.\n", model_dir, step);
      // A run that was killed in an evaluation begins with that.
      bool good = evaluate && step > 0 && (step % round == 0 || step >= last) &&
                  LastEvaluation(model_dir) < step && Evaluate(estimator, *logger);
      while (step < last && !good) {
        const int64_t end = evaluate ? std::min(last, (step / round + 1) * round) : last;
        step = estimator.Train([&] { return dataset_->GetTrainSet(); },
                               {.max_steps = end, .hooks = hooks});
        good = evaluate && Evaluate(estimator, *logger);
      }
      if (!flags_.export_dir.empty()) Export(estimator);
      MarkFinished(model_dir);
    } catch (...) {
      logger->OnFinish("failure");
      throw;
    }
    logger->OnFinish("success");
  }

  void Eval() {
    sx::Estimator estimator = MakeEstimator(FindRunDirectory(flags_));
    Evaluate(estimator, *MakeLogger(flags_));
  }

  void Export() {
    if (flags_.export_dir.empty()) throw sx::InvalidArgument("export needs --export_dir");
    sx::Estimator estimator = MakeEstimator(FindRunDirectory(flags_));
    Export(estimator);
  }

 private:
  sx::Estimator MakeEstimator(const std::string& model_dir) const {
    sx::RunConfig config{
        .model_dir = model_dir,
        .random_seed = flags_.seed,
        .session = {.threads = static_cast<int>(flags_.intra_op_parallelism_threads)},
        .train_distribute =
            GetDistributionStrategy(devices_, flags_.device_type, flags_.all_reduce_alg),
        .cancellation = signals_.token()};
    sx::ModelFn model_fn = MakeModelFn(model_, dataset_->shape().classes);
    if (devices_ > 1) return {model_fn, config};
    const auto placed = [model_fn, device = SingleDevice(devices_, flags_.device_type)](
                            const sx::ModelFnArgs& args) {
      if (args.mode == sx::Mode::kPredict) return model_fn(args);  // exports run anywhere
      const sx::DeviceScope scope(device);
      return model_fn(args);
    };
    return {placed, config};
  }

  static int64_t GlobalStep(const sx::Estimator& estimator) {
    if (!estimator.LatestCheckpoint()) return 0;
    return estimator.VariableValue("global_step").scalar<int64_t>();
  }

  // Whether --stop_threshold is given and the accuracy as good as it asks.
  bool Evaluate(sx::Estimator& estimator, BenchmarkLogger& logger) const {
    const sx::EvalResult results = estimator.Evaluate([&] { return dataset_->GetValidationSet(); });
    std::vector<std::string> texts;
    const auto step = static_cast<int64_t>(results.at("global_step"));
    for (const auto& [name, value] : results) {
      texts.push_back(fmt::format("'{}': {:g}", name, value));
      if (name != "global_step") logger.LogMetric(name, value, "", step);
    }
    NoteEvaluation(estimator.model_dir(), step);
    fmt::print("\nValidation results:\n{{{}}}\n", fmt::join(texts, ", "));
    std::fflush(stdout);
    return flags_.stop_threshold > 0 && results.at("accuracy") >= flags_.stop_threshold;
  }

  void Export(sx::Estimator& estimator) const {
    const std::string path =
        estimator.ExportSavedModel(flags_.export_dir, ServingImages(dataset_->shape()));
    fmt::print("Exported to {}\n", path);
  }

  const AllFlags& flags_;
  const sx::InterruptScope signals_;
  const int64_t devices_;
  const std::unique_ptr<DatasetInterface> dataset_;
  const std::shared_ptr<const ModelInterface> model_;
  const RunParameters parameters_;
};

void Run(const std::string& mode, const AllFlags& flags) {
  sx::SetLogFormat(sx::LogFormat::kTensorFlow);
  Supervisor supervisor(flags);
  if (mode == "train_and_eval") supervisor.Train(/*evaluate=*/true);
  if (mode == "train") supervisor.Train(/*evaluate=*/false);
  if (mode == "eval") supervisor.Eval();
  if (mode == "export") supervisor.Export();
}

}  // namespace
}  // namespace boilerplate

int main(int argc, char** argv) {
  std::vector<std::string> mode;
  boilerplate::AllFlags values;
  sx::Flags flags("Trains a model on a data set, evaluates it and exports it, each by its name.");
  flags.AddArguments(
      "MODE", &mode, "train_and_eval, train, eval or export",
      {.required = true, .max = 1, .choices = {"train_and_eval", "train", "eval", "export"}});
  boilerplate::DefineFlags(flags, &values);
  return flags.Main(argc, argv, [&] { boilerplate::Run(mode[0], values); });
}

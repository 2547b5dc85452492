#include "boilerplate/flags/base.h"

#include "boilerplate/utils/distribution_utils.h"

namespace boilerplate {

constexpr double kMostEpochs = 1e9;  // so that their steps can be counted

void DefineBaseFlags(sextant::Flags& flags, BaseFlags* values) {
  values->num_gpus = HasGpu(0) ? 1 : 0;
  flags
      .Add("data_dir", &values->data_dir, "of the input data; none: data/ and the data set's name",
           {.aliases = {"dd"}})
      .Add("model_dir", &values->model_dir, "of checkpoints; none: checkpoints/ and the time",
           {.aliases = {"md"}})
      .Add("clean", &values->clean, "delete the training in model_dir first")
      .Add("train_epochs", &values->train_epochs, "passes over the training data",
           {.aliases = {"te"}, .min = 1, .max = kMostEpochs})
      .Add("epochs_between_evals", &values->epochs_between_evals, "passes between evaluations",
           {.aliases = {"ebe"}, .min = 1, .max = kMostEpochs})
      .Add("stop_threshold", &values->stop_threshold, "end at this accuracy; 0: do not",
           {.aliases = {"st"}, .min = 0, .max = 1})
      .Add("batch_size", &values->batch_size, "images of a step, over all devices",
           {.aliases = {"bs"}, .min = 1, .max = 1 << 20})
      .Add("num_gpus", &values->num_gpus,
           "devices that share a batch; 0: the CPU; -1: all there are",
           {.aliases = {"ng"}, .min = -1, .max = 256})
      .Add("hooks", &values->hooks,
           "by name, with commas or blanks between them; see hooks/hooks_helper.h",
           {.aliases = {"hk"}})
      .Add("export_dir", &values->export_dir, "where to export the model to", {.aliases = {"ed"}});
}

}  // namespace boilerplate

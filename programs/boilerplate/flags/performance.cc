#include "boilerplate/flags/performance.h"

namespace boilerplate {

void DefinePerformanceFlags(sextant::Flags& flags, PerformanceFlags* values) {
  flags
      .Add("inter_op_parallelism_threads", &values->inter_op_parallelism_threads,
           "accepted; one team of threads runs all operations",
           {.aliases = {"inter"}, .min = 0, .max = 4096})
      .Add("intra_op_parallelism_threads", &values->intra_op_parallelism_threads,
           "threads; 0: all cores", {.aliases = {"intra"}, .min = 0, .max = 4096})
      .Add("use_synthetic_data", &values->use_synthetic_data,
           "train on random images instead of files", {.aliases = {"synth"}})
      .Add("max_train_steps", &values->max_train_steps, "end after this step; none: by epochs",
           {.aliases = {"mts"}, .min = 1})
      .Add("all_reduce_alg", &values->all_reduce_alg,
           "how gradients are summed over devices; none: tree",
           {.aliases = {"ara"}, .choices = {"one_device", "tree", "ring"}})
      .Add("num_parallel_calls", &values->num_parallel_calls, "threads that parse; 0: as needed",
           {.aliases = {"npc"}, .min = 0, .max = 4096})
      .Add("device_type", &values->device_type, "what --num_gpus counts; CPU: host devices",
           {.choices = {"GPU", "CPU"}});
}

}  // namespace boilerplate

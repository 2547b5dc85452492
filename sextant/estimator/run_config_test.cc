#include "sextant/estimator/run_config.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

TEST(RunConfigTest, HasTensorFlowsDefaults) {
  const RunConfig config = Resolve({.model_dir = "runs/a"});
  EXPECT_EQ(config.model_dir, "runs/a");
  EXPECT_EQ(config.save_summary_steps, 100);
  EXPECT_FALSE(config.save_checkpoints_steps.has_value());
  EXPECT_EQ(config.save_checkpoints_secs, 600);
  EXPECT_EQ(config.keep_checkpoint_max, 5);
  EXPECT_EQ(config.keep_checkpoint_every_n_hours, 10000);
  EXPECT_EQ(config.log_step_count_steps, 100);
  EXPECT_EQ(config.session_creation_timeout_secs, 7200);
  EXPECT_FALSE(config.random_seed.has_value());
  EXPECT_TRUE(config.task.local());
}

TEST(RunConfigTest, TakesOneIntervalOfCheckpoints) {
  const RunConfig steps = Resolve({.model_dir = "a", .save_checkpoints_steps = 50});
  EXPECT_EQ(steps.save_checkpoints_steps, 50);
  EXPECT_FALSE(steps.save_checkpoints_secs.has_value());
  const RunConfig none = Resolve({.model_dir = "a", .save_checkpoints_steps = 0});
  EXPECT_EQ(none.save_checkpoints_steps, 0);
  EXPECT_FALSE(none.save_checkpoints_secs.has_value());
}

TEST(RunConfigTest, TakesModelDirOfTfConfig) {
  const std::string tf_config = R"({"model_dir": "runs/b/"})";
  EXPECT_EQ(Resolve({.tf_config = tf_config}).model_dir, "runs/b");
  EXPECT_EQ(Resolve({.model_dir = "runs/b", .tf_config = tf_config}).model_dir, "runs/b");
  setenv("TF_CONFIG", R"({"model_dir": "runs/c"})", 1);
  EXPECT_EQ(Resolve({}).model_dir, "runs/c");
  unsetenv("TF_CONFIG");
}

TEST(RunConfigTest, MakesATemporaryDirectory) {
  const std::string first = Resolve({}).model_dir;
  const std::string second = Resolve({}).model_dir;
  EXPECT_NE(first, second);
  FileSystem& files = FileSystem::ForPath(first);
  EXPECT_TRUE(files.Stat(first).is_directory);
  files.Delete(first);
  files.Delete(second);
}

// The keys and their order are those that tf.contrib.learn printed in 2017.
TEST(RunConfigTest, IsADictionaryInTheStyleOf2017) {
  RunConfig config =
      Resolve({.model_dir = "gs://path/model_dir",
               .log_style = LogStyle::k2017,
               .session = {.threads = 1},
               .tf_config = R"({"cluster": {"master": ["master-ip:8000"], "ps": ["ps-ip:8000"],
                                    "worker": ["worker-ip:8000"]},
                        "task": {"type": "master", "index": 0}, "environment": "cloud",
                        "model_dir": "gs://path/model_dir"})"});
  EXPECT_EQ(Describe(config),
            "{'_save_checkpoints_secs': 600, '_num_ps_replicas': 1, '_keep_checkpoint_max': 5, "
            "'_task_type': 'master', '_is_chief': True, '_cluster_spec': {'master': "
            "['master-ip:8000'], 'ps': ['ps-ip:8000'], 'worker': ['worker-ip:8000']}, "
            "'_model_dir': 'gs://path/model_dir', '_save_checkpoints_steps': None, "
            "'_keep_checkpoint_every_n_hours': 10000, '_session_config': "
            "intra_op_parallelism_threads: 1\ngpu_options {\n}\nallow_soft_placement: true\n, "
            "'_tf_random_seed': None, '_environment': 'cloud', '_num_worker_replicas': 1, "
            "'_task_id': 0, '_save_summary_steps': 100, '_tf_config': gpu_options {\n  "
            "per_process_gpu_memory_fraction: 1.0\n}\n, '_evaluation_master': '', '_master': "
            "'grpc://master-ip:8000'}");
}

void ExpectError(const RunConfig& config, const std::string& part) {
  try {
    Resolve(config);
    ADD_FAILURE() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(RunConfigTest, SaysWhichFieldIsOutOfRange) {
  ExpectError({.model_dir = "a", .save_summary_steps = -1},
              "save_summary_steps must be at least 0");
  ExpectError({.model_dir = "a", .save_checkpoints_steps = -5}, "save_checkpoints_steps");
  ExpectError({.model_dir = "a", .save_checkpoints_secs = -5}, "save_checkpoints_secs");
  ExpectError({.model_dir = "a", .save_checkpoints_steps = 5, .save_checkpoints_secs = 6},
              "cannot both be set");
  ExpectError({.model_dir = "a", .keep_checkpoint_max = -1}, "keep_checkpoint_max");
  ExpectError({.model_dir = "a", .keep_checkpoint_every_n_hours = 0},
              "keep_checkpoint_every_n_hours must be greater than 0");
  ExpectError({.model_dir = "a", .log_step_count_steps = 0}, "log_step_count_steps");
  ExpectError({.model_dir = "a", .protocol = "carrier pigeon"}, "\"carrier pigeon\"");
  ExpectError({.model_dir = "a", .max_worker_delay_secs = -1}, "max_worker_delay_secs");
  ExpectError({.model_dir = "a", .session_creation_timeout_secs = 0},
              "session_creation_timeout_secs");
  ExpectError({.model_dir = "a", .tf_config = R"({"model_dir": "b"})"},
              "model_dir is a, but b in TF_CONFIG");
  ExpectError({.model_dir = "a", .tf_config = ""}, "must be a JSON object");
}

TEST(RunConfigTest, DescribesItself) {
  const std::string text = Describe(Resolve({.model_dir = "runs/a"}));
  EXPECT_NE(text.find("model_dir: runs/a, random_seed: none, save_summary_steps: 100"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("task_type: worker, task_id: 0, is_chief: true"), std::string::npos) << text;
}

}  // namespace
}  // namespace sextant

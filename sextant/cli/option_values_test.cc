// Values of the flags of all commands that cannot be meant: each is a usage error of one sentence,
// before anything is read or written.
#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/cli/command.h"
#include "sextant/cli/commands.h"

namespace sextant::cli {
namespace {

struct WrongUse {
  std::vector<std::string> arguments;
  std::string words;  // of the message
};

std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

// Runs each in turn, with "DIR" standing for a directory that is not there.
void ExpectRefused(const std::vector<WrongUse>& uses) {
  const TemporaryDirectory scratch;
  const std::string absent = JoinPath(scratch.path(), "absent");
  for (const WrongUse& use : uses) {
    std::vector<std::string> arguments = use.arguments;
    std::replace(arguments.begin(), arguments.end(), std::string("DIR"), absent);
    Command program("sextant", "A program.");
    AddCommands(program);
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    const int code = RunProgram(program, arguments);
    const std::string err = testing::internal::GetCapturedStderr();
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << testing::PrintToString(arguments);
    EXPECT_EQ(code, kExitUsage) << testing::PrintToString(arguments) << err;
    EXPECT_NE(err.find(use.words), std::string::npos) << use.words << " is not in: " << err;
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_LT(err.size(), 2000u) << err;
    EXPECT_FALSE(FileSystem::ForPath(absent).Exists(absent)) << testing::PrintToString(arguments);
  }
}

// `sextant train MODEL --model_dir DIR FLAG VALUE`.
WrongUse Train(const std::string& model, const std::string& flag, const std::string& value,
               const std::string& words) {
  return {{"train", model, "--model_dir", "DIR", flag, value}, words};
}

TEST(OptionValuesTest, RefusesWrongParametersOfModels) {
  ExpectRefused({
      Train("linear", "--train_steps", "0", "--train_steps must be at least 1"),
      Train("linear", "--train_steps", "-5", "at least 1 and at most 9007199254740992, not -5"),
      Train("linear", "--train_steps", "1e3", "'1e3' is not"),
      Train("linear", "--train_steps", "", "--train_steps is empty"),
      Train("linear", "--optimizer", "", "--optimizer is empty; leave it out for its default"),
      Train("wide_deep", "--linear_optimizer", "", "--linear_optimizer is empty"),
      Train("dnn", "--hidden_units", "", "--hidden_units is empty"),
      Train("linear", "--train_steps", "9223372036854775808", "is not"),
      Train("linear", "--eval_steps", "-1", "--eval_steps must be at least 0"),
      Train("linear", "--train_batch_size", "0", "--train_batch_size must be at least 1"),
      Train("linear", "--train_batch_size", "1000000000", "at most 16777216, not 1000000000"),
      Train("linear", "--train_batch_size", "9223372036854775807", "at most 16777216"),
      Train("linear", "--eval_batch_size", "0", "--eval_batch_size must be at least 1"),
      Train("linear", "--eval_batch_size", "-9223372036854775808", "must be at least 1"),
      Train("linear", "--shuffle_buffer", "0", "--shuffle_buffer must be at least 1"),
      Train("linear", "--num_epochs", "-1", "--num_epochs must be at least 0"),
      Train("linear", "--learning_rate", "nan", "--learning_rate must be at least 0, not nan"),
      Train("linear", "--learning_rate", "1e39",
            "--learning_rate must be a number that a float holds, not 1e+39"),
      Train("linear", "--learning_rate", "-0.1", "--learning_rate must be at least 0, not -0.1"),
      Train("linear", "--optimizer", "Adm", "did you mean Adam?"),
      Train("dnn", "--scale_factor", "nan", "--scale_factor must be greater than 0"),
      Train("dnn", "--scale_factor", "inf", "--scale_factor must be greater than 0"),
      Train("dnn", "--scale_factor", "0", "--scale_factor must be greater than 0"),
      Train("dnn", "--scale_factor", "1000", "scale_factor 1000 makes hidden layer 3"),
      Train("dnn", "--first_layer_size", "0", "--first_layer_size must be at least 1"),
      Train("dnn", "--first_layer_size", "99999999999", "at most 1048576, not 99999999999"),
      Train("dnn", "--num_layers", "0", "--num_layers must be at least 1"),
      Train("dnn", "--hidden_units", "10,0", "every number of --hidden_units must be at least 1"),
      Train("dnn", "--hidden_units", "10,x", "'x' is not"),
      Train("dnn", "--embedding_size", "0", "--embedding_size must be at least 1"),
      Train("dnn", "--dropout", "1", "--dropout must be at least 0 and less than 1, not 1"),
      Train("dnn", "--dropout", "-0.5", "--dropout must be at least 0 and less than 1"),
      Train("dnn", "--activation", "rleu", "did you mean relu?"),
      Train("dnn", "--batch_norm", "maybe", "'maybe' is not"),
      Train("mnist", "--dropout", "2", "--dropout must be at least 0 and less than 1"),
      Train("cifar10_resnet", "--num_layers", "45", "6 n + 2 layers, 45 is none"),
      Train("cifar10_resnet", "--data_format", "channel_last", "did you mean channels_last?"),
      Train("cifar10_resnet", "--momentum", "-1", "--momentum must be at least 0 and at most 1"),
      Train("cifar10_resnet", "--num_workers", "0", "--num_workers must be at least 1"),
      Train("cifar10_resnet", "--train_batch_size", "50000", "more than the 45000 images"),
  });
}

TEST(OptionValuesTest, RefusesWrongFlagsOfTrain) {
  ExpectRefused({
      Train("linear", "--save_checkpoints_secs", "-1", "must be a number from 0 to"),
      Train("linear", "--save_checkpoints_secs", "nan", "must be a number from 0 to"),
      Train("linear", "--save_checkpoints_steps", "-1", "an integer of at least 0, not '-1'"),
      Train("linear", "--throttle_secs", "inf", "must be a number from 0 to"),
      Train("linear", "--throttle_steps", "-2", "an integer of at least 0, not '-2'"),
      Train("linear", "--reduction", "foo", "must be one_device, tree or ring, not 'foo'"),
      Train("linear", "--reduction", "rign", "did you mean ring?"),
      Train("linear", "--input_sharding", "some", "must be leases, fixed or none, not 'some'"),
      Train("linear", "--schedule", "training", "must be train_and_evaluate or train"),
      Train("linear", "--exporter", "bset", "did you mean best?"),
      Train("linear", "--export_format", "cvs", "did you mean csv?"),
      Train("linear", "--verbosity", "warning", "did you mean warn?"),
      Train("linear", "--export_name", "..", "--export_name must be a name for a directory"),
      Train("linear", "--export_name", "a/b", "--export_name must be a name for a directory"),
      Train("linear", "--export_name", ".", "--export_name must be a name for a directory"),
      Train("linear", "--eval_name", "../x", "--eval_name must be a name for a directory"),
      Train("linear", "--eval_name", "a\nb", "--eval_name must be a name for a directory"),
      Train("linear", "--eval_name", std::string(31000, 'x'), "must be a name for a directory"),
      Train("linear", "--seed", "-2", "--seed must be an integer of at least -1"),
      Train("linear", "--seed", "99999999999999999999", "--seed must be an integer"),
      Train("linear", "--threads", "4097", "--threads must be an integer from 0 to 4096"),
      Train("linear", "--num_devices", "0", "--num_devices must be an integer from 1 to 256"),
      Train("linear", "--num_devices", "3", "train_batch_size 40 is no multiple of the 3 devices"),
      Train("linear", "--save_summary_steps", "x", "must be an integer of at least 0, not 'x'"),
      Train("linear", "--keep_checkpoint_max", "-1", "must be an integer from 0 to"),
      Train("linear", "--log_step_count_steps", "0", "must be an integer of at least 1"),
      {{"train", "linear", "--model_dir", ""}, "--model_dir is empty; leave it out"},
      {Words("train linear --model_dir DIR --save_checkpoints_secs 5 --save_checkpoints_steps 5"),
       "exclude each other"},
  });
}

TEST(OptionValuesTest, RefusesWrongFlagsOfOtherCommands) {
  ExpectRefused({
      {Words("eval --model_dir DIR --eval_steps -1"), "--eval_steps must be an integer"},
      {Words("eval --model_dir DIR --name ../x"), "--name must be a name for a directory"},
      {Words("eval --model_dir="), "--model_dir has no value"},
      {{"eval", "--model_dir", ""}, "--model_dir is empty"},
      {Words("predict x.csv --model DIR --batch 0"), "--batch must be an integer from 1 to"},
      {Words("predict x.csv --model DIR --format cvs"), "did you mean csv?"},
      {Words("predict x.csv --model DIR --output jsn"), "did you mean json?"},
      {Words("inspect DIR --limit -1"), "--limit must be an integer of at least 0"},
      {Words("inspect DIR --limit 1e2"), "--limit must be an integer"},
      {Words("data mnist --out DIR --train -1"), "--train must be an integer from 0 to"},
      {Words("data census --out DIR --synthetic --test 9223372036854775807"),
       "--test must be an integer from 0 to"},
      {Words("data census --out DIR --seed 1.5"), "--seed must be an integer, not '1.5'"},
      {Words("data census --out DIR --synthetic --from x"), "exclude each other"},
      {Words("data verify"), "FILE"},
  });
}

TEST(OptionValuesTest, RefusesEmptyTextOfEveryCommand) {
  const std::string leave = " is empty; give it a value or leave it out";
  const auto with = [](const std::string& line, const std::string& flag) {
    std::vector<std::string> words = Words(line);
    words.insert(words.end(), {flag, ""});
    return words;
  };
  std::vector<WrongUse> uses = {
      {{"inspect", ""}, "PATH is empty; give it a value"},
      {{"predict", "--model", "DIR", ""}, "FILE is empty; give it a value or leave it out"},
      {{"data", "verify", ""}, "FILE is empty; give it a value"},
      {{"export", "--model_dir", "DIR", "--out", ""}, "--out is empty; give it a value"},
      {{"train", "linear", "--config", ""}, "--config is empty; give it a file"},
  };
  for (const char* flag :
       {"--data", "--warm_start_from", "--train_files", "--eval_files", "--export_name"}) {
    uses.push_back(Train("linear", flag, "", flag + leave));
  }
  for (const char* flag : {"--data", "--name", "--checkpoint", "--eval_files", "--model_name"}) {
    uses.push_back({with("eval --model_dir DIR", flag), flag + leave});
  }
  for (const char* flag : {"--out", "--keys", "--signature_def", "--default"}) {
    uses.push_back({with("predict x.csv --model DIR", flag), flag + leave});
  }
  for (const char* flag : {"--tensor", "--images", "--graph"}) {
    uses.push_back({with("inspect DIR", flag), flag + leave});
  }
  for (const char* flag : {"--from", "--url"}) {
    uses.push_back({with("data census --out DIR", flag), flag + leave});
  }
  uses.push_back({with("saved-model scan --dir DIR", "--op_denylist"), "--op_denylist" + leave});
  uses.push_back({{"launch", "--chief", "--log_dir", "", "--", "true"}, "--log_dir" + leave});
  ExpectRefused(uses);
}

TEST(OptionValuesTest, NamesTheNearest) {
  ExpectRefused({
      {Words("trian linear"), "there is no command trian; did you mean train?"},
      {Words("train wide"), "there is no model wide; did you mean wide_deep?"},
      {Words("train lnear"), "there is no model lnear; did you mean linear?"},
      {Words("train --model_dir DIR linear"), "name a model before --model_dir"},
      {Words("data cifar"), "there is no command cifar; did you mean cifar10?"},
      {Words("saved-model shwo"), "there is no command shwo; did you mean show?"},
      {Words("train linear --trian_steps 5"),
       "there is no flag --trian_steps; did you mean --train_steps?"},
      {Words("train linear --trainsteps=5"), "did you mean --train_steps?"},
      {Words("devices --jsno"), "there is no flag --jsno; did you mean --json?"},
      {Words("inspect DIR --tensors x"), "did you mean --tensor?"},
      {Words("saved-model show --dri DIR"), "did you mean --dir?"},
      {Words("devices -q"), "there is no flag -q"},
      {Words("devices x"), "there is one argument too many: x"},
      {Words("devices -- x"), "there is one argument too many: x"},
      {Words("devices --json=maybe"), "a flag is true or false"},
  });
}

}  // namespace
}  // namespace sextant::cli

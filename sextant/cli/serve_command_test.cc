// `sextant serve` as a program: what it refuses, and how it ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "sextant/base/child_process.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"

namespace sextant::cli {
namespace {

constexpr char kSextant[] = SEXTANT_BINARY_DIR "/bin/sextant";

TEST(ServeCommandTest, RefusesWhatHoldsNoModel) {
  const TemporaryDirectory directory;
  const std::string file = JoinPath(directory.path(), "model.pb");
  std::ofstream(file) << "x";
  const auto expect = [](const std::vector<std::string>& words, const std::string& part) {
    std::vector<std::string> all = {kSextant, "serve", "--port", "0", "--rest_api_port", "1"};
    all.insert(all.end(), words.begin(), words.end());
    const ProcessResult result = RunProcess({.arguments = all}, "", std::chrono::seconds(60));
    EXPECT_EQ(result.status.code, 2) << result.error;
    EXPECT_NE(result.error.find(part), std::string::npos) << result.error;
  };
  expect({"--model_base_path", file}, file + " is a file; give a directory");
  expect({"--model_base_path", directory.path(), "--saved_model_tags", ""},
         "--saved_model_tags names no tag");
  expect({"--model_base_path", directory.path(), "--token_file", ""}, "--token_file is empty");
  // The flags that TensorFlow Serving takes empty do not count.
  expect({"--model_config_file", "", "--ssl_config_file", "", "--batching_parameters_file", "",
          "--monitoring_config_file", "", "--grpc_socket_path", "", "--grpc_channel_arguments", "",
          "--model_base_path", ""},
         "give --model_base_path DIR, or --model_config_file FILE");
}

TEST(ServeCommandTest, EndsWithTheSignalWhileItWaitsForItsFiles) {
  const TemporaryDirectory directory;
  const std::string pipe = JoinPath(directory.path(), "config");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ChildProcess child({.arguments = {kSextant, "serve", "--port", "0", "--rest_api_port", "1",
                                    "--model_config_file", pipe},
                      .error = Stream::kNull});
  const int writer = open(pipe.c_str(), O_WRONLY);  // until it reads
  child.Signal(SIGTERM);
  EXPECT_EQ(child.Wait().code, 143);
  close(writer);
}

}  // namespace
}  // namespace sextant::cli

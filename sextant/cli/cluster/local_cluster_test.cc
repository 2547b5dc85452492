#include "sextant/cli/cluster/local_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

class LocalClusterTest : public testing::Test {
 protected:
  // Runs a script of sh, in which $type and $index are those of the task.
  int Run(LocalClusterOptions options, const std::string& script) {
    options.program = {
        "/bin/sh", "-c",
        "type=${TF_CONFIG##*type\\\":\\\"}; type=${type%%\\\"*};"
        "index=${TF_CONFIG##*index\\\":}; index=${index%%,*}; index=${index%%\\}*};" +
            script};
    options.restart_delay = milliseconds(1);
    std::ostringstream out;
    const int code = LocalCluster(options).Run(out);
    std::istringstream in(out.str());
    lines_.clear();
    for (std::string line; std::getline(in, line);) {
      const size_t bar = line.find(" | ");
      lines_[line.substr(0, bar)].push_back(line.substr(bar + 3));
    }
    return code;
  }

  TemporaryDirectory folder_;
  std::map<std::string, std::vector<std::string>> lines_;
};

TEST_F(LocalClusterTest, TellsEveryTaskItsPlace) {
  EXPECT_EQ(
      Run({.workers = 2, .ps = 1, .evaluators = 1, .chief = true, .log_dir = folder_.path()},
          "echo $TF_CONFIG; echo $SEXTANT_THREADS; cat $SEXTANT_TOKEN_FILE; echo; echo e >&2"),
      0);
  ASSERT_EQ(lines_.size(), 5u);
  std::set<std::string> addresses;
  for (const auto& [task, lines] : lines_) {
    ASSERT_EQ(lines.size(), 4u) << task;
    const Json config = Json::parse(lines[0]);
    EXPECT_EQ(config["task"]["type"].get<std::string>() + " " +
                  std::to_string(config["task"]["index"].get<int>()),
              task);
    EXPECT_EQ(config["cluster"].size(), 3u);
    EXPECT_EQ(config["cluster"]["worker"].size(), 2u);
    for (const auto& job : config["cluster"]) {
      for (const auto& address : job) addresses.insert(address);
    }
    EXPECT_GE(std::stoi(lines[1]), 1);
    EXPECT_EQ(lines[2].size(), 64u);
    EXPECT_EQ(lines[2], lines_["ps 0"][2]);
    EXPECT_EQ(lines[3], "e");
  }
  EXPECT_EQ(addresses.size(), 4u);
  EXPECT_EQ(FileSystem::ForPath(folder_.path()).ReadFile(JoinPath(folder_.path(), "worker-1.log")),
            lines_["worker 1"][0] + "\n" + lines_["worker 1"][1] + "\n" + lines_["worker 1"][2] +
                "\ne\n");
}

TEST_F(LocalClusterTest, EndsWithTheExitCodeOfTheChief) {
  EXPECT_EQ(Run({.workers = 2, .chief = true}, "[ $type = chief ] && exit 3; exit 0"), 3);
  EXPECT_EQ(lines_["chief 0"], std::vector<std::string>{"(exit code 3)"});
  EXPECT_EQ(Run({.workers = 2, .chief = true}, "[ $type = chief ] && exit 0; exit 3"), 0);
  EXPECT_EQ(Run({.workers = 2}, "exit $((4 - index))"), 4);  // worker 0 is the chief
}

TEST_F(LocalClusterTest, StartsTasksAgain) {
  const std::string mark = JoinPath(folder_.path(), "mark");
  const std::string once = "[ -e " + mark + "$type ] && exit 0; touch " + mark + "$type; exit ";
  EXPECT_EQ(Run({.workers = 1, .chief = true, .restart = RestartPolicy::kOnFailure}, once + "7"),
            0);
  EXPECT_EQ(lines_["chief 0"], std::vector<std::string>{"(exit code 7; is started again)"});
  const std::string retry = JoinPath(folder_.path(), "retry");
  EXPECT_EQ(Run({.workers = 1, .restart = RestartPolicy::kExitCode},
                "[ -e " + retry + " ] && exit 7; touch " + retry + "; exit 138"),
            7);
  EXPECT_EQ(Run({.workers = 1, .restart = RestartPolicy::kOnFailure, .max_restarts = 2}, "exit 9"),
            9);
  EXPECT_EQ(lines_["worker 0"].size(), 3u);
}

TEST_F(LocalClusterTest, MakesStragglersEnd) {
  EXPECT_EQ(Run({.ps = 1,
                 .evaluators = 1,
                 .chief = true,
                 .grace = milliseconds(100),
                 .kill_grace = milliseconds(100)},
                "[ $type = chief ] && exit 0; [ $type = ps ] && trap '' TERM;"
                "while :; do read x < /dev/zero; done"),
            0);
  EXPECT_EQ(lines_["evaluator 0"].front(), "(still runs: is sent SIGTERM)");
  EXPECT_EQ(lines_["evaluator 0"].back(), "(signal 15 (Terminated))");
  EXPECT_EQ(lines_["ps 0"].back(), "(signal 9 (Killed))");
}

TEST_F(LocalClusterTest, RefusesWhatIsNoCluster) {
  const auto message = [](LocalClusterOptions options) -> std::string {
    try {
      LocalCluster cluster(options);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  const std::vector<std::string> program = {"true"};
  EXPECT_EQ(message({.ps = 1, .program = program}),
            "nobody would train; add a chief, a master or workers");
  EXPECT_EQ(message({.chief = true, .master = true, .program = program}),
            "a cluster has a chief or a master, not both");
  EXPECT_EQ(message({.evaluators = 1, .master = true, .program = program}),
            "a master evaluates itself; name it chief to have evaluators");
  EXPECT_EQ(message({.chief = true}), "there is no program to run; give it after --");
  std::ostringstream out;
  EXPECT_THROW(LocalCluster({.chief = true, .program = {"/no/such/program"}}).Run(out), Error);
}

}  // namespace
}  // namespace sextant::cli

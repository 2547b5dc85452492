// The configurations are those that the platforms set; see the table of task_config.h.
#include "sextant/dist/task_config.h"

#include <gtest/gtest.h>

#include <map>

#include "sextant/base/error.h"
#include "sextant/dist/task.h"

namespace sextant::dist {
namespace {

struct Expected {
  const char* type;
  int index;
  bool is_chief, local;
  std::optional<int> rank;
  int num_replicas, num_ps;
  const char* address;
};

void Expect(const std::string& name, const Task& task, const Expected& expected) {
  SCOPED_TRACE(name);
  EXPECT_EQ(task.type, expected.type);
  EXPECT_EQ(task.index, expected.index);
  EXPECT_EQ(task.is_chief, expected.is_chief);
  EXPECT_EQ(task.local(), expected.local);
  EXPECT_EQ(task.rank, expected.rank);
  EXPECT_EQ(task.num_replicas, expected.num_replicas);
  EXPECT_EQ(task.num_ps, expected.num_ps);
  EXPECT_EQ(task.address, expected.address);
  EXPECT_FALSE(task.cluster.contains("evaluator"));
}

struct Row {
  const char* name;
  std::string tf_config;
  Expected expected;
};

std::string Kubeflow(const std::string& cluster, const std::string& type, int index,
                     const std::string& rest = R"(,"environment":"cloud")") {
  return R"({"cluster":{)" + cluster + R"(},"task":{"type":")" + type + R"(","index":)" +
         std::to_string(index) + "}" + rest + "}";
}

const std::string kChief = R"("chief":["j-chief-0.ns.svc:2222"],)";
const std::string kMaster = R"("master":["j-master-0.ns.svc:2222"],)";
const std::string kEvaluator = R"("evaluator":["j-evaluator-0.ns.svc:2222"],)";
const std::string kPs = R"("ps":["j-ps-0.ns.svc:2223","j-ps-1.ns.svc:2223"],)";
const std::string kWorkers = R"("worker":["j-worker-0.ns.svc:2222","j-worker-1.ns.svc:2222"])";

std::vector<Row> Rows() {
  const std::string whole = kChief + kEvaluator + kPs + kWorkers;
  return {
      {"Kubeflow, chief",
       Kubeflow(whole, "chief", 0),
       {"chief", 0, true, false, 0, 3, 2, "j-chief-0.ns.svc:2222"}},
      {"Kubeflow, worker",
       Kubeflow(whole, "worker", 1),
       {"worker", 1, false, false, 2, 3, 2, "j-worker-1.ns.svc:2222"}},
      {"Kubeflow, ps",
       Kubeflow(whole, "ps", 1),
       {"ps", 1, false, false, std::nullopt, 3, 2, "j-ps-1.ns.svc:2223"}},
      {"Kubeflow, evaluator listed",
       Kubeflow(whole, "evaluator", 0),
       {"evaluator", 0, false, false, std::nullopt, 0, 0, ""}},
      {"Kubeflow before 1.0.1, evaluator not listed",
       Kubeflow(kChief + kPs + kWorkers, "evaluator", 1),
       {"evaluator", 1, false, false, std::nullopt, 0, 0, ""}},
      {"Kubeflow, master",
       Kubeflow(kMaster + kPs + kWorkers, "master", 0),
       {"master", 0, true, false, 0, 3, 2, "j-master-0.ns.svc:2222"}},
      {"Kubeflow, worker 0 is the chief",
       Kubeflow(kPs + kWorkers, "worker", 0),
       {"worker", 0, true, false, 0, 2, 2, "j-worker-0.ns.svc:2222"}},
      {"Kubeflow, worker 1 beside it",
       Kubeflow(kPs + kWorkers, "worker", 1),
       {"worker", 1, false, false, 1, 2, 2, "j-worker-1.ns.svc:2222"}},
      {"Kubeflow dynamic, worker",
       Kubeflow(R"("worker":{"3":"j-worker-3.ns.svc:2222"},)" + kPs.substr(0, kPs.size() - 1),
                "worker", 3, ""),
       {"worker", 3, false, false, 3, 4, 2, "j-worker-3.ns.svc:2222"}},
      {"Kubeflow dynamic, ps beyond its list",
       Kubeflow(R"("worker":{},"ps":["j-ps-2.ns.svc:2222"])", "ps", 2, ""),
       {"ps", 2, false, false, std::nullopt, 0, 3, "j-ps-2.ns.svc:2222"}},
      {"Kubeflow dynamic, chief",
       Kubeflow(R"("worker":{},"ps":[])", "chief", 0, ""),
       {"chief", 0, true, false, 0, 1, 0, "0.0.0.0:2222"}},
      {"Kubeflow dynamic, evaluator",
       Kubeflow(R"("worker":{},"ps":[])", "evaluator", 0, ""),
       {"evaluator", 0, false, false, std::nullopt, 0, 0, ""}},
      {"Kubeflow dynamic before 2023",
       R"({"sparseCluster":{"worker":{"1":"w1:2222"},"ps":["p0:2222"]},"task":{"type":"worker","index":1}})",
       {"worker", 1, false, false, 1, 2, 1, "w1:2222"}},
      {"ML Engine",
       R"({"cluster":{"master":["cmle-training-master-7-0:2222"],"ps":["cmle-training-ps-7-0:2222"],"worker":["cmle-training-worker-7-0:2222"]},"task":{"type":"worker","index":0,"trial":"1","cloud":"7"},"job":{"scaleTier":"CUSTOM","args":["--x"]},"environment":"cloud"})",
       {"worker", 0, false, false, 1, 2, 1, "cmle-training-worker-7-0:2222"}},
      {"ML Engine, one machine",
       R"({"cluster":{"chief":["cmle-training-chief-7-0:2222"]},"task":{"type":"chief","index":0},"job":{},"environment":"cloud"})",
       {"chief", 0, true, true, 0, 1, 0, "cmle-training-chief-7-0:2222"}},
      {"SageMaker parameter servers",
       R"({"cluster":{"master":["algo-1:2222"],"worker":["algo-2:2222"],"ps":["algo-1:2223","algo-2:2223"]},"task":{"type":"ps","index":1},"environment":"cloud"})",
       {"ps", 1, false, false, std::nullopt, 2, 2, "algo-2:2223"}},
      {"SageMaker workers alone",
       R"({"cluster":{"worker":["algo-1:8890","algo-2:8890"]},"task":{"type":"worker","index":1},"environment":"cloud"})",
       {"worker", 1, false, false, 1, 2, 0, "algo-2:8890"}},
      {"TonY, an evaluator's own copy",
       R"({"cluster":{"evaluator":["e:1"]},"task":{"type":"evaluator","index":0}})",
       {"evaluator", 0, false, false, std::nullopt, 0, 0, ""}},
      {"by hand: text index, empty address, upper case",
       R"({"cluster":{"Chief":["a:1"],"PS":["b:1",""],"Worker":["c:1"]},"task":{"type":"Worker","index":"0"},"rpc_layer":"grpc"})",
       {"worker", 0, false, false, 1, 2, 1, "c:1"}},
      {"by hand: one worker",
       R"({"cluster":{"worker":["a:1"]},"task":{"type":"worker","index":0}})",
       {"worker", 0, true, true, 0, 1, 0, "a:1"}},
  };
}

TEST(TaskConfigTest, KnowsWhatPlatformsSet) {
  for (const Row& row : Rows()) Expect(row.name, TaskFromTfConfig(row.tf_config), row.expected);
}

using Environment = std::map<std::string, std::string>;

TaskConfig Find(const Environment& environment) {
  const auto config = FindTaskConfig([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
  if (!config) throw NotFound("no cluster");
  return *config;
}

TEST(TaskConfigTest, ReadsVertexPools) {
  const TaskConfig config = Find(
      {{"CLUSTER_SPEC",
        R"({"cluster":{"workerpool0":["cmle-training-workerpool0-9-0:2222"],"workerpool1":["w1-0:2222","w1-1:2222"],"workerpool2":["w2-0:2222"],"workerpool3":["w3-0:2222"]},"environment":"cloud","task":{"type":"workerpool1","index":1},"job":"{}","open_ports":[3333]})"}});
  EXPECT_EQ(config.type, "worker");
  EXPECT_EQ(config.index, 1);
  EXPECT_EQ(config.cluster, (ClusterSpec{{"chief", {"cmle-training-workerpool0-9-0:2222"}},
                                         {"evaluator", {"w3-0:2222"}},
                                         {"ps", {"w2-0:2222"}},
                                         {"worker", {"w1-0:2222", "w1-1:2222"}}}));
}

TEST(TaskConfigTest, ReadsTonyAndTrainJobs) {
  const TaskConfig tony = Find({{"CLUSTER_SPEC", R"({"chief":["a:1"],"worker":["b:1","c:1"]})"},
                                {"JOB_NAME", "worker"},
                                {"TASK_INDEX", "1"}});
  EXPECT_EQ(tony.type, "worker");
  EXPECT_EQ(tony.index, 1);
  EXPECT_EQ(tony.cluster.at("worker")[1], "c:1");

  const TaskConfig job = Find({{"PET_NNODES", "3"},
                               {"PET_NODE_RANK", "2"},
                               {"PET_MASTER_ADDR", "mnist-node-0-0.mnist"},
                               {"PET_MASTER_PORT", "29500"}});
  EXPECT_EQ(job.type, "worker");
  EXPECT_EQ(job.index, 1);
  EXPECT_EQ(
      job.cluster,
      (ClusterSpec{{"chief", {"mnist-node-0-0.mnist:29500"}},
                   {"worker", {"mnist-node-0-1.mnist:29500", "mnist-node-0-2.mnist:29500"}}}));
  EXPECT_THROW(Find({}), Error);
  // TF_CONFIG is first.
  EXPECT_EQ(Find({{"TF_CONFIG", "{}"}, {"PET_NNODES", "x"}}).source, "TF_CONFIG");
}

void ExpectError(const Environment& environment, const std::string& part) {
  try {
    Find(environment);
    ADD_FAILURE() << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(TaskConfigTest, SaysWhatIsWrong) {
  const auto cluster = [](const std::string& text) {
    return Environment{{"TF_CONFIG", R"({"cluster":)" + text + "}"}};
  };
  ExpectError(cluster(R"({"worker":["a"]})"), "job \"worker\" of the cluster of TF_CONFIG: ");
  ExpectError(cluster(R"({"worker":["a:x"]})"), "job \"worker\"");
  ExpectError(cluster(R"({"worker":["a:70000"]})"), "job \"worker\"");
  ExpectError(cluster(R"({"worker":["a:1"],"ps":["a:1"]})"),
              "ps 0 and worker 0 of the cluster of TF_CONFIG have the same address a:1");
  ExpectError(cluster(R"({"worker":["a:1"],"Worker":["b:1"]})"), "the job \"worker\" twice");
  ExpectError(cluster(R"({"worker":{"x":"a:1"}})"), "must be an object like");
  ExpectError(cluster(R"({"worker":{"-1":"a:1"}})"), "must be an object like");
  ExpectError(cluster(R"({"worker":{"999999999":"a:1"}})"), "must be an object like");
  ExpectError(cluster(R"({"worker":{"0":7}})"), "must be an object like");
  ExpectError({{"TF_CONFIG", R"({"task":{"index":99999999999}})"}}, "the task index of TF_CONFIG");
  ExpectError({{"CLUSTER_SPEC", "worker"}}, "CLUSTER_SPEC must be a JSON object");
  ExpectError({{"CLUSTER_SPEC", R"({"worker":["b:1"]})"}, {"JOB_NAME", "worker"}}, "TASK_INDEX");
  ExpectError({{"PET_NNODES", "1:4"}}, "PET_NNODES must be an integer");
  ExpectError({{"PET_NNODES", "2"}, {"PET_NODE_RANK", "2"}}, "PET_NODE_RANK 2 is out of range");
  ExpectError({{"PET_NNODES", "2"},
               {"PET_NODE_RANK", "1"},
               {"PET_MASTER_ADDR", "10.0.0.1"},
               {"PET_MASTER_PORT", "1"}},
              "set TF_CONFIG");
}

}  // namespace
}  // namespace sextant::dist

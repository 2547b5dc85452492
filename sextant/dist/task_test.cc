#include "sextant/dist/task.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

TEST(TaskTest, IsLocalWithoutAnything) {
  for (const char* text : {"{}", R"({"cluster": {}, "task": {}})",
                           R"({"cluster": {}, "task": {"type": "worker", "index": 0}})",
                           R"({"cluster": null, "job": {"args": []}, "service": null})"}) {
    const Task task = TaskFromTfConfig(text);
    EXPECT_TRUE(task.local()) << text;
    EXPECT_EQ(task.type, "worker");
    EXPECT_EQ(task.index, 0);
    EXPECT_EQ(task.master, "");
    EXPECT_EQ(task.environment, "local");
    EXPECT_EQ(task.num_ps, 0);
    EXPECT_EQ(task.num_workers, 1);
    EXPECT_TRUE(task.is_chief);
    EXPECT_EQ(task.global_id, 0);
  }
}

TEST(TaskTest, TakesMastersOfSessionsWhenLocal) {
  const Task task = TaskFromTfConfig(
      R"({"session_master": "grpc://a:1", "eval_session_master": "grpc://b:2", "model_dir": "runs"})");
  EXPECT_EQ(task.master, "grpc://a:1");
  EXPECT_EQ(task.evaluation_master, "grpc://b:2");
  EXPECT_EQ(task.model_dir, "runs");
}

// The configurations that the CIFAR-10 tutorial of 2017 prints for its three hosts.
Task OfTutorial(const std::string& type) {
  return TaskFromTfConfig(R"({"cluster": {"master": ["master-ip:8000"], "ps": ["ps-ip:8000"],
                                          "worker": ["worker-ip:8000"]},
                              "task": {"type": ")" +
                          type +
                          R"(", "index": 0},
                              "model_dir": "gs://path/model_dir", "environment": "cloud"})");
}

TEST(TaskTest, IsAsPrintedForTheTutorialsCluster) {
  for (const std::string type : {"master", "worker", "ps"}) {
    const Task task = OfTutorial(type);
    EXPECT_EQ(task.type, type);
    EXPECT_EQ(task.index, 0);
    EXPECT_EQ(task.num_ps, 1);
    EXPECT_EQ(task.num_workers, 1);
    EXPECT_EQ(task.environment, "cloud");
    EXPECT_EQ(task.is_chief, type == "master");
    EXPECT_EQ(task.model_dir, "gs://path/model_dir");
    EXPECT_EQ(task.evaluation_master, "");
    EXPECT_EQ(task.master, "grpc://" + type + "-ip:8000");
  }
}

TEST(TaskTest, GoesByTheRulesOf2017WhereWorkersAreChief) {
  const Task task = TaskFromTfConfig(
      R"({"cluster": {"ps": ["p:1"], "worker": ["a:1", "b:1"]}, "environment": "local",
          "task": {"type": "worker"}})");
  EXPECT_TRUE(task.is_chief);
  EXPECT_EQ(task.num_workers, 2);
  EXPECT_EQ(task.master, "grpc://a:1");
}

constexpr char kCluster[] = R"({"cluster": {"chief": ["c:1"], "ps": ["p:1", "p:2"],
                                            "worker": ["w:1", "w:2", "w:3"]}, "task": )";

Task OfCluster(const std::string& task) { return TaskFromTfConfig(kCluster + task + "}"); }

TEST(TaskTest, NumbersAllTasksChiefFirstServersLast) {
  EXPECT_EQ(OfCluster(R"({"type": "chief", "index": 0})").global_id, 0);
  EXPECT_EQ(OfCluster(R"({"type": "worker", "index": 0})").global_id, 1);
  EXPECT_EQ(OfCluster(R"({"type": "worker", "index": "2"})").global_id, 3);
  EXPECT_EQ(OfCluster(R"({"type": "ps", "index": 1})").global_id, 5);
}

TEST(TaskTest, CountsTheChiefAsAWorker) {
  const Task worker = OfCluster(R"({"type": "worker", "index": 1})");
  EXPECT_EQ(worker.num_workers, 4);
  EXPECT_EQ(worker.num_ps, 2);
  EXPECT_FALSE(worker.is_chief);
  EXPECT_FALSE(worker.local());
  EXPECT_EQ(worker.master, "grpc://w:2");
  EXPECT_TRUE(OfCluster(R"({"type": "chief", "index": 0})").is_chief);
  // "environment" does not change that where there is a chief, nor "google" where there is none.
  const Task google = TaskFromTfConfig(
      R"({"cluster": {"master": ["m:1"], "worker": ["w:1"]}, "environment": "google",
          "task": {"type": "worker", "index": 0}})");
  EXPECT_EQ(google.num_workers, 2);
}

TEST(TaskTest, TakesNoClusterForAnEvaluator) {
  const Task task = OfCluster(R"({"type": "evaluator", "index": 0})");
  EXPECT_TRUE(task.cluster.empty());
  EXPECT_FALSE(task.local());
  EXPECT_EQ(task.master, "");
  EXPECT_EQ(task.num_workers, 0);
  EXPECT_EQ(task.num_ps, 0);
  EXPECT_FALSE(task.is_chief);
  EXPECT_FALSE(task.global_id.has_value());
}

TEST(TaskTest, HasNoMasterWhenItIsTheWholeCluster) {
  const Task task =
      TaskFromTfConfig(R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief", "index": 0}})");
  EXPECT_EQ(task.master, "");
  EXPECT_TRUE(task.is_chief);
}

void ExpectError(const std::string& text, const std::string& part) {
  try {
    TaskFromTfConfig(text);
    ADD_FAILURE() << text;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
  }
}

TEST(TaskTest, SaysWhatIsWrong) {
  ExpectError("", "must be a JSON object");
  ExpectError("[1]", "must be a JSON object");
  ExpectError(R"({"cluster": ["a:1"]})", "\"cluster\" of TF_CONFIG must be a JSON object");
  ExpectError(R"({"cluster": {"chief": "a:1"}})", "job \"chief\"");
  ExpectError(R"({"cluster": {"chief": [7]}})", "must be a list of addresses");
  ExpectError(R"({"task": {"type": "ps", "index": 0}})", "but no cluster");
  ExpectError(R"({"task": {"type": "worker", "index": 1}})", "but no cluster");
  ExpectError(R"({"model_dir": ""})", "\"model_dir\" of TF_CONFIG is empty");
  ExpectError(R"({"service": 3})", "\"service\"");
  const std::string cluster = kCluster;
  ExpectError(cluster + "{}}", "no task type");
  ExpectError(cluster + R"({"type": "worker"}})", "no task index");
  ExpectError(cluster + R"({"type": "worker", "index": -1}})", "at least 0, not -1");
  ExpectError(cluster + R"({"type": "worker", "index": "x"}})", "not \"x\"");
  ExpectError(cluster + R"({"type": "worker", "index": 3}})", "task index 3");
  ExpectError(cluster + R"({"type": "master", "index": 0}})", "not a job of its cluster");
  ExpectError(R"({"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}})",
              "exactly one \"chief\"");
  ExpectError(R"({"cluster": {"chief": ["a:1", "b:1"]}, "task": {"type": "chief", "index": 0}})",
              "has the jobs chief (2)");
  ExpectError(
      R"({"cluster": {"chief": ["a:1"], "master": ["b:1"]}, "task": {"type": "chief", "index": 0}})",
      "both a \"chief\" and a \"master\"");
  ExpectError(R"({"cluster": {"master": ["a:1"]}, "task": {"type": "evaluator", "index": 0}})",
              "evaluates there");
}

TEST(TaskTest, ReadsTheEnvironment) {
  unsetenv("TF_CONFIG");
  EXPECT_TRUE(TaskFromEnvironment().local());
  setenv("TF_CONFIG", R"({"cluster": {"chief": ["c:1"]}, "task": {"type": "chief", "index": 0}})",
         1);
  EXPECT_EQ(TaskFromEnvironment().type, "chief");
  unsetenv("TF_CONFIG");
}

}  // namespace
}  // namespace sextant::dist

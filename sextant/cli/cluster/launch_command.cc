#include "sextant/cli/cluster/launch_command.h"

#include <iostream>
#include <memory>

#include "sextant/cli/cluster/local_cluster.h"

namespace sextant::cli {
namespace {

constexpr int64_t kMostTasks = 1000;

struct LaunchFlags {
  int64_t workers = 0, ps = 0, evaluators = 0, grace = 30;
  bool chief = false, master = false;
  std::string restart = "never", log_dir;
  std::vector<std::string> program;
};

LocalClusterOptions OptionsOf(const LaunchFlags& flags) {
  return {.workers = static_cast<int>(flags.workers),
          .ps = static_cast<int>(flags.ps),
          .evaluators = static_cast<int>(flags.evaluators),
          .chief = flags.chief,
          .master = flags.master,
          .program = flags.program,
          .restart = flags.restart == "on-failure"  ? RestartPolicy::kOnFailure
                     : flags.restart == "exit-code" ? RestartPolicy::kExitCode
                                                    : RestartPolicy::kNever,
          .log_dir = flags.log_dir,
          .grace = std::chrono::seconds(flags.grace)};
}

}  // namespace

void AddLaunchCommand(Command& program) {
  auto flags = std::make_shared<LaunchFlags>();
  auto cluster = std::make_shared<std::unique_ptr<LocalCluster>>();
  Command& launch = program.AddCommand(
      "launch", "Runs a program as the tasks of a cluster on this machine.",
      "sextant launch --chief --workers 2 --ps 1 --evaluators 1 -- sextant train wide_deep ...");
  launch.AddOption("--workers N", &flags->workers, "tasks that train", 0, kMostTasks);
  launch.AddOption("--ps N", &flags->ps, "parameter servers", 0, kMostTasks);
  launch.AddOption("--evaluators N", &flags->evaluators, "tasks that evaluate checkpoints", 0,
                   kMostTasks);
  launch.AddFlag("--chief", &flags->chief, "with a chief beside the workers");
  launch.AddFlag("--master", &flags->master, "with a master, which also evaluates");
  launch.AddChoice("--restart POLICY", &flags->restart, {"never", "on-failure", "exit-code"},
                   "when to start a task again; exit-code: after 128 and more");
  launch.AddOption("--log_dir DIR", &flags->log_dir, "a file there for each task's output");
  launch.AddOption("--grace SECONDS", &flags->grace,
                   "for the others to end when the chief has ended", 0, 86400);
  launch.AddArgument("PROGRAM", &flags->program, "after --: what to run, with its arguments");
  launch.AllowEmpty({"PROGRAM"});  // among its arguments
  launch.OutliveOutput();
  launch.OnCheck([=] { *cluster = std::make_unique<LocalCluster>(OptionsOf(*flags)); });
  launch.OnRun([=] { return (*cluster)->Run(std::cout); });
}

}  // namespace sextant::cli

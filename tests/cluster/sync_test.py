"""`sextant train --sync` as a cluster: steps are counted exactly, every role ends by itself, and two deterministic runs give the same bits."""
import json
import re

from program_testing import Programs, check

programs = Programs()
programs.run("sextant", "data", "census", "--synthetic", "--train", 400, "--test", 100, "--out", "data")


def train(model_dir, *flags):
    process = programs.process("sextant", "launch", "--chief", "--workers", 1, "--ps", 2, "--grace", 30, "--", programs.bin / "sextant", "train",
                               "wide_deep", "--data", "data", "--train_steps", 30, "--schedule", "train", "--save_checkpoints_steps", 10,
                               "--seed", 1, "--verbosity", "info", "--model_dir", model_dir, "--sync", *flags)
    said = process.stdout + process.stderr
    check(process.returncode == 0, said)
    check("still runs" not in said and "(exit" not in said, "every task ends by itself, with 0: " + said)
    state = programs.path(model_dir, "checkpoint").read_text()
    check('model_checkpoint_path: "model.ckpt-30"' in state, "the global step is exact: " + state)
    return said


said = train("backups", "--replicas_to_aggregate", 1)
check("SyncReplicasV2: replicas_to_aggregate=1; total_num_replicas=2" in said, said)
for run in "first", "second":
    said = train(run, "--deterministic")
    check(len(re.findall("SyncReplicasV2: replicas_to_aggregate=2; total_num_replicas=2", said)) == 2, "chief and worker say it: " + said)


def variables(model_dir):
    tensors = json.loads(programs.run("sextant", "inspect", programs.path(model_dir, "model.ckpt-30"), "--json"))["tensors"]
    return {name: tensor["sha256"] for name, tensor in tensors.items() if "sha256" in tensor}


check(len(variables("first")) > 10 and variables("first") == variables("second"), "two deterministic runs give the same bits")

"""`sextant train wide_deep` as a cluster: every role ends by itself, one process writes, the evaluator has the last word."""
import json
import re

from program_testing import Programs, check

programs = Programs()
programs.run("sextant", "data", "census", "--synthetic", "--train", 400, "--test", 100, "--out", "data")
train = ["--", programs.bin / "sextant", "train", "wide_deep", "--data", "data", "--train_steps", 60, "--save_checkpoints_steps", 20,
         "--throttle_secs", 0, "--eval_steps", 2, "--seed", 1, "--verbosity", "info"]

process = programs.process("sextant", "launch", "--chief", "--workers", 2, "--ps", 2, "--evaluators", 1, "--grace", 30, *train,
                           "--model_dir", "runs")
said = process.stdout + process.stderr
check(process.returncode == 0, said)
check("still runs" not in said and "(exit" not in said, "every task ends by itself, with 0: " + said)

done = json.loads(programs.path("runs", "DONE").read_text())
last = int(re.search(r'model_checkpoint_path: "model.ckpt-(\d+)"', programs.path("runs", "checkpoint").read_text()).group(1))
check(60 <= last <= 62, "three tasks overshoot by 2 at most: %d" % last)
check(str(last) in json.dumps(done), "DONE is of the last checkpoint: %r" % done)
check(re.search(r"evaluator 0 \| runs is at step %d\." % last, said), "the evaluator evaluates the last checkpoint: " + said)
check(len(list(programs.path("runs").glob("events.out.tfevents.*"))) == 1, "only the chief writes events")
check(len(list(programs.path("runs", "export", "census").iterdir())) == 1, "one final export")
check("ps 0 |" in said and not re.search(r"ps \d \| .*Calling model_fn", said), "servers call no model function")
check(len(set(re.findall(r"on 2 parameter servers, bytes: ([\d, ]+)", said))) == 1, "all place the variables alike")

# Who is started again when all is over has nothing to do.
again = programs.process("sextant", "launch", "--chief", "--workers", 1, "--ps", 1, "--grace", 10, *train, "--model_dir", "runs")
check(again.returncode == 0 and "has ended: there is nothing to do for chief 0" in again.stdout, again.stdout + again.stderr)

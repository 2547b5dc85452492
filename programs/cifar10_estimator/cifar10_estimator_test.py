"""cifar10_estimator: the converter, trainings on a few made-up images, start-up checks and bad input."""
import json
import os
import re
import socket
import subprocess

from program_testing import Programs, check, events, fields, near, records

programs = Programs()

# The converter takes the authors' files where they are.
folder = programs.path("authors", "cifar-10-batches-bin")
folder.mkdir(parents=True)
for number, name in enumerate(["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"]):
    folder.joinpath(name + ".bin").write_bytes(b"".join(bytes([label]) + bytes([number * 10 + label]) * 3072 for label in range(3)))
out = programs.run("generate_cifar10_tfrecords", "--data-dir=authors")
check(out == "Generating authors/train.tfrecords\nGenerating authors/validation.tfrecords\nGenerating authors/eval.tfrecords\nDone!\n",
      "what the converter prints: " + out)
labels, pixels = [], []
for split, count in ("train", 12), ("validation", 3), ("eval", 3):
    found = list(records(programs.path("authors", split + ".tfrecords")))
    check(len(found) == count, "%s has %d records, not %d" % (split, len(found), count))
    for record in found:
        example = {}
        for _, feature in fields(dict(fields(record))[1]):
            entry = dict(fields(feature))
            example[entry[1].decode()] = dict(fields(entry[2]))
        pixels.append(dict(fields(example["image"][1]))[1])
        value = dict(fields(example["label"][3])).get(1, 0)
        labels.append(value[0] if isinstance(value, bytes) and value else value or 0)
check([p[0] for p in pixels] == [n * 10 + label for n in range(6) for label in range(3)], "the images are in the authors' order")
check(all(len(p) == 3072 for p in pixels) and labels == [0, 1, 2] * 6, "every record has an image and its label: %s" % labels)
check("data_batch_2.bin has 5 bytes" in (folder.joinpath("data_batch_2.bin").write_bytes(b"12345") and
                                         programs.refusal("generate_cifar10_tfrecords", "--data_dir=authors")), "a damaged file is named")

programs.run("sextant", "data", "cifar10", "--synthetic", "--train", 96, "--validation", 1, "--eval", 40, "--out", "data")

SHAPES = re.compile(r"image after unit (resnet/tower_\d/\S+): (\(.*\))")


def train(*flags, code=0, env=None):
    process = programs.process("cifar10_main", "--eval-batch-size=1000", "--num-layers=8", "--train-batch-size=8", "--seed=1", *flags, env=env)
    check(process.returncode == code, "cifar10_main %s ended with %d: %s" % (flags, process.returncode, process.stderr))
    return process.stdout, process.stderr


# Dashed flags: an Experiment, on the CPU.
out, log = train("--data-dir=data", "--job-dir=cpu", "--num-gpus=0", "--train-steps=12", "--sync")
lines = SHAPES.findall(log)
check(len(lines) == 2 * (3 + 2 + 2), "7 lines of shapes at each build, not %d" % (len(lines) / 2))  # n is 1 in 8 layers
check(lines[0] == ("resnet/tower_0/stage/residual_v1/", "(?, 32, 32, 16)"), "the first shape line: %s" % (lines[0],))
check(("resnet/tower_0/stage_1/residual_v1/avg_pool/", "(?, 16, 16, 16)") in lines and
      ("resnet/tower_0/fully_connected/", "(?, 11)") in lines, "pools and the head are logged")
check("SyncReplicasV2: replicas_to_aggregate=1; total_num_replicas=1" in log, "--sync is logged")
check(re.search(r"Average examples/sec: \S+ \(\S+\), step = 10", log), "examples/sec is logged")
check(re.search(r"loss = [0-9.]+, learning_rate = 0\.1", log), "loss and learning_rate are logged")
check(re.search(r"Saving dict for global step 12: accuracy = \S+, global_step = 12, loss = \S+", log), "the evaluation is logged")


def outcome(log):
    """Losses at the start and the end, and the evaluation."""
    return re.findall(r"loss = [0-9.]+, step = \d+|Loss for final step: [0-9.]+|Saving dict for global step .*", log)


check(len(outcome(log)) == 3, "first and final loss and metrics are logged: %s" % outcome(log))
again = [outcome(train("--data-dir=data", "--job-dir=again%d" % run, "--num-gpus=0", "--train-steps=12")[1]) for run in range(2)]
check(again[0] == again[1], "the same seed gives the same losses and metrics: %s" % again)
check(again[0] == outcome(log), "--sync with one replica changes nothing: %s, with it %s" % (again[0], outcome(log)))


def log_until(end, *flags):
    """What a run that is stopped then logs up to a line."""
    process = subprocess.Popen([programs.bin / "cifar10_main", "--data-dir=data", "--num-gpus=0", "--seed=1", *flags], cwd=programs.directory,
                               text=True, stderr=subprocess.PIPE)
    lines = []
    for line in process.stderr:
        lines.append(line)
        if end in line:
            break
    process.kill()
    process.communicate()
    return "".join(lines)


# All 44 layers: 25 lines of shapes at a build, as the documents print them (theirs have channels first).
shown = SHAPES.findall(log_until("Done calling model_fn", "--job-dir=deep"))
stages = []
for stage, channels, size in ("stage", 16, 32), ("stage_1", 32, 16), ("stage_2", 64, 8):
    if stage != "stage":
        stages.append((stage + "/residual_v1/avg_pool/", "(?, %d, %d, %d)" % (size, size, channels // 2)))
    stages += [("%s/residual_v1%s/" % (stage, "_%d" % unit if unit else ""), "(?, %d, %d, %d)" % (size, size, channels)) for unit in range(7)]
stages += [("global_avg_pool/", "(?, 64)"), ("fully_connected/", "(?, 11)")]
check(len(stages) == 25 and shown == [("resnet/tower_0/" + scope, shape) for scope, shape in stages], "25 lines of shapes: %s" % shown)

# Losses and rates every 100 steps, with the time since the last; examples/sec every 10.
log_of_201 = log_until("Starting evaluation", "--job-dir=hundreds", "--num-layers=8", "--train-batch-size=1", "--eval-batch-size=1000", "--train-steps=201")
for form in r"loss = \S+, learning_rate = 0\.1", r"loss = \S+, step = \d+":
    lines = re.findall(form + r"( \([0-9.]+ sec\))?\n", log_of_201)
    check([bool(time) for time in lines] == [False, True, True], "%s at steps 0, 100 and 200: %s" % (form, log_of_201[-2000:]))
check(re.findall(r"loss = \S+, step = (\d+)", log_of_201) == ["0", "100", "200"], "the steps of the losses")
steps = [int(step) for step in re.findall(r"Average examples/sec: \S+ \(\S+\), step = (\d+)", log_of_201)]
check(steps == list(range(10, 201, 10)), "examples/sec every 10 steps: %s" % steps)

tags = {tag for _, values, _ in events(programs.path("cpu")) for tag in values}
variables = ["resnet/conv2d%s/kernel" % s for s in ["", "_1", "_2", "_3", "_4", "_5", "_6"]]
variables += ["resnet/BatchNorm%s/%s" % (s, v) for s in ["", "_1", "_2", "_3", "_4", "_5", "_6"] for v in ("beta", "gamma")]
variables += ["resnet/dense/kernel", "resnet/dense/bias"]
expected = {"loss", "learning_rate", "images/image/0", "images/image/1", "images/image/2"} | {v + "/gradients" for v in variables}
check(tags - {"", "global_step/sec"} == expected, "tags: %s" % (tags ^ expected))

# Underscored flags: train, evaluate, print; GPUs that are not there are replaced, with one warning. Two towers on host devices.
out, log = train("--data_dir=data", "--model_dir=soft", "--num_gpus=2", "--train_steps=1", "--is_cpu_ps=True", "--sync", "True", "--num_workers=2")
check(re.fullmatch(r"Starting to train\.\.\.\nStarting to evaluate\.\.\.\n\{'accuracy': \S+, 'global_step': 1, 'loss': \S+\}\n", out), "what is printed: " + out)
if "GPUs are asked for" in log:
    check(log.count("GPUs are asked for and this machine has none") == 1, "one warning")
check(("resnet/tower_1/stage/residual_v1/", "(?, 16, 32, 32)") in SHAPES.findall(log), "channels come first with GPUs")
check("replicas_to_aggregate=2; total_num_replicas=2" in log, "--sync logs the number of workers")
_, log = train("--data-dir=data", "--job-dir=two", "--num-gpus=2", "--tower-device=CPU", "--train-steps=1", "--variable-strategy=GPU", "--crop-24")
check(("resnet/tower_1/stage/residual_v1/", "(?, 24, 24, 16)") in SHAPES.findall(log), "both towers are built, for crops of 24x24")
check("Saving dict for global step 1" in log, "they are evaluated")
log = log_until("Done calling model_fn", "--job-dir=seven", "--num-workers=7", "--sync")
check("replicas_to_aggregate=7; total_num_replicas=7" in log, "--num-workers counts with dashes, too: " + log)

# Start-up checks and bad input: one sentence, nothing written.
usual = ["--data-dir=data", "--job-dir=refused"]
for flags, words in [(["--num-gpus=-1"], "--num-gpus must be 0 or a positive number, not -1"),
                     (["--num-gpus=0", "--variable-strategy=GPU"], "the CPU must hold the variables"),
                     (["--num-gpus=0", "--num-layers=45"], "6 n + 2"),
                     (["--num-gpus=3", "--tower-device=CPU"], "--train-batch-size 128 must be a multiple of --num-gpus 3"),
                     (["--num-gpus=3", "--tower-device=CPU", "--train-batch-size=9"], "--eval-batch-size 100 must be a multiple of --num-gpus 3"),
                     (["--num-gpus=0", "--eval-batch-size=300"], "--eval-batch-size 300 must divide the 10000 images"),
                     (["--num-gpus=0", "--num-layers=2000000"], "at most 6002 layers"),
                     (["--num-gpus=0", "--num-workers=%d" % 2 ** 60], "more than the 45000 images"),
                     (["--num-gpus=0", "--train-batch-size=50000"], "more than the 45000 images")]:
    said = programs.refusal("cifar10_main", *usual, *flags)
    check(words in said, "%s: %r" % (flags, said))
check(programs.refusal("cifar10_main") == "Please supply a data_dir", "no data_dir")
check(programs.refusal("cifar10_main", "--data-dir=data", "--num-gpus=0") == "--job-dir is required: the folder of checkpoints and events", "no job-dir")
check("--job-dir is required" in programs.refusal("cifar10_main", "--data-dir=data", "--job-dir=", "--num-gpus=0"), "an empty job-dir")
for flag, words in [("--learning-rate=-0.1", "--learning_rate must be at least 0, not -0.1"), ("--learning-rate=nan", "--learning_rate must be a number, not nan"),
                    ("--learning-rate=inf", "--learning_rate must be at most"), ("--momentum=-1", "--momentum must be at least 0"),
                    ("--weight-decay=nan", "--weight_decay must be a number"), ("--batch-norm-decay=1", "--batch_norm_decay must be at most 0.999999999, not 1"),
                    ("--learning-rate=1e300", "--learning_rate must be at most 3.4"), ("--batch-norm-epsilon=1e300", "--batch_norm_epsilon must be at most 3.4"),
                    ("--batch-norm-decay=-0.1", "--batch_norm_decay must be at least 0"), ("--batch-norm-epsilon=-1", "--batch_norm_epsilon must be at least 0"),
                    ("--num-intra-threads=-1", "--num_intra_threads must be at least 0")]:
    said = programs.refusal("cifar10_main", *usual, flag, code=2)
    check(words in said, "%s: %r" % (flag, said))
help_text = programs.run("cifar10_main", "--help")
check("with underscored flags 1 unless given (default: 0)" in help_text and
      "channels_last unless given where towers are on the CPU (channels_first or channels_last; default: channels_first)" in help_text, "defaults: " + help_text)
process = programs.process("cifar10_main", "--data-dir=nowhere", "--job-dir=refused", "--num-gpus=0")
check(process.returncode == 1 and "nowhere/train.tfrecords" in process.stderr.splitlines()[-1], "a folder without data: " + process.stderr)
check("--data-dri" in programs.refusal("cifar10_main", "--data-dri=data", code=2), "an unknown flag")
check("TPU" in programs.refusal("cifar10_main", *usual, "--tower-device=TPU", code=2), "an unknown kind of device")
check(not programs.path("refused").exists() or not list(programs.path("refused").iterdir()), "nothing is written by a refused run")
for split, words in ("train", "holds no images"), ("eval", "holds no images"), ("eval", "no such file"):
    half = programs.path("half_%s_%s" % (split, words.split()[0]))
    half.mkdir()
    for name in "train", "eval":
        half.joinpath(name + ".tfrecords").write_bytes(b"" if name == split else programs.path("data", name + ".tfrecords").read_bytes())
    if "file" in words:
        half.joinpath(split + ".tfrecords").unlink()
    # Before the training, also where the evaluation comes after it.
    said = programs.refusal("cifar10_main", "--data_dir=" + half.name, "--model_dir=refused", "--num_gpus=0")
    check(said.startswith("%s/%s.tfrecords" % (half.name, split)) and words in said, said)
    check(not programs.path("refused").exists(), "nothing is written")
damaged = bytearray(programs.path("data", "train.tfrecords").read_bytes())
damaged[len(damaged) // 2] ^= 1
programs.path("damaged").mkdir()
programs.path("damaged", "train.tfrecords").write_bytes(damaged)
programs.path("damaged", "eval.tfrecords").write_bytes(programs.path("data", "eval.tfrecords").read_bytes())
process = programs.process("cifar10_main", "--data-dir=damaged", "--job-dir=damaged_run", "--num-gpus=0", "--num-layers=8", "--train-steps=40", "--train-batch-size=8")
check(process.returncode == 1 and "damaged/train.tfrecords" in process.stderr.splitlines()[-1], "a damaged record is named: " + process.stderr[-300:])

# Of a training that has ended the same command says so, and evaluates it again.
log = train("--data-dir=data", "--job-dir=again0", "--num-gpus=0", "--train-steps=12")[1]
check("INFO:tensorflow:Skipping training since max_steps has already saved." in log, "it says that nothing is left to do: " + log)
check(outcome(log) == again[0][1:2], "the same metrics: %s %s" % (outcome(log), again[0]))

# What waits for devices: towers on two GPUs.
process = programs.process("cifar10_main", "--data-dir=data", "--job-dir=gpus", "--num-gpus=2", "--train-steps=1", "--num-layers=8",
                           "--train-batch-size=8", "--eval-batch-size=1000", "--log-device-placement")
if process.returncode:
    check(process.stderr.splitlines() == ["cifar10_main: 2 GPUs are asked for and this machine has none; use --num-gpus=0, or --tower-device=CPU for "
                                          "towers on /cpu:0, /cpu:1, …"], "GPUs that are not there are an error: " + process.stderr)
    print("SKIPPED: towers on two GPUs: this machine has none")
else:
    check(re.search(r"resnet/tower_1/\S+: \(Conv2D\): \S*GPU:1", process.stderr), "tower 1 is on /gpu:1")

# What waits for clusters: the documents' master, worker and ps on this machine.
sockets = [socket.socket() for _ in range(3)]
for s in sockets:
    s.bind(("localhost", 0))
addresses = ["localhost:%d" % s.getsockname()[1] for s in sockets]
for s in sockets:
    s.close()
cluster = dict(zip(("master", "ps", "worker"), ([address] for address in addresses)))
flags = ["--data_dir=data", "--model_dir=cluster", "--is_cpu_ps=True", "--force_gpu_compatible=True", "--num_gpus=0", "--train_steps=4", "--sync=True",
         "--run_experiment=True", "--num_workers=2", "--num_layers=8", "--train_batch_size=8", "--eval_batch_size=1000"]


def task(kind):
    # The document's ps is given no more than this.
    given = ["--run_experiment=True", "--model_dir=cluster"] if kind == "ps" else flags
    config = {"cluster": cluster, "task": {"type": kind, "index": 0}, "model_dir": "cluster", "environment": "cloud"}
    return subprocess.Popen([programs.bin / "cifar10_main", *given], cwd=programs.directory, text=True, stderr=subprocess.PIPE,
                            env={**os.environ, "TF_CONFIG": json.dumps(config)})


tasks = {"master": task("master")}
try:
    tasks["master"].wait(timeout=3)
except subprocess.TimeoutExpired:
    tasks.update({kind: task(kind) for kind in ("ps", "worker")})
logs = {}
try:
    for kind in tasks:
        if kind != "ps" or tasks["master"].returncode == 0:
            logs[kind] = tasks[kind].communicate(timeout=120)[1]
finally:
    for process in tasks.values():
        process.kill()
log = logs["master"]
if len(tasks) == 1 and "not run" in log:
    print("SKIPPED: master, worker and ps: " + log.splitlines()[-1])
else:
    check(tasks["master"].returncode == 0 and "Saving dict for global step" in log, "the master trains and evaluates: " + log[-600:])
    check("SyncReplicasV2: replicas_to_aggregate=2; total_num_replicas=2" in logs["worker"], "the worker is one of two replicas")
    for kind in "worker", "ps":
        check(tasks[kind].returncode == 0, "the %s ends with the training: %s" % (kind, logs[kind][-600:]))
print("ok")

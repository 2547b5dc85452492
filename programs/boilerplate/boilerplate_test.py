"""boilerplate: every model with every data set, by name; its modes, records, directories and refusals. Synthetic images."""
import json
import re
import signal
import subprocess

from program_testing import Programs, check, near

programs = Programs()
DATA = {"CIFAR10": "data/cifar10", "MNIST": "data/mnist"}
programs.run("sextant", "data", "cifar10", "--synthetic", "--train", 60, "--validation", 20, "--test", 10, "--out", DATA["CIFAR10"])
programs.run("sextant", "data", "mnist", "--synthetic", "--train", 60, "--validation", 20, "--test", 10, "--out", DATA["MNIST"])


def supervise(mode, model, dataset, *more, **options):
    return programs.run("supervisor", mode, "--model", model, "--dataset", dataset, "--seed", 1, *more, **options)


def results(out):
    """The dictionaries behind "Validation results:"."""
    return [eval(text) for text in re.findall(r"\nValidation results:\n(\{.*\})\n", out)]


# Four pairs. 60 examples in batches of 20 are 3 steps an epoch; two epochs, evaluated after each.
for model in ("Simple", "ResNet"):
    for dataset in ("CIFAR10", "MNIST"):
        job = "jobs/%s_%s" % (model, dataset)
        seen = results(supervise("train_and_eval", model, dataset, "-te", 2, "-bs", 20, "--model_dir", job))
        check([r["global_step"] for r in seen] == [3, 6], "two rounds of three steps: %s" % seen)
        check(all(set(r) == {"accuracy", "global_step", "loss"} for r in seen), "accuracy and loss: %s" % seen)

# The Simple net of CIFAR-10 has the original's 4,259,274 numbers, and its names.
text = programs.run("sextant", "inspect", programs.path("jobs/Simple_CIFAR10/model.ckpt-6"))
sizes = {"conv2d/kernel": (5, 5, 3, 32), "conv2d/bias": (32,), "conv2d_1/kernel": (5, 5, 32, 64), "conv2d_1/bias": (64,),
         "dense/kernel": (4096, 1024), "dense/bias": (1024,), "dense_1/kernel": (1024, 10), "dense_1/bias": (10,)}
found = {}
for name, shape in sizes.items():
    match = re.search(r"(?m)^\s*%s\s+float32\s+\[([0-9, ]+)\]" % re.escape(name), text)
    check(match, "the checkpoint has %s:\n%s" % (name, text))
    found[name] = tuple(int(d) for d in match.group(1).replace(" ", "").split(","))
check(found == sizes, "shapes: %s" % found)
total = 0
for shape in found.values():
    count = 1
    for d in shape:
        count *= d
    total += count
check(total == 4259274, "4,259,274 numbers, not %d" % total)

# Without model_dir: checkpoints/<time>, as the document's tree.
small = ["--use_synthetic_data", "-te", 1, "-bs", 64]
supervise("train_and_eval", "Simple", "MNIST", *small)
runs = list(programs.path("checkpoints").iterdir())
check(len(runs) == 1 and re.fullmatch(r"\d{4}-\d\d-\d\d-\d\d_\d\d_\d\d", runs[0].name), "checkpoints/<time>: %s" % runs)
names = {re.sub(r"tfevents\..*", "tfevents", p.name) for p in runs[0].iterdir()}
wanted = {"checkpoint", "eval", "events.out.tfevents", "graph.pbtxt"} | {
    "model.ckpt-%d.%s" % (n, end) for n in (0, 8) for end in ("data-00000-of-00001", "index", "meta")}
check(wanted <= names, "%s is not all in %s" % (wanted, names))
first = supervise("train_and_eval", "Simple", "MNIST", *small)
check(len(list(programs.path("checkpoints").iterdir())) == 2, "a run that has ended is not gone on with")
learned = results(first)[0]
check(learned["accuracy"] > 0.2, "something is learned from synthetic images: %s" % learned)

# eval and export take the newest run, or the one that is named.
again = results(supervise("eval", "Simple", "MNIST", "--use_synthetic_data", "-bs", 64))
check(again == [learned], "eval gives what the training's last evaluation gave: %s %s" % (again, learned))
out = supervise("export", "Simple", "CIFAR10", "--model_dir", "jobs/Simple_CIFAR10", "--export_dir", "exported")
folder = re.search(r"Exported to (.*)", out).group(1)
shown = programs.run("sextant", "saved-model", "show", "--dir", folder, "--tag", "serve")
check(re.findall(r'SignatureDef key: "(.*)"', shown) == ["classify", "serving_default"], shown)

# train does not evaluate; hooks in any letters; records in files.
out = supervise("train", "Simple", "MNIST", *small[:1], "-te", 4, "-bs", 8, "--model_dir", "jobs/logged", "--hooks", "examplespersecondhook",
                "LoggingMetricHook", "PROFILERHOOK", "--benchmark_logger_type", "BenchmarkFileLogger", "-bld", "records", "-bti", "night",
                env={"TF_SYNC_ON_FINISH": "0"})
check(not results(out) and not programs.path("jobs/logged/eval").exists(), "train only trains")
metrics = [json.loads(line) for line in programs.path("records/metric.log").read_text().splitlines()]
check([m["name"] for m in metrics] == ["average_examples_per_sec", "current_examples_per_sec"] * 2 +
      ["learning_rate", "cross_entropy", "train_accuracy"], "throughput twice in 256 steps, then tensors: %s" % metrics)
for metric in metrics:
    check(set(metric) == {"name", "value", "unit", "global_step", "timestamp", "extras"}, "fields of a metric: %s" % metric)
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", metric["timestamp"]), metric["timestamp"])
by_name = {m["name"]: m["value"] for m in metrics}
near(by_name["learning_rate"], 1e-4, 1e-9, "the learning rate of Adam")
check(0 <= by_name["train_accuracy"] <= 1 and by_name["average_examples_per_sec"] > 0, by_name)
run = json.loads(programs.path("records/benchmark_run.log").read_text())
check(set(run) == {"model_name", "dataset", "machine_config", "test_id", "run_date", "tensorflow_version", "tensorflow_environment_variables",
                   "run_parameters", "status"}, "fields of a run: %s" % set(run))
check(run["status"] == "success" and run["test_id"] == "night" and run["dataset"] == {"name": "MNIST"}, run)
check({"name": "TF_SYNC_ON_FINISH", "value": "0"} in run["tensorflow_environment_variables"], run)
check({"name": "batch_size", "long_value": 8} in run["run_parameters"], run)
check({"name": "use_synthetic_data", "bool_value": "True"} in run["run_parameters"], run)
check(run["machine_config"]["cpu_info"]["num_cores"] > 0 and run["machine_config"]["memory_total"] > 0, run)

# Hooks as a list with commas.
out = supervise("train", "Simple", "MNIST", *small, "--model_dir", "jobs/commas", "--hooks", "LoggingMetricHook,profilerhook",
                "--benchmark_logger_type", "BenchmarkFileLogger", "-bld", "commas")
metrics = [json.loads(line)["name"] for line in programs.path("commas/metric.log").read_text().splitlines()]
check(metrics == ["learning_rate", "cross_entropy", "train_accuracy"] and list(programs.path("jobs/commas").glob("timeline-*.json")), "both hooks: %s" % metrics)

# Ends: a good accuracy, a number of steps. A training may export at its end.
seen = results(supervise("train_and_eval", "Simple", "CIFAR10", "-te", 3, "-bs", 20, "--stop_threshold", 0.0001, "--model_dir", "jobs/good"))
check([r["global_step"] for r in seen] in ([3], [3, 6], [3, 6, 9]), seen)
stop = [r["accuracy"] >= 0.0001 for r in seen]
check(not any(stop[:-1]) and (stop[-1] or len(seen) == 3), "it ends with the first round that is good: %s" % seen)
seen = results(supervise("train_and_eval", "Simple", "MNIST", "--use_synthetic_data", "-te", 3, "-bs", 64, "-st", 0.15, "--model_dir", "jobs/better"))
check(len(seen) == 1 and seen[0]["accuracy"] >= 0.15, "one round of three is enough: %s" % seen)
seen = results(supervise("train_and_eval", "Simple", "CIFAR10", "-te", 4, "-bs", 20, "--max_train_steps", 5, "--model_dir", "jobs/five",
                         "--export_dir", "jobs/five_exported"))
check([r["global_step"] for r in seen] == [3, 5], "five steps, the last round cut off: %s" % seen)
exported, = programs.path("jobs/five_exported").iterdir()
shown = programs.run("sextant", "saved-model", "show", "--dir", exported, "--tag", "serve")
check(re.findall(r'SignatureDef key: "(.*)"', shown) == ["classify", "serving_default"], shown)

# One device or none: the CPU without a GPU. Exports name no device.
graph = programs.path("jobs/five/graph.pbtxt").read_text()
gpus = "GPU" in programs.run("sextant", "devices").upper()
device = re.search(r'name: "conv2d/Conv2D"\n\s+op: "Conv2D"(?:\n\s+input: .*)*\n\s+device: "(.*)"', graph)
check(device and device.group(1).upper().endswith("GPU:0" if gpus else "CPU:0"), "the model is on one device: %s" % (device and device.group(1)))
check(("devices that share a batch; 0: the CPU; -1: all there are (default: %d)" % gpus) in programs.run("supervisor", "--help"), "the default of --num_gpus")
if not gpus:
    said = programs.refusal("supervisor", "train", "--model", "Simple", "--dataset", "CIFAR10", "-ng", 1)
    check(said == "1 GPUs are asked for, 0 are there; use --num_gpus 0, or --device_type CPU", said)

# Several host devices: the same batch, shared.
shared = results(supervise("train_and_eval", "Simple", "CIFAR10", "-te", 1, "-bs", 20, "-ng", 2, "--device_type", "CPU", "--model_dir", "jobs/two"))
check(shared[0]["global_step"] == 3, "three steps of 20 images on two devices: %s" % shared)

# Killed, the same command goes on where it was, and ends at the same step.
command = [programs.bin / "supervisor", "train_and_eval", "--model", "Simple", "--dataset", "CIFAR10", "--seed", "1", "-te", "4", "-bs", "20"]
killed = subprocess.Popen(command, cwd=programs.directory, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
for line in killed.stdout:
    if "'global_step': 6" in line:
        break
killed.send_signal(signal.SIGKILL)
killed.communicate()
before = set(programs.path("checkpoints").iterdir())
rest = subprocess.run(command, cwd=programs.directory, capture_output=True, text=True)
check(rest.returncode == 0, rest.stderr)
check(set(programs.path("checkpoints").iterdir()) == before, "it goes on in the same directory")
steps = [r["global_step"] for r in results(rest.stdout)]
check(steps[-1] == 12 and steps[0] >= 9, "the rounds that were done are not done again: %s" % steps)
whole = results(supervise("train_and_eval", "Simple", "CIFAR10", "-te", 4, "-bs", 20, "--model_dir", "jobs/whole"))
check(whole[-1] == results(rest.stdout)[-1], "it ends as one that was not killed: %s %s" % (whole[-1], results(rest.stdout)[-1]))

# Killed in an evaluation, which a training without evaluations looks like: that is made again, also the last one, and only once.
mnist = ["Simple", "MNIST", "-bs", 20, "--model_dir", "jobs/unevaluated"]
supervise("train", *mnist, "-te", 1)
check([r["global_step"] for r in results(supervise("train_and_eval", *mnist, "-te", 2))] == [3, 6], "the round that was not evaluated comes first")
supervise("train", *mnist, "-te", 3)
check([r["global_step"] for r in results(supervise("train_and_eval", *mnist, "-te", 3))] == [9], "the last evaluation is made up for")
check(results(supervise("train_and_eval", *mnist, "-te", 3)) == [], "no evaluation is made twice")

# Bad input: one sentence.
pair = ["--model", "Simple", "--dataset", "MNIST"]
said = programs.refusal("supervisor", *pair, code=2)
check(said == "MODE is required: train_and_eval, train, eval or export", said)
said = programs.refusal("supervisor", "predict", *pair, code=2)
check(said == "MODE must be train_and_eval, train, eval or export, not 'predict'", said)
said = programs.refusal("supervisor", "train", "--model", "Simpel", "--dataset", "MNIST", code=2)
check("--model must be ResNet or Simple, not 'Simpel'" in said, said)
said = programs.refusal("supervisor", "train", "--model", "Simple", "--dataset", "SVHN", code=2)
check("--dataset must be CIFAR10 or MNIST, not 'SVHN'" in said, said)
said = programs.refusal("supervisor", "train", *pair, "-te", 2 * 10 ** 9, code=2)
check(said == "--train_epochs must be at most 1000000000, not 2000000000", said)
said = programs.refusal("supervisor", "train", *pair, "--hooks", "LogHook")
check(said == "there is no hook 'LogHook'; there are ExamplesPerSecondHook, LoggingMetricHook, LoggingTensorHook, ProfilerHook", said)
said = programs.refusal("supervisor", "train", *pair, "--data_dir", "nowhere")
check("nowhere/train.tfrecords: no such file; make it with `sextant data mnist" in said, said)
for split, words in ("train", "holds no examples"), ("validation", "holds no examples"), ("validation", "no such file"):
    half = programs.path("half_%s_%s" % (split, words.split()[0]))
    half.mkdir()
    for name in "train", "validation":
        half.joinpath(name + ".tfrecords").write_bytes(b"" if name == split else programs.path(DATA["MNIST"], name + ".tfrecords").read_bytes())
    if "file" in words:
        half.joinpath(split + ".tfrecords").unlink()
    said = programs.refusal("supervisor", "train_and_eval", *pair, "--data_dir", half.name, "--model_dir", "refused")
    check(said.startswith("%s/%s.tfrecords" % (half.name, split)) and words in said, "said before the training: " + said)
    check(not programs.path("refused").exists(), "nothing is written")
programs.path("a_file").touch()
process = programs.process("supervisor", "train", *pair, "--data_dir", DATA["MNIST"], "--model_dir", "jobs/unexported", "--export_dir", "a_file/exported")
check(process.returncode == 1 and process.stderr == "supervisor: a_file/exported: cannot create directory: Not a directory\n",
      "a folder that cannot be is told before the training: " + process.stderr)
before = programs.path("jobs/Simple_MNIST/run_parameters.json").read_text()
said = programs.refusal("supervisor", "train", "--model", "ResNet", "--dataset", "MNIST", "--data_dir", DATA["MNIST"], "--model_dir", "jobs/Simple_MNIST")
check(said == "jobs/Simple_MNIST holds a training of Simple on MNIST; choose another --model_dir, or delete it with --clean" and
      programs.path("jobs/Simple_MNIST/run_parameters.json").read_text() == before, "the training of another model is left alone: " + said)
said = programs.refusal("supervisor", "train", *pair, "--data_dir", DATA["MNIST"], "--model_dir", "refused", "--benchmark_logger_type", "BenchmarkFileLogger",
                        "--benchmark_log_dir", "/dev/null/logs")
check("/dev/null/logs" in said and not programs.path("refused").exists(), "nothing is written before the logger is there: " + said)
said = programs.refusal("supervisor", "train", *pair, "-bs", 9, "-ng", 2, "--device_type", "CPU")
check(said == "--batch_size 9 is no multiple of the 2 devices; try 8", said)
said = programs.refusal("supervisor", "train", *pair, "--train_epochs", 1, "-ebe", 2)
check("--epochs_between_evals" in said, said)
said = programs.refusal("supervisor", "train", *pair, "--benchmark_logger_type", "BenchmarkFileLogger")
check(said == "BenchmarkFileLogger needs --benchmark_log_dir", said)
said = programs.refusal("supervisor", "export", *pair)
check(said == "export needs --export_dir", said)
programs.path("precious").mkdir()
programs.path("precious/letter.txt").write_text("dear")
CLEAN = "%s holds '%s', which no run makes, and --clean would delete it; move it, or choose another --model_dir"
said = programs.refusal("supervisor", "train", *pair, "--clean", "--model_dir", "precious", "--data_dir", DATA["MNIST"])
check(said == CLEAN % ("precious", "letter.txt"), said)

# --clean deletes what runs wrote, in the folders of evaluations and exports too, and nothing else.
everything = ["--use_synthetic_data", "-te", 1, "-bs", 128, "--model_dir", "jobs/clean", "--export_dir", "jobs/clean/export", "--hooks", "ProfilerHook",
              "ExamplesPerSecondHook", "LoggingMetricHook", "--benchmark_logger_type", "BenchmarkFileLogger", "-bld", "jobs/clean"]
supervise("train_and_eval", "Simple", "MNIST", *everything)
for name in ("model.ckpt-notes.txt", "checkpoints.txt", "eval/letter.txt", "export/letter.txt", "photos/one.png"):
    mine = programs.path("jobs/clean", name)
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("dear")
    said = programs.refusal("supervisor", "train", *pair, *everything, "--clean")
    check(said == CLEAN % ("jobs/clean", name) and mine.read_text() == "dear", said)
    mine.unlink()
said = programs.refusal("supervisor", "train", *pair, *everything, "--clean")
check(said == CLEAN % ("jobs/clean", "photos/"), said)
programs.path("jobs/clean/photos").rmdir()
for left in ("checkpoint.tmp-00000000deadbeef-7-1", "checkpoint.journal", "sextant_lock.json", "DONE"):  # of a run that was killed
    programs.path("jobs/clean", left).touch()
before = set(programs.path("jobs/clean/export").iterdir())
seen = results(supervise("train_and_eval", "Simple", "MNIST", *everything, "--clean"))
check([r["global_step"] for r in seen] == [4], "the training begins anew: %s" % seen)
check(not before & set(programs.path("jobs/clean/export").iterdir()) and not programs.path("jobs/clean/DONE").exists(), "the old run is gone")
programs.path("damaged").mkdir()
for split in ("train", "validation"):
    whole = programs.path(DATA["MNIST"], split + ".tfrecords").read_bytes()
    programs.path("damaged", split + ".tfrecords").write_bytes(whole[:1000] + b"?" + whole[1001:])
process = programs.process("supervisor", "train", *pair, "--data_dir", "damaged", "-te", 1)
check(process.returncode == 1 and "damaged/train.tfrecords" in process.stderr.splitlines()[-1], process.stderr)

"""cifar10_towers: trainings on a few made-up images, evaluation by the averages, train_dir, bad input."""
import random
import re

from program_testing import Programs, check, events, near

programs = Programs()
folder = programs.path("data", "cifar-10-batches-bin")
folder.mkdir(parents=True)
source = random.Random(1)


def batch(count):
    """Records of images whose brightness tells the class."""
    return b"".join(bytes([i % 10]) + bytes(20 * (i % 10) + source.randrange(40) for _ in range(3072)) for i in range(count))


for name in ["data_batch_%d" % i for i in range(1, 6)] + ["test_batch"]:
    folder.joinpath(name + ".bin").write_bytes(batch(20))
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: step (\d+), loss = (\d+\.\d\d) \(\d+\.\d examples/sec; \d+\.\d{3} sec/batch\)")
FILLING = "Filling queue with 20000 CIFAR images before starting to train. This will take a few minutes."


def train(program, train_dir, *flags):
    """(step, loss) of each line."""
    lines = programs.run(program, "--data_dir=data", "--train_dir=" + train_dir, "--batch_size=16", *flags).splitlines()
    steps = [LINE.fullmatch(line) for line in lines if line != FILLING]
    check(all(steps), "what %s prints: %s" % (program, lines))
    return [(int(step.group(1)), float(step.group(2))) for step in steps]


def files(train_dir):
    return {re.sub(r"tfevents.*", "tfevents", path.name) for path in programs.path(train_dir).iterdir()}


def weights(train_dir, step):
    """The bytes of all variables and their averages."""
    return programs.path(train_dir, "model.ckpt-%d.data-00000-of-00001" % step).read_bytes()


def checkpoints(*steps):
    return {"checkpoint", "events.out.tfevents"} | {"model.ckpt-%d.%s" % (step, part) for step in steps
                                                    for part in ("index", "meta", "data-00000-of-00001")}


# A checkpoint at step 0 and at the end; the same seed gives the same losses.
steps = train("cifar10_train", "one", "--max_steps=12", "--seed=3", "--num_threads=1")
check([step for step, _ in steps] == [0, 10], "a line every 10 steps: %s" % steps)
near(steps[0][1], 4.676, 0.011, "the first loss")
check(files("one") == checkpoints(0, 11), "files: %s" % files("one"))
check(sum(graph is not None for _, _, graph in events(programs.path("one"))) == 1, "the graph is in the events")
check({step for step, values, _ in events(programs.path("one")) if "learning_rate" in values} == {0}, "summaries at step 0")
check(train("cifar10_train", "one", "--max_steps=11", "--seed=3", "--num_threads=1") == steps, "the same seed gives the same losses")
check(files("one") == checkpoints(0, 10), "train_dir is made anew: %s" % files("one"))
train("cifar10_train", "other", "--max_steps=11", "--seed=3", "--num_threads=1")
check(weights("one", 10) == weights("other", 10), "the same seed gives the same weights, to the bit")
train("cifar10_train", "other", "--max_steps=11", "--seed=4", "--num_threads=1")
check(weights("one", 10) != weights("other", 10), "another seed gives others")
for run in "two", "other":
    train("cifar10_multi_gpu_train", run, "--max_steps=3", "--num_gpus=2", "--tower_device=CPU", "--seed=3", "--num_threads=1")
check(weights("two", 2) == weights("other", 2), "the same seed gives the same weights with two towers")

# Towers on host devices, and on GPUs that may not be there.
two = train("cifar10_multi_gpu_train", "two", "--max_steps=1", "--num_gpus=2", "--tower_device=CPU", "--seed=3")
near(two[0][1], 4.676, 0.011, "the first loss of the last tower")
check(files("two") == checkpoints(0), "files: %s" % files("two"))
placed = programs.process("cifar10_multi_gpu_train", "--data_dir=data", "--train_dir=placed", "--max_steps=1", "--num_gpus=2", "--batch_size=2",
                          "--tower_device=CPU", "--log_device_placement", "--num_threads=1")
check(re.search(r"tower_1/conv1/Conv2D: \(Conv2D\): \S*CPU:1", placed.stderr), "tower 1 is on /cpu:1")
soft = programs.process("cifar10_multi_gpu_train", "--data_dir=data", "--train_dir=soft", "--max_steps=1", "--num_gpus=2", "--batch_size=2",
                        "--num_threads=2", "--log_device_placement")
check(soft.returncode == 0, "soft placement: " + soft.stderr[-300:])
tower = re.search(r"tower_1/conv1/Conv2D: \(Conv2D\): (\S+)", soft.stderr).group(1)
if "GPU" in tower:
    check(tower.endswith("GPU:1"), "tower 1 is on /gpu:1, not " + tower)
else:
    print("SKIPPED: towers on two GPUs: this machine has none, so tower 1 is on " + tower)

# The largest batch: what the variables, their averages and the gradients (13 MB) leave.
largest = {}
for program, flags in ("cifar10_train", []), ("cifar10_multi_gpu_train", ["--num_gpus=2", "--tower_device=CPU"]):
    out = programs.run(program, "--find_batch_size", "--memory_limit=%d" % (64 << 20), *flags)
    sizes = [int(n) for n in re.findall(r"batch (\d+): fits", out)]
    check(sizes == [2 ** i for i in range(len(sizes))] and sizes, "sizes are doubled: " + out)
    check(out.endswith("batch %d: RESOURCE_EXHAUSTED\nlargest batch %d\n" % (2 * sizes[-1], sizes[-1])), "the next one does not fit: " + out)
    largest[program] = sizes[-1]
check(largest["cifar10_multi_gpu_train"] <= largest["cifar10_train"], "two towers have less each: %s" % largest)

# Evaluation.
out = programs.run("cifar10_eval", "--data_dir=data", "--checkpoint_dir=one", "--eval_dir=eval", "--run_once", "--num_examples=50", "--batch_size=20")
precision = re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: precision @ 1 = (\d\.\d{3})\n", out)
check(precision, "what cifar10_eval prints: " + out)
out = programs.run("cifar10_eval", "--data_dir=data", "--checkpoint_dir=one", "--eval_dir=eval_raw", "--run_once", "--num_examples=50", "--batch_size=20", "--moving_averages=false")
check("precision @ 1 = " in out, "the variables themselves: " + out)
values = [value for step, scalars, _ in events(programs.path("eval")) for tag, value in scalars.items() if tag == "Precision @ 1" and step == 10]
check(len(values) == 1 and abs(values[0] - float(precision.group(1))) < 6e-4, "the precision is in the events: %s" % values)
check(programs.run("cifar10_eval", "--data_dir=data", "--checkpoint_dir=nothing", "--eval_dir=eval2", "--run_once") == "No checkpoint file found\n", "no checkpoint")

# Bad input.
programs.path("unnumbered").mkdir()
for end in "index", "data-00000-of-00001":
    programs.path("unnumbered", "model.ckpt." + end).write_bytes(programs.path("one", "model.ckpt-10." + end).read_bytes())
programs.path("unnumbered", "checkpoint").write_text('model_checkpoint_path: "model.ckpt"\n')
said = programs.refusal("cifar10_eval", "--data_dir=data", "--checkpoint_dir=unnumbered", "--eval_dir=eval3", "--run_once", "--num_examples=20", "--batch_size=20")
check("has no step in its name" in said, "a checkpoint without a step: " + said)
for program in "cifar10_train", "cifar10_multi_gpu_train", "cifar10_eval":
    check(programs.refusal(program, "--data_dir=") == "Please supply a data_dir", "no data_dir: " + program)
    check("--batch_sise" in programs.refusal(program, "--batch_sise=3", code=2), "an unknown flag: " + program)
for program in "cifar10_train", "cifar10_multi_gpu_train", "cifar10_eval":
    said = programs.refusal(program, "--data_dir=data", "--batch_size=50001", code=2)
    check(said == "--batch_size must be at most 50000, not 50001", "a batch of more than all images: " + said)
check("--num_examples must be at most" in programs.refusal("cifar10_eval", "--num_examples=%d" % (2 ** 63 - 1), code=2), "examples beyond all counting")
check("eval_data" in programs.refusal("cifar10_eval", "--eval_data=training", code=2), "an unknown set")
for program, flag in ("cifar10_train", "train_dir"), ("cifar10_multi_gpu_train", "train_dir"), ("cifar10_eval", "eval_dir"):
    said = programs.refusal(program, "--data_dir=nowhere", "--%s=" % flag)
    check(said == "--%s must name a folder, not ''" % flag and not programs.path("nowhere").exists(), "an empty %s: %s" % (flag, said))
programs.path("mine").mkdir()
programs.path("mine", "thesis.txt").write_text("years of work")
said = programs.refusal("cifar10_train", "--data_dir=data", "--train_dir=mine", "--max_steps=1")
check("holds 'thesis.txt'" in said and programs.path("mine", "thesis.txt").exists(), "a train_dir that is none is left alone: " + said)
for name in "thesis.txt", "model.ckpt-notes.txt", "model.ckpt-1.index.txt", "checkpoint.bak":
    programs.path("one", name).write_text("years of work")
    said = programs.refusal("cifar10_train", "--data_dir=data", "--train_dir=one", "--max_steps=1")
    check("holds '%s'" % name in said, "a file beside a training is left alone: " + said)
    programs.path("one", name).unlink()
damaged = folder.joinpath("data_batch_3.bin")
damaged.write_bytes(damaged.read_bytes()[:-5])
said = programs.refusal("cifar10_train", "--data_dir=data", "--train_dir=one", "--max_steps=1")
check("data_batch_3.bin has 61455 bytes" in said and files("one") == checkpoints(0, 10), "a damaged file is named, the old training stays: " + said)
damaged.unlink()
check("Failed to find file: data/cifar-10-batches-bin/data_batch_3.bin" in programs.refusal("cifar10_train", "--data_dir=data", "--train_dir=one"), "a missing file is named")
damaged.write_bytes(bytes([77]) + batch(20)[1:])
process = programs.process("cifar10_train", "--data_dir=data", "--train_dir=labels", "--max_steps=40", "--batch_size=64")
check(process.returncode == 1 and "77" in process.stderr and len(process.stderr.splitlines()) == 1, "a label that is none is named: " + process.stderr)
print("ok")

"""TensorBoard and TensorFlow read what the CIFAR-10 programs write: exact tags, graphs with shapes, checkpoints by the original names.

usage: cifar10_test.py FOLDER, the folder of the programs
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorboard.backend.event_processing import event_accumulator

v1 = tf.compat.v1
v1.disable_eager_execution()
programs = os.path.abspath(sys.argv[1])
work = tempfile.TemporaryDirectory()
os.chdir(work.name)


def run(program, *flags):
    return subprocess.run([os.path.join(programs, program), *flags], check=True, stdout=subprocess.PIPE).stdout.decode()


def accumulate(folder):
    a = event_accumulator.EventAccumulator(folder, size_guidance={kind: 0 for kind in ("scalars", "histograms", "images", "tensors")})
    a.Reload()
    return a


def check_tags(a, scalars, histograms, what):
    tags = a.Tags()
    for kind, wanted in ("scalars", scalars), ("histograms", histograms), ("images", ["images/image/%d" % i for i in range(3)]):
        assert set(tags[kind]) == set(wanted), (what, kind, set(tags[kind]) ^ set(wanted))
    assert not tags["audio"] and not tags["tensors"] and tags["graph"], (what, tags)


def check_graph(graph, prefixes, what):
    names = [node.name for node in graph.node]
    for prefix in prefixes:
        assert any(name.startswith(prefix) for name in names), (what, prefix)
    with_outputs = [node for node in graph.node if node.op not in ("NoOp", "AssignVariableOp", "AssignSubVariableOp", "AssignAddVariableOp")]
    shaped = [node for node in with_outputs if "_output_shapes" in node.attr]
    assert len(shaped) > 0.9 * len(with_outputs), (what, len(shaped), len(with_outputs))


def restore(variables, folder, what):
    """Variables of these names, shapes and types as TensorFlow restores them."""
    prefix = tf.train.latest_checkpoint(folder)
    with v1.Session(graph=tf.Graph()) as session:
        made = {name: v1.get_variable(name, shape, dtype, trainable=False) for name, (shape, dtype) in variables.items()}
        v1.train.Saver().restore(session, prefix)
        values = session.run(made)
    there = set(tf.train.load_checkpoint(prefix).get_variable_to_shape_map())
    assert there - {"sextant/run_state"} == set(variables), (what, there ^ set(variables))
    return values


def numbered(name, count):
    return [name] + ["%s_%d" % (name, i) for i in range(1, count)]


# ResNet-44.
run("sextant", "data", "cifar10", "--synthetic", "--train=64", "--validation=1", "--eval=16", "--out=records")
run("cifar10_main", "--data-dir=records", "--job-dir=resnet", "--num-gpus=0", "--train-steps=1", "--train-batch-size=4", "--eval-batch-size=1000", "--num-intra-threads=2")
widths = [16] * 15 + [32] * 14 + [64] * 14
resnet = {"resnet/dense/kernel": [64, 11], "resnet/dense/bias": [11]}
statistics = {}
for i, (conv, norm) in enumerate(zip(numbered("resnet/conv2d", 43), numbered("resnet/BatchNorm", 43))):
    resnet[conv + "/kernel"] = [3, 3, widths[i - 1] if i else 3, widths[i]]
    resnet[norm + "/beta"] = resnet[norm + "/gamma"] = [widths[i]]
    statistics[norm + "/moving_mean"] = statistics[norm + "/moving_variance"] = [widths[i]]
assert sum(int(np.prod(shape)) for shape in resnet.values()) == 658651
everything = {**{name: (shape, tf.float32) for name, shape in {**resnet, **statistics}.items()},
              **{name + "/Momentum": (shape, tf.float32) for name, shape in resnet.items()}, "global_step": ([], tf.int64)}
values = restore(everything, "resnet", "cifar10_main")
assert values["global_step"] == 1 and abs(values["resnet/BatchNorm_42/moving_variance"] - 1).max() > 0
events = accumulate("resnet")
check_tags(events, ["loss", "learning_rate"], [name + "/gradients" for name in resnet], "cifar10_main")
check_graph(events.Graph(), ["resnet/tower_0/stage/residual_v1/", "resnet/tower_0/stage_2/residual_v1_6/", "resnet/tower_0/global_avg_pool/"], "cifar10_main")

# The tower tutorial: 20 images of each file, coloured by their class.
random = np.random.RandomState(1)


def binary(count):
    labels = np.arange(count) % 10
    images = random.randint(0, 100, (count, 3072)) + 15 * labels[:, None]
    return labels, images.astype(np.uint8), np.concatenate([labels[:, None], images], 1).astype(np.uint8).tobytes()


os.makedirs("data/cifar-10-batches-bin")
for name in ["data_batch_%d" % i for i in range(1, 6)]:
    open("data/cifar-10-batches-bin/%s.bin" % name, "wb").write(binary(20)[2])
labels, images, test = binary(100)
open("data/cifar-10-batches-bin/test_batch.bin", "wb").write(test)
shapes = {"conv1": ([5, 5, 3, 64], 64), "conv2": ([5, 5, 64, 64], 64), "local3": ([2304, 384], 384), "local4": ([384, 192], 192), "softmax_linear": ([192, 10], 10)}
trained = {}
for layer, (weights, biases) in shapes.items():
    trained[layer + "/weights"], trained[layer + "/biases"] = weights, [biases]
assert sum(int(np.prod(shape)) for shape in trained.values()) == 1068298
layers = ["%s/%s" % (layer, layer) for layer in shapes]


def check_towers(folder, prefix, strip, total, raw):
    losses = ["cross_entropy", "local3/weight_loss", "local4/weight_loss", total]
    wanted = {**{name: (shape, tf.float32) for name, shape in trained.items()},
              **{name + "/ExponentialMovingAverage": (shape, tf.float32) for name, shape in trained.items()},
              **{"%s%s/avg" % (prefix, loss): ([], tf.float32) for loss in losses}, "global_step": ([], tf.int64)}
    found = restore(wanted, folder, folder)
    events = accumulate(folder)
    check_tags(events, ["learning_rate"] + [strip + layer + "/sparsity" for layer in layers] + [strip + loss + tail for loss in losses for tail in ("", raw)],
               [strip + layer + "/activations" for layer in layers] + list(trained) + [name + "/gradients" for name in trained], folder)
    return found, events


out = run("cifar10_train", "--data_dir=data", "--train_dir=one", "--max_steps=3", "--batch_size=32", "--seed=1", "--num_threads=2")
assert abs(float(re.search(r"step 0, loss = ([0-9.]+)", out).group(1)) - 4.68) <= 0.011, out
found, _ = check_towers("one", "", "", "total_loss", " (raw)")
assert found["global_step"] == 3
run("cifar10_multi_gpu_train", "--data_dir=data", "--train_dir=two", "--max_steps=1", "--batch_size=16", "--num_gpus=2", "--tower_device=CPU", "--num_threads=2")
prefixes = ["tower_0/conv1/", "tower_1/conv1/", "tower_1/norm2/"]
reader = tf.train.load_checkpoint(tf.train.latest_checkpoint("two"))
assert {name for name in reader.get_variable_to_shape_map() if name.endswith("/avg")} == {
    "tower_%d/%s/avg" % (i, loss) for i in range(2) for loss in ("cross_entropy", "local3/weight_loss", "local4/weight_loss", "total_loss_1")}
events = accumulate("two")
check_tags(events, ["learning_rate"] + ["/" + layer + "/sparsity" for layer in layers] +
           ["/" + loss + tail for loss in ("cross_entropy", "local3/weight_loss", "local4/weight_loss", "total_loss_1") for tail in ("", "(raw)")],
           ["/" + layer + "/activations" for layer in layers] + list(trained) + [name + "/gradients" for name in trained], "cifar10_multi_gpu_train")
check_graph(events.Graph(), prefixes, "cifar10_multi_gpu_train")

# TensorFlow's precision with the averages is that of cifar10_eval; the weights themselves are made to give another.
prefix = tf.train.latest_checkpoint("one")
with v1.Session(graph=tf.Graph()) as session:
    pixels = v1.placeholder(tf.float32, [None, 32, 32, 3])
    x = tf.image.per_image_standardization(tf.image.resize_with_crop_or_pad(pixels, 24, 24))
    made = {name: v1.get_variable(name, shape) for name, shape in trained.items()}

    def layer(name, product):
        return tf.nn.relu(product + made[name + "/biases"])

    x = layer("conv1", tf.nn.conv2d(x, made["conv1/weights"], 1, "SAME"))
    x = tf.nn.lrn(tf.nn.max_pool2d(x, 3, 2, "SAME"), 4, 1.0, 0.001 / 9.0, 0.75)
    x = layer("conv2", tf.nn.conv2d(x, made["conv2/weights"], 1, "SAME"))
    x = tf.nn.max_pool2d(tf.nn.lrn(x, 4, 1.0, 0.001 / 9.0, 0.75), 3, 2, "SAME")
    x = layer("local3", tf.matmul(tf.reshape(x, [-1, 2304]), made["local3/weights"]))
    x = layer("local4", tf.matmul(x, made["local4/weights"]))
    logits = tf.matmul(x, made["softmax_linear/weights"]) + made["softmax_linear/biases"]
    step = v1.train.create_global_step()
    averages = {name + "/ExponentialMovingAverage": variable for name, variable in made.items()}
    v1.train.Saver(averages).restore(session, prefix)
    # A checkpoint whose averages are weights that see the classes, and whose weights say class 0.
    session.run([v.assign(np.random.RandomState(i).normal(0, 0.05, v.shape.as_list())) for i, v in enumerate(made.values())])
    session.run(step.assign(3))
    hwc = images.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    got = session.run(logits, {pixels: hwc}).argmax(1)
    shadows = {name + "/ExponentialMovingAverage": session.run(v) for name, v in made.items()}
    session.run([v.assign(tf.zeros_like(v)) for v in made.values()])
    expected = float(np.mean(got == labels))
with v1.Session(graph=tf.Graph()) as session:
    for name, value in shadows.items():
        v1.get_variable(name, initializer=value)
        v1.get_variable(name.replace("/ExponentialMovingAverage", ""), initializer=np.zeros_like(value))
    session.run(v1.global_variables_initializer())
    os.makedirs("mixed")
    v1.train.Saver().save(session, "mixed/model.ckpt", global_step=7)
out = run("cifar10_eval", "--data_dir=data", "--checkpoint_dir=mixed", "--eval_dir=eval", "--run_once", "--num_examples=100", "--batch_size=100", "--num_threads=1")
precision = float(re.search(r"precision @ 1 = ([0-9.]+)", out).group(1))
assert abs(precision - expected) <= 0.0101, (precision, expected)
assert abs(precision - 0.1) > 1e-9, "the weights themselves, which always say class 0, have the precision 0.1"
a = accumulate("eval")
assert [(e.step, round(e.value, 3)) for e in a.Scalars("Precision @ 1")] == [(7, precision)]
print("ok")

"""TensorFlow reads our checkpoints, and writes the same bytes for the same tensors."""
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
ops = tf.raw_ops


def path(name):
    return os.path.join(folder, name)


def patterned(dtype, shape):
    """The elements that checkpoints_writer.cc writes, as numpy bytes."""
    size = int(np.prod(shape)) * tf.as_dtype(dtype).base_dtype.size
    k = np.arange(size)
    return (k % 2 if dtype == tf.bool else (37 * k + 11) % 256).astype(np.uint8).tobytes()


# Every element type.
reader = tf.train.load_checkpoint(path("types"))
dtypes = reader.get_variable_to_dtype_map()
shapes = reader.get_variable_to_shape_map()
assert len(dtypes) == 3 * 21, len(dtypes)
for name, dtype in dtypes.items():
    kind, type_name = name.split("/")
    assert shapes[name] == {"t": [2, 2] if dtype == tf.string else [2, 3], "s": [],
                            "e": [0] if dtype == tf.string else [0, 3]}[kind], name
    restored = ops.RestoreV2(prefix=path("types"), tensor_names=[name], shape_and_slices=[""], dtypes=[dtype])[0]
    if dtype != tf.string:
        assert restored.numpy().tobytes() == patterned(dtype, shapes[name]), name
strings = reader.get_tensor("t/string")
assert strings.tolist() == [[b"", b"abc"], [b"x" * 70000, b"\x00\xff"]]
assert reader.get_tensor("s/string") == b"scalar text"

# The same tensors in the same order, saved by TensorFlow.
names = sorted(dtypes)
values = ops.RestoreV2(prefix=path("types"), tensor_names=names, shape_and_slices=[""] * len(names),
                       dtypes=[dtypes[n] for n in names])
ops.SaveV2(prefix=path("again"), tensor_names=names, shape_and_slices=[""] * len(names), tensors=values)
for suffix in (".index", ".data-00000-of-00001"):
    assert open(path("types") + suffix, "rb").read() == open(path("again") + suffix, "rb").read(), suffix

# Thousands of variables.
reader = tf.train.load_checkpoint(path("many"))
assert len(reader.get_variable_to_shape_map()) == 3000
for i in range(0, 3000, 7):
    name = "layer_%d/some_longer_scope/kernel" % i
    assert reader.get_tensor(name).tobytes() == patterned(tf.float32, [i % 7, 3]), name

# Slices, in one and in two data files.
rows = np.frombuffer(patterned(tf.int32, [7, 4]), np.int32).reshape(7, 4)
for name in ("slices", "sharded"):
    reader = tf.train.load_checkpoint(path(name))
    assert (reader.get_tensor("scope/rows") == rows).all(), name
    part = ops.RestoreV2(prefix=path(name), tensor_names=["scope/rows"], shape_and_slices=["7 4 2,3:1,2"],
                         dtypes=[tf.int32])[0]
    assert (part.numpy() == rows[2:5, 1:3]).all(), name
for i in range(2):
    assert reader.get_tensor("only_%d" % i).tobytes() == patterned(tf.float64, [5])
assert not os.path.exists(path("temp/part-00000-of-00002.index"))

# The same shards, merged by TensorFlow.
bounds = [0, 3, 5, 7]
for shard in range(2):
    parts = range(shard, 2 * shard + 1)
    ops.SaveV2(prefix=path("tf/part-%05d-of-00002" % shard),
               tensor_names=["only_%d" % shard] + ["scope/rows"] * len(parts),
               shape_and_slices=[""] + ["7 4 %d,%d:0,4" % (bounds[i], bounds[i + 1] - bounds[i]) for i in parts],
               tensors=[np.frombuffer(patterned(tf.float64, [5]))] + [rows[bounds[i]:bounds[i + 1]] for i in parts])
ops.MergeV2Checkpoints(checkpoint_prefixes=[path("tf/part-%05d-of-00002" % i) for i in range(2)],
                       destination_prefix=path("merged"))
for suffix in (".index", ".data-00000-of-00002", ".data-00001-of-00002"):
    assert open(path("sharded") + suffix, "rb").read() == open(path("merged") + suffix, "rb").read(), suffix

# Aligned tensors, V1 files, and the state of the directory.
reader = tf.train.load_checkpoint(path("aligned"))
assert reader.get_tensor("b").tobytes() == patterned(tf.float32, [5])
assert ops.Restore(file_pattern=path("v1"), tensor_name="a", dt=tf.int32).numpy().tobytes() == patterned(tf.int32, [3])
both = ops.Restore(file_pattern=path("v1"), tensor_name="w", dt=tf.int32).numpy()
assert both.tobytes() == 2 * patterned(tf.int32, [2])
assert tf.train.latest_checkpoint(folder) == path("types")
state = tf.train.get_checkpoint_state(folder)
assert list(state.all_model_checkpoint_paths) == [path("many"), path("types")]
assert list(state.all_model_checkpoint_timestamps) == [1.5e9, 1.5e9 + 0.25]
print("all checkpoints read")

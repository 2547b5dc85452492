"""TensorFlow loads and runs our SavedModel, and its Saver restores our checkpoints by name and by our graph."""
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
v1 = tf.compat.v1
words = np.array([b"blue", b"red", b"none"], dtype=object)
rows = np.arange(20, dtype=np.float32).reshape(5, 4) * 0.25
kernel = (np.arange(8, dtype=np.float32) * 0.25 - 1).reshape(4, 2)
bias = np.arange(2, dtype=np.float32) * 0.25 + 10
ids = [2, 0, 4]
expected = rows[ids] @ kernel + bias


def check(got):
    assert np.asarray(got["ids"]).tolist() == ids, got
    assert np.allclose(got["y"], expected, rtol=1e-6), got


# The export, as TensorFlow 1 and as TensorFlow 2 load it; the source of the asset is gone.
export = os.path.join(folder, "export")
os.rename(os.path.join(folder, "source"), os.path.join(folder, "moved"))
assert sorted(os.listdir(export)) == ["assets", "assets.extra", "saved_model.pb", "variables"]
with v1.Session(graph=tf.Graph()) as session:
    meta_graph = v1.saved_model.load(session, ["serve"], export)
    signature = meta_graph.signature_def["serving_default"]
    assert signature.method_name == "tensorflow/serving/predict"
    check(session.run({k: t.name for k, t in signature.outputs.items()},
                      {signature.inputs["words"].name: words}))
    assert {v.name for v in v1.trainable_variables()} == {
        "dense/kernel:0", "dense/bias:0", "rows/part_0:0", "rows/part_1:0"}
    assert session.run(v1.get_default_graph().get_tensor_by_name("global_step/Read/ReadVariableOp:0")) == 7
used = {op.name for op in meta_graph.meta_info_def.stripped_op_list.op}
assert {"HashTableV2", "MatMul", "RestoreV2"} <= used, used
for op in meta_graph.meta_info_def.stripped_op_list.op:
    own = tf.raw_ops.__dict__.get(op.name)
    assert own is not None, op.name
model = tf.saved_model.load(export)
check({k: v.numpy() for k, v in model.signatures["serving_default"](words=tf.constant(words)).items()})

# The checkpoints: state file, retention, .meta, partitioned variables.
run = os.path.join(folder, "run")
state = tf.train.get_checkpoint_state(run)
assert state.model_checkpoint_path == os.path.join(run, "model.ckpt-3")
assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["model.ckpt-2", "model.ckpt-3"]
assert not os.path.exists(os.path.join(run, "model.ckpt-1.index"))
for prefix in (os.path.join(run, "model.ckpt-3"), os.path.join(folder, "sharded", "model.ckpt")):
    with v1.Session(graph=tf.Graph()) as session:
        w = v1.get_variable("dense/kernel", [4, 2])
        r = v1.get_variable("rows", [5, 4], partitioner=tf.compat.v1.fixed_size_partitioner(4))
        s = v1.get_variable("global_step", [], tf.int64)
        v1.train.Saver().restore(session, prefix)
        assert (session.run(w) == kernel).all() and session.run(s) == 7
        assert (session.run(tf.convert_to_tensor(r)) == rows).all()
    with v1.Session(graph=tf.Graph()) as session:
        saver = v1.train.import_meta_graph(prefix + ".meta")
        saver.restore(session, prefix)
        values = dict(zip([v.name for v in v1.global_variables()], session.run(v1.global_variables())))
        assert (values["dense/kernel:0"] == kernel).all() and (values["rows/part_1:0"] == rows[3:]).all()
        again = saver.save(session, os.path.join(folder, "again", "model.ckpt"))
    assert tf.train.load_checkpoint(again).get_tensor("rows").tolist() == rows.tolist()

"""TensorFlow runs our exports of canned estimators with our predictions."""
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
v1 = tf.compat.v1
METHODS = {"serving_default": ("classify", "regress", "predict"), "classification": ("classify",),
           "regression": ("regress",), "predict": ("predict",)}


def close(got, expected, what):
    got = np.asarray(got)
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    if expected.dtype == object:
        assert got.tolist() == expected.tolist(), what
    else:
        assert np.max(np.abs(got - expected), initial=0) <= 1e-5, (what, got, expected)


def answers(prefix):
    """signature -> ({input: value}, {output: value})"""
    reader = tf.train.load_checkpoint(prefix)
    result = {}
    for name in reader.get_variable_to_shape_map():
        signature, side, key = name.rsplit("/", 2)
        result.setdefault(signature, ({}, {}))[side == "out"][key] = reader.get_tensor(name)
    return result


runs = 0
for estimator in sorted(os.listdir(folder)):
    for receiver in ("parsing", "raw", "csv", "json"):
        path = os.path.join(folder, estimator, receiver)
        expected = answers(path + ".answers")
        what = (estimator, receiver)
        # Requests of one string tensor can be classified and regressed, all can be predicted.
        assert "predict" in expected, what
        if receiver in ("parsing", "csv"):
            kinds = {"classification"} if "classifier" in estimator or "words" in estimator else {"regression"}
            assert kinds | {"serving_default"} <= set(expected), (what, sorted(expected))
        with v1.Session(graph=tf.Graph()) as session:
            meta_graph = v1.saved_model.load(session, ["serve"], path)
            assert set(meta_graph.signature_def) == set(expected), what
            for key, signature in meta_graph.signature_def.items():
                method = signature.method_name.split("/")[-1]
                assert method in METHODS[key], (what, key, method)
                inputs, outputs = expected[key]
                got = session.run({k: t.name for k, t in signature.outputs.items()},
                                  {signature.inputs[k].name: x for k, x in inputs.items()})
                assert set(got) == set(outputs), (what, key)
                for k, value in got.items():
                    close(value, outputs[k], what + (key, k))
                runs += 1
        if receiver == "parsing":
            function = tf.saved_model.load(path).signatures["serving_default"]
            inputs, outputs = expected["serving_default"]
            got = function(**{k: tf.constant(x) for k, x in inputs.items()})
            for k, value in got.items():
                close(value.numpy(), outputs[k], what + ("TensorFlow 2", k))
print("%d signatures agree" % runs)

"""Records what TensorFlow's layers, losses, metrics and initializers give for small inputs: python nn_values.py ../../testdata/golden/nn.json   (needs TensorFlow 2.15)

The tests of sextant/nn build the same by name and compare: {"layers": [...], "losses": [...], "metrics": [...], "initializers": [...], "cells": [...]}."""
import json
import sys
from opslib import *

rng = np.random.RandomState(7)
f = lambda *shape: rng.uniform(-2, 2, size=shape).astype(F32)
unit = lambda *shape: rng.uniform(0.02, 0.98, size=shape).astype(F32)


def pack(a):
    a = np.asarray(a)
    kind = "bool" if a.dtype == np.bool_ else "int64" if a.dtype.kind in "iu" else "float"
    return {"dtype": kind, "shape": list(a.shape), "values": [float("%.9g" % x) if kind == "float" else int(x) for x in a.reshape(-1)]}


def run(build, before=()):
    """The values of a tensor, or of tensors, after the variables have been set; and the variables' names and values."""
    with tf.Graph().as_default() as g:
        out = build()
        variables = v1.global_variables()
        values = [f(*v.shape.as_list()) if "variance" not in v.name else unit(*v.shape.as_list()) for v in variables]
        with v1.Session(graph=g, config=session_config()) as s:
            s.run(v1.global_variables_initializer())
            for v, value in zip(variables, values):
                v.load(value, s)
            updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
            result = s.run(out)
            s.run(updates)
            after = s.run(variables)
        return result, [v.op.name for v in variables], values, after


def layers():
    L = v1.layers
    nn = tf.nn
    image, row, seq = f(2, 6, 5, 3), f(3, 4), f(2, 7, 3)
    table = [
        ("dense", row, lambda x: L.dense(x, 5)), ("dense_relu", row, lambda x: L.dense(x, 5, activation=nn.relu)), ("dense_no_bias", f(2, 3, 4), lambda x: L.dense(x, 2, use_bias=False)),
        ("conv1d", seq, lambda x: L.conv1d(x, 4, 3)), ("conv1d_same_strides", seq, lambda x: L.conv1d(x, 2, 3, strides=2, padding="same", activation=tf.tanh)),
        ("conv1d_dilated", seq, lambda x: L.conv1d(x, 2, 2, dilation_rate=2, use_bias=False)),
        ("conv2d", image, lambda x: L.conv2d(x, 4, 3)), ("conv2d_same_strides", image, lambda x: L.conv2d(x, 2, (3, 2), strides=(2, 1), padding="same", activation=nn.relu)),
        ("conv2d_dilated", image, lambda x: L.conv2d(x, 2, 2, dilation_rate=2, use_bias=False)),
        ("conv2d_transpose", image, lambda x: L.conv2d_transpose(x, 2, 3, strides=2, padding="same")), ("conv2d_transpose_valid", image, lambda x: L.conv2d_transpose(x, 2, 3, strides=2, activation=nn.relu)),
        ("separable_conv2d", image, lambda x: L.separable_conv2d(x, 4, 3, depth_multiplier=2)), ("separable_conv2d_same", image, lambda x: L.separable_conv2d(x, 2, 3, strides=2, padding="same", use_bias=False, activation=nn.relu)),
        ("depthwise_conv2d", image, lambda x: tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2, activation="relu")(x)),
        ("max_pool2d", image, lambda x: L.max_pooling2d(x, 2, 2)), ("max_pool2d_same", image, lambda x: L.max_pooling2d(x, (3, 2), (1, 2), padding="same")),
        ("average_pool2d", image, lambda x: L.average_pooling2d(x, 2, 2)), ("average_pool2d_same", image, lambda x: L.average_pooling2d(x, 3, 2, padding="same")),
        ("max_pool1d", seq, lambda x: L.max_pooling1d(x, 2, 2)), ("average_pool1d_same", seq, lambda x: L.average_pooling1d(x, 3, 2, padding="same")),
        ("batch_norm", image, lambda x: L.batch_normalization(x)), ("batch_norm_training", image, lambda x: L.batch_normalization(x, training=True, momentum=0.8)),
        ("batch_norm_rows", row, lambda x: L.batch_normalization(x, training=True, scale=False, epsilon=0.01)), ("batch_norm_no_center", row, lambda x: L.batch_normalization(x, center=False)),
        ("batch_norm_image_no_scale", image, lambda x: L.batch_normalization(x, training=True, scale=False, center=False)),
        ("layer_norm", row, lambda x: tf.keras.layers.LayerNormalization()(x)), ("layer_norm_plain", f(2, 3, 4), lambda x: tf.keras.layers.LayerNormalization(epsilon=0.1, center=False, scale=False)(x)),
        ("flatten", image, lambda x: L.flatten(x)), ("local_response_norm", image, lambda x: nn.local_response_normalization(x, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75)),
        ("dropout_inference", row, lambda x: L.dropout(x, 0.5)), ("embedding", np.array([[0, 2], [3, 0]], I64), lambda x: tf.keras.layers.Embedding(4, 3)(x)),
    ]
    out = []
    for name, x, build in table:
        y, names, values, after = run(lambda: build(tf.constant(x)))
        out.append({"name": name, "input": pack(x), "output": pack(y), "variables": [pack(v) for v in values], "after": [pack(v) for v in after]})
    return out


def losses():
    L = v1.losses
    r, ids, onehot = f(4, 3), np.array([0, 2, 1, 1], I64), np.eye(3, dtype=F32)[[0, 2, 1, 1]]
    binary = np.array([[0, 1, 1], [1, 0, 0], [1, 1, 1], [0, 0, 1]], F32)
    table = [("sparse_softmax_cross_entropy", ids, r, L.sparse_softmax_cross_entropy, F32([1, 0.5, 0, 2])), ("softmax_cross_entropy", onehot, r, L.softmax_cross_entropy, F32([1, 0.5, 0, 2])),
             ("sigmoid_cross_entropy", binary, r, L.sigmoid_cross_entropy, F32([[1], [0.5], [0], [2]])), ("mean_squared_error", f(4, 3), r, L.mean_squared_error, F32([[1], [0.5], [0], [2]])),
             ("absolute_difference", f(4, 3), r, L.absolute_difference, F32([[1], [0.5], [0], [2]])), ("huber_loss", f(4, 3), r, L.huber_loss, F32([[1], [0.5], [0], [2]])),
             ("log_loss", binary, unit(4, 3), L.log_loss, F32([[1], [0.5], [0], [2]])), ("hinge_loss", binary, r, L.hinge_loss, F32([[1], [0.5], [0], [2]]))]
    reductions = {"none": "NONE", "sum": "SUM", "mean": "MEAN", "sum_over_batch_size": "SUM_OVER_BATCH_SIZE", "sum_by_nonzero_weights": "SUM_BY_NONZERO_WEIGHTS"}
    out = []
    for name, labels, predictions, fn, weights in table:
        for reduction, key in reductions.items():
            for w in (None, weights, F32(2), F32(0)):
                y = run(lambda: fn(tf.constant(labels), tf.constant(predictions), weights=1.0 if w is None else tf.constant(w), reduction=getattr(L.Reduction, key)))[0]
                out.append({"name": name, "labels": pack(labels), "predictions": pack(predictions), "reduction": reduction, "value": pack(y), **({} if w is None else {"weights": pack(w)})})
    return out


def metrics():
    M = v1.metrics
    classes = lambda: rng.randint(0, 3, size=6).astype(I64)
    bools = lambda: rng.randint(0, 2, size=6).astype(bool)
    real, probs, scores = (lambda: f(6)), (lambda: unit(6)), (lambda: unit(6, 4))
    t = [0.2, 0.5, 0.8]
    table = [("mean", None, real, lambda l, p, w: M.mean(p, w)), ("accuracy", classes, classes, M.accuracy), ("mean_absolute_error", real, real, M.mean_absolute_error),
             ("mean_squared_error", real, real, M.mean_squared_error), ("root_mean_squared_error", real, real, M.root_mean_squared_error),
             ("percentage_below", None, real, lambda l, p, w: M.percentage_below(p, 0.3, w)), ("true_positives", bools, bools, M.true_positives), ("true_negatives", bools, bools, M.true_negatives),
             ("false_positives", bools, bools, M.false_positives), ("false_negatives", bools, bools, M.false_negatives), ("precision", bools, bools, M.precision), ("recall", bools, bools, M.recall),
             ("precision_at_thresholds", bools, probs, lambda l, p, w: M.precision_at_thresholds(l, p, t, w)), ("recall_at_thresholds", bools, probs, lambda l, p, w: M.recall_at_thresholds(l, p, t, w)),
             ("mean_per_class_accuracy", classes, classes, lambda l, p, w: M.mean_per_class_accuracy(l, p, 3, w)), ("mean_iou", classes, classes, lambda l, p, w: M.mean_iou(l, p, 3, w)),
             ("top_k_accuracy", lambda: rng.randint(0, 4, size=6).astype(I64), scores, lambda l, p, w: M.mean(tf.cast(tf.nn.in_top_k(targets=l, predictions=p, k=2), tf.float32), w))]
    for curve in ("ROC", "PR"):
        for method in ("trapezoidal", "minoring", "majoring") + (("careful_interpolation",) if curve == "PR" else ()):
            table.append(("auc_%s_%s" % (curve, method), bools, probs, lambda l, p, w, c=curve, m=method: M.auc(l, p, w, num_thresholds=11, curve=c, summation_method=m)))
    out = []
    for name, label, prediction, fn in table:
        for weighted in (False, True):
            batches = [(None if label is None else label(), prediction(), unit(6)) for _ in range(2)]
            with tf.Graph().as_default() as g:
                l = None if label is None else v1.placeholder(tf.as_dtype(batches[0][0].dtype), [6])
                p, w = v1.placeholder(tf.as_dtype(batches[0][1].dtype), batches[0][1].shape), v1.placeholder(tf.float32, [6])
                value, update = fn(l, p, w if weighted else None)
                case = {"name": name, "batches": []}
                with v1.Session(graph=g, config=session_config()) as s:
                    s.run(v1.local_variables_initializer())
                    for bl, bp, bw in batches:
                        feeds = {p: bp, **({} if l is None else {l: bl}), **({w: bw} if weighted else {})}
                        u = s.run(update, feeds)
                        case["batches"].append({"predictions": pack(bp), **({} if l is None else {"labels": pack(bl)}), **({"weights": pack(bw)} if weighted else {}),
                                                "update": pack(np.float32(u)), "value": pack(np.float32(s.run(value)))})
            out.append(case)
    return out


def initializers():
    I = v1.keras.initializers
    table = [("zeros", I.Zeros()), ("ones", I.Ones()), ("constant", I.Constant(1.5)), ("identity", I.Identity(2.0)),
             ("random_uniform", v1.random_uniform_initializer(-0.1, 0.2, seed=3)), ("random_normal", v1.random_normal_initializer(0.5, 2.0, seed=3)), ("truncated_normal", v1.truncated_normal_initializer(0.5, 2.0, seed=3)),
             ("variance_scaling", v1.variance_scaling_initializer(seed=3)), ("variance_scaling_out", v1.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=3)),
             ("variance_scaling_avg", v1.variance_scaling_initializer(3.0, "fan_avg", "untruncated_normal", seed=3)), ("glorot_uniform", v1.glorot_uniform_initializer(seed=3)), ("glorot_normal", v1.glorot_normal_initializer(seed=3)),
             ("he_uniform", I.he_uniform(seed=3)), ("he_normal", I.he_normal(seed=3)), ("lecun_uniform", I.lecun_uniform(seed=3)), ("lecun_normal", I.lecun_normal(seed=3)),
             ("uniform_unit_scaling", v1.uniform_unit_scaling_initializer(1.5, seed=3)), ("orthogonal", v1.orthogonal_initializer(1.5, seed=3))]
    out = []
    for name, init in table:
        for shape in ((4, 3), (3, 3), (2, 2, 3, 4)):
            if name == "identity" and len(shape) != 2:
                continue
            with tf.Graph().as_default() as g, v1.Session(graph=g, config=session_config()) as s:
                v1.set_random_seed(5)
                out.append({"name": name, "value": pack(s.run(init(list(shape), dtype=tf.float32)))})
    return out


def cells():
    C = v1.nn.rnn_cell
    table = [("basic_rnn", lambda: C.BasicRNNCell(4)), ("gru", lambda: C.GRUCell(4)), ("basic_lstm", lambda: C.BasicLSTMCell(4, forget_bias=0.5)), ("multi", lambda: C.MultiRNNCell([C.BasicLSTMCell(4), C.GRUCell(3)])),
             ("gru_relu", lambda: C.GRUCell(4, activation=tf.nn.relu))]
    out = []
    for name, make in table:
        for lengths in (None, [3, 1]):
            x = f(2, 3, 5)
            def build():
                y, state = v1.nn.dynamic_rnn(make(), tf.constant(x), sequence_length=lengths, dtype=tf.float32)
                return [y] + tf.nest.flatten(state)
            y, names, values, _ = run(build)
            out.append({"name": name, "input": pack(x), "names": names, "variables": [pack(v) for v in values], "outputs": pack(y[0]), "state": [pack(v) for v in y[1:]], **({"lengths": pack(np.array(lengths, I64))} if lengths else {})})
    return out


if __name__ == "__main__":
    data = {"layers": layers(), "losses": losses(), "metrics": metrics(), "initializers": initializers(), "cells": cells()}
    with open(sys.argv[1], "w") as out:
        json.dump(data, out, separators=(",", ":"))
        out.write("\n")
    print({k: len(v) for k, v in data.items()})

"""Writes FILE: one optimizer case (see training.py) per ResourceApply and ResourceSparseApply op, element type and switch.   usage: updates.py OPS_TSV FILE

Beside what the Python optimizers use, this covers the ops and element types that they do not reach. OPS_TSV has the signatures of TensorFlow's ops."""
import sys
from opslib import *
from tensorflow.python.framework import kernels

PARAMS = dict(
    seed=5, steps=2, dense_shape=(3, 7), sparse_shape=(5, 3), sparse_rows=4,
    scalars=dict(lr=0.1, alpha=0.1, momentum=0.8, l1=0.05, l2=0.1, l2_shrinkage=0.1, lr_power=-0.5, epsilon=0.01, rho=0.9, beta1=0.9, beta2=0.95,
                 beta1_power=0.81, beta2_power=0.9, logbase=0.5, sign_decay=0.9, beta=0.9),
    global_step=3,
    # Slots that hold squares are positive; a mean gradient is small.
    slot_range=dict(accum=(0.5, 2), accum_update=(0.5, 2), v=(0.5, 2), vhat=(0.5, 2), ms=(0.5, 2), gradient_squared_accumulator=(0.5, 2), mg=(-0.1, 0.1)),
    # relative and absolute, of the types to record
    tolerance={tf.float32: (2e-5, 1e-6), tf.float16: (4e-3, 2e-3), tf.bfloat16: (2e-2, 1e-2), tf.complex64: (2e-5, 1e-6)},
)


def types_of(op):
    found = set()
    for k in kernels.get_registered_kernels_for_op(op).kernel:
        for c in k.constraint:
            if k.device_type == "CPU" and c.name == "T":
                found |= {tf.as_dtype(t) for t in c.allowed_values.list.type}
    return sorted(found, key=lambda t: t.as_datatype_enum)


def signatures(ops_tsv):
    """(op, [(input, type)], name of the switch or None)"""
    for line in open(ops_tsv):
        op, inputs, _, attrs = line.rstrip("\n").split("\t")[:4]
        if op.startswith(("ResourceApply", "ResourceSparseApply")):
            switches = [a.split(":")[0] for a in attrs.split("; ") if ":bool" in a and not a.startswith("use_locking")]
            yield op, [tuple(x.split(":")) for x in inputs.split(", ")], switches[0] if switches else None


def numbers(rng, shape, dtype, low=-1.0, high=1.0):
    x = rng.uniform(low, high, shape)
    return (x + 0.3j * rng.uniform(-1, 1, shape) if dtype.is_complex else x).astype(dtype.as_numpy_dtype)


def case(P, rng, op, inputs, dtype, switch, on):
    sparse = "Sparse" in op
    shape = P["sparse_shape"] if sparse else P["dense_shape"]
    g = tf.Graph()
    with g.as_default():
        variables, args = [], {}
        grad = v1.placeholder(dtype, [None] + list(shape[1:]), name="grad")
        indices = v1.placeholder(tf.int64, [None], name="indices") if sparse else None
        for name, kind in inputs:
            if kind == "resource":
                variables.append(v1.Variable(numbers(rng, shape, dtype, *P["slot_range"].get(name, (-1, 1))), name=name, dtype=dtype, use_resource=True))
                args[name] = variables[-1].handle
            elif name in ("grad", "delta"):
                args[name] = grad
            elif name == "indices":
                args[name] = indices
            elif name == "global_step":
                args[name] = tf.constant(P["global_step"], tf.int64)
            else:
                args[name] = tf.constant(np.array(P["scalars"][name], dtype.as_numpy_dtype))
        if switch:
            args[switch] = on
        update = getattr(raw, op)(**args)
        init = v1.global_variables_initializer()
        reads = [tf.identity(v.read_value()) for v in variables]
        grads, rows, after, slots = [], [], [], []
        with v1.Session(graph=g, config=session_config()) as s:
            s.run(init)
            initial = s.run(reads)
            for _ in range(P["steps"]):
                count = P["sparse_rows"] if sparse else shape[0]
                feeds = {grad: numbers(rng, (count,) + shape[1:], dtype)}
                grads.append(proto(feeds[grad]))
                if sparse:
                    feeds[indices] = rng.randint(0, shape[0], count)
                    rows.append(proto(feeds[indices]))
                s.run(update, feeds)
                now = s.run(reads)
                after.append(proto(now[0]))
                slots += [proto(x) for x in now[1:]]
    rtol, atol = P["tolerance"][dtype]
    record = {
        "name": "%s/%s%s" % (op, dtype.name, "_" + switch if on else ""), "optimizer": op, "grad_kind": "sparse" if sparse else "dense",
        "var_initial": proto(initial[0]), "num_steps": [P["steps"]], "grad_values": grads, "var_after": after,
        "slot_names": [v.op.name for v in variables[1:]], "slot_initial": [proto(x) for x in initial[1:]], "slot_after": slots,
        "graph_def": g.as_graph_def().SerializeToString(), "init_op": init.name, "train_op": update.name,
        "grad_feed_names": ["grad:0", "indices:0"] if sparse else ["grad:0"], "read_names": [r.name for r in reads], "rtol": [rtol], "atol": [atol],
    }
    if sparse:
        record["grad_indices"] = rows
    return record


def main(ops_tsv, path):
    rng = np.random.RandomState(PARAMS["seed"])
    count = 0
    with tf.io.TFRecordWriter(path) as w:
        for op, inputs, switch in signatures(ops_tsv):
            for dtype in [t for t in types_of(op) if t in PARAMS["tolerance"]]:
                for on in (False, True) if switch else (False,):
                    w.write(example(case(PARAMS, rng, op, inputs, dtype, switch, on)))
                    count += 1
    print("%d cases, %d bytes" % (count, os.path.getsize(path)))


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Writes what TensorFlow says of the ops that Sextant has.   usage: python registry.py REPOSITORY OPS_TSV   (needs TensorFlow 2.15)

REPOSITORY/testdata/tf215_ops.tsv          the lines of OPS_TSV (signatures of all TensorFlow ops) for ops named in sources and case tables
REPOSITORY/testdata/tf215_cpu_kernels.tsv  op, type attributes, the combinations of their values that have a CPU kernel ("*": any)
Quantised types, 4-bit integers and 8-bit floats are left out."""
import os
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import itertools
import pathlib
import re
import sys
import tensorflow as tf
from tensorflow.python.framework import kernels

TYPES = {getattr(tf, name).as_datatype_enum: name for name in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "half", "bfloat16", "complex64", "complex128",
    "string", "resource", "variant")}
TYPES.update({tf.float32.as_datatype_enum: "float", tf.float64.as_datatype_enum: "double"})


def names_in_sources(repository):
    names = set()
    for path in pathlib.Path(repository, "sextant").rglob("*.cc"):
        if not path.name.endswith("_test.cc"):
            names |= set(re.findall(r'"([A-Z][A-Za-z0-9]+)"', path.read_text()))
    for path in pathlib.Path(repository, "sextant", "ops").rglob("*cases.txt"):
        names |= set(re.findall(r"\b([A-Z][A-Za-z0-9]+)\(", path.read_text()))
    return names


def combinations(op):
    """(attributes, rows): rows of type names, one per attribute; an empty row for a kernel without constraints."""
    registered = list(kernels.get_registered_kernels_for_op(op).kernel)
    # DEFAULT kernels serve every device that has none of its own.
    chosen = [k for k in registered if k.device_type == "CPU"] or [k for k in registered if k.device_type == "DEFAULT"]
    chosen = [k for k in chosen if not k.label]
    attrs = sorted({c.name for k in chosen for c in k.constraint})
    rows = set()
    for k in chosen:
        allowed = {c.name: [TYPES.get(t) for t in c.allowed_values.list.type] for c in k.constraint}
        for row in itertools.product(*[allowed.get(a, ["*"]) for a in attrs]):
            if None not in row:
                rows.add(row)
    return attrs, sorted(rows)


def main(repository, ops_tsv):
    wanted = names_in_sources(repository)
    testdata = pathlib.Path(repository, "testdata")
    with open(ops_tsv) as f:
        lines = [line for line in f if line.split("\t")[0] in wanted]
    (testdata / "tf215_ops.tsv").write_text("".join(lines))
    with open(testdata / "tf215_cpu_kernels.tsv", "w") as out:
        for line in lines:
            op = line.split("\t")[0]
            attrs, rows = combinations(op)
            if rows:
                out.write("%s\t%s\t%s\n" % (op, ",".join(attrs), " ".join(",".join(row) for row in rows)))


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Picks the part of the golden files that is kept in the repository.   usage: subset.py GOLDEN_DIR OUT_DIR

GOLDEN_DIR/<file>.tfrecord are the files ops.py and training.py write. Of the files in WHOLE all is kept; of those in THINNED, for each op,
the first case of every kind (case names read family/op/kind_details or optimizer/kind_details, the kind being mostly the element type) and
whatever else it takes to have every op type that occurs, in TensorFlow's gradient graphs too."""
import os
import re
import sys
from golden_file import bytes_feature, op_types, records

WHOLE = ["ops/control_flow", "ops/random", "ops/random_linalg", "ops/errors", "ops/errors_nn_data", "ops/edges", "ops/lowered", "ops/nonfinite", "ops/limits", "training/schedules", "training/ema", "training/clip"]
THINNED = ["ops/math", "ops/array", "ops/nn", "ops/image", "ops/string", "ops/rnn", "training/optimizers", "training/metrics"]


def kind(name):
    stem, _, case = name.rpartition("/")
    return stem, re.split(r"[_\[]", case)[0]


def thin(cases):
    kept, kinds, ops = [], set(), set()
    for frame, example in cases:
        k = kind(bytes_feature(example, "name")[0].decode())
        new_ops = set()
        for key in ("graph_def", "graph_def_with_grads"):
            for graph_def in bytes_feature(example, key):
                new_ops |= op_types(graph_def)
        if k not in kinds or new_ops - ops:
            kept.append(frame)
            kinds.add(k)
            ops |= new_ops
    return kept


def main(golden_dir, out_dir):
    for name in WHOLE + THINNED:
        cases = list(records(os.path.join(golden_dir, name + ".tfrecord")))
        kept = thin(cases) if name in THINNED else [frame for frame, _ in cases]
        path = os.path.join(out_dir, name + ".tfrecord")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.writelines(kept)
        print("%-20s %4d of %4d cases, %7d bytes" % (name, len(kept), len(cases), os.path.getsize(path)))


if __name__ == "__main__":
    main(*sys.argv[1:])

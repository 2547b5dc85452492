"""Writes OUT_DIR/ops/<family>.tfrecord.   usage: python ops.py OUT_DIR [family ...]   (needs TensorFlow 2.15)"""
import sys
from opslib import *
import fam_math, fam_array, fam_flow, fam_random, fam_errors

# (family, module, number): the number is part of the family's seed, so that families can join without changing the others' values.
FAMILIES = [("math", fam_math, 0), ("array", fam_array, 1), ("control_flow", fam_flow, 5), ("random", fam_random, 7), ("errors", fam_errors, 8)]

# Cases that need one of these ops are written to a file of their own: the families math, array, control_flow, random and errors need nothing beyond the core ops.
APART = {"errors": ("errors_nn_data", ("Conv2D", "SparseSoftmaxCrossEntropyWithLogits", "StringToNumber", "DecodeCSV", "ParseExample", "DecodeRaw", "DecodePng")),
         "random": ("random_linalg", ("Qr",))}

PARAMS = dict(
    seed=1000,
    # math
    dim3=(2, 3, 4), unary_range=(-3, 3), unary_shapes=[(3, 5), (7,), (), (2, 0, 3), (2, 3, 1, 5)],
    bcast=[((3, 4), (3, 4)), ((2, 3, 4), (4,)), ((5, 1, 3), (1, 4, 1)), ((), (2, 3)), ((0, 3), (1, 3)), ((), ()), ((17,), (1,))],
    bcast_dtypes=[[F64, I32], [I64], [I32], [F64], [I32], [I64], []],
    special_cols=[0, 2, 3, 4, 8, 9], leaky=[0.1, 0.0, 1.0],
    select_shapes=[(4,), (3, 2), (2, 2, 3)], selectv2=[((3, 1), (1, 4), ()), ((4,), (2, 4), (2, 1)), ((), (3,), (2, 3)), ((2, 3), (2, 3), (2, 3))],
    clip=(-0.75, 1.25), clip_norm=1.5, addn=[1, 2, 4], bias_shapes=[(3, 5), (2, 4, 3), (2, 3, 4, 5), (1, 2, 2, 2, 3)],
    cum=[((3, 4), 0), ((2, 3, 2), -1)],
    reduce=[((3, 4), [0]), ((2, 3, 4), [1, 2]), ((2, 3, 4), [-1]), ((2, 3, 4), [0, 2]), ((2, 3), []), ((2, 3), [0, 1]), ((5,), [0]), ((), []), ((3, 1, 2, 2), [0, 3])],
    arg=[((3, 4), 0), ((3, 4), -1), ((2, 3, 4), 1), ((6,), 0)],
    matmul=[(3, 4, 5), (1, 7, 1), (16, 9, 33), (2, 0, 3)],
    bmm=[((2, 3, 4), (2, 4, 5), False, False), ((2, 3, 4), (2, 5, 4), False, True), ((3, 1, 4, 2), (2, 4, 3), True, False), ((4, 3), (2, 5, 4), True, True), ((0, 3, 4), (0, 4, 2), False, False)],
    einsum=[("ij,jk->ik", [(3, 4), (4, 5)]), ("bij,bjk->bik", [(2, 3, 4), (2, 4, 2)]), ("ij->ji", [(3, 4)]), ("ij->", [(3, 4)]), ("...ij,jk->...ik", [(2, 2, 3), (3, 4)]), ("i,j->ij", [(3,), (2,)])],
    range_i=[(0, 10, 3), (10, 0, -4), (5, 5, 1), (-3, 3, 1)], range_f=[(0.0, 1.0, 0.25), (1.0, -1.0, -0.3), (0.0, 1.0, 0.1)],
    linspace=[(0.0, 1.0, 5), (-2.0, 3.5, 7), (4.0, 1.0, 1)], segment=[(8, 4, (3,)), (5, 6, ()), (9, 3, (2, 2))],
    # array
    reshape=[((2, 6), (3, 4)), ((2, 3, 4), (-1, 4)), ((4,), (2, -1, 1)), ((), (1, 1)), ((0, 3), (3, 0, 5)), ((1,), ())],
    transpose=[((3, 4), (1, 0)), ((2, 3, 4), (2, 0, 1)), ((2, 3, 4, 5), (0, 3, 1, 2)), ((2, 3, 4, 5), (0, 2, 3, 1)), ((5,), (0,)), ((2, 0, 3), (1, 2, 0)), ((2, 1, 3, 2, 2), (4, 2, 0, 3, 1))],
    concat=[([(2, 3), (1, 3)], 0), ([(2, 3), (2, 2), (2, 0)], 1), ([(2, 2, 1), (2, 2, 4)], -1)],
    split=[((4, 6), 0, 2), ((4, 6), 1, 3), ((2, 3, 8), -1, 4), ((3,), 0, 1)], splitv=[((7, 2), 0, [3, -1, 1]), ((2, 5), 1, [0, 5]), ((6,), 0, [1, 2, 3])],
    pack=[((2, 3), 0, 2), ((2, 3), 2, 3), ((), 0, 4), ((2,), -1, 2)], unpack=[((3, 2), 0), ((2, 4), 1), ((2, 3, 2), -2)],
    slice=[((4, 5), (1, 2), (2, -1)), ((6,), (2,), (3,)), ((2, 3, 4), (0, 1, 0), (-1, 1, 2)), ((3, 3), (3, 0), (0, 3))],
    strided=[((6,), "1:5"), ((6,), "::2"), ((6,), "::-1"), ((6,), "-2"), ((4, 5), "1"), ((4, 5), "1:,2"), ((4, 5), ":,None"), ((2, 3, 4), "...,1"), ((2, 3, 4), "0,...,::2"),
             ((2, 3, 4), "None,...,None"), ((2, 3, 4), "1,None,0:2,...,-1"), ((4, 5), "-1:-4:-2,3:1:-1"), ((4, 5), "3:1,:"), ((4, 5), "10:,-20:20"), ((3, 4, 5, 2), "1:,::2,-3:-1,0"), ((2, 3), "..."), ((5, 4), "-1,:"), ((4, 3), "::-1,::-2")],
    strided_raw=[((4, 5), [1, 0], [3, 4], [1, 2], dict()), ((4, 5), [1, 1], [0, 0], [1, 1], dict(begin_mask=1, end_mask=3)), ((4, 5), [2, 1], [3, 4], [1, 1], dict(shrink_axis_mask=1)),
                 ((4, 5), [0, 1, 0], [0, 4, 0], [1, 1, 1], dict(new_axis_mask=1, end_mask=4)), ((2, 3, 4), [0, 1], [0, 2], [1, 1], dict(ellipsis_mask=1)), ((4, 5), [3, 4], [0, 0], [-1, -2], dict(begin_mask=2, end_mask=2)),
                 ((2, 3, 4), [0, 1, 0, 0], [2, 0, 0, 3], [1, 1, 1, 1], dict(ellipsis_mask=4, new_axis_mask=2))],
    gather=[((5, 3), (4,), 0), ((5, 3), (2, 2), 1), ((4,), (), None), ((2, 6, 3), (0,), 1), ((7, 2, 2), (3, 1), 0), ((2, 3, 5), (4,), -1)],
    gather_batch=[((2, 5, 3), (2, 4), 1, 1), ((2, 3, 4), (2, 3, 2), 2, 2), ((3, 4), (3,), 1, 1)],
    gathernd=[((4, 5), (3,), 1), ((4, 5), (3,), 2), ((2, 3, 4), (2, 2), 2), ((2, 3), (4,), 0), ((2, 2, 3, 2), (5,), 3)],
    tile=[((2, 3), (2, 1)), ((3,), (3,)), ((2, 1, 2), (1, 3, 2)), ((2, 2), (0, 1)), ((), ())],
    pad=[((2, 3), [1, 1, 2, 0]), ((3,), [0, 2]), ((1, 2, 2, 3), [0, 0, 1, 2, 2, 1, 0, 0]), ((2, 2), [0, 0, 0, 0])],
    mirror=[((3, 4), [[1, 1], [2, 2]]), ((5,), [[2, 3]]), ((2, 3, 3), [[0, 0], [1, 2], [2, 0]])],
    squeeze=[((1, 3, 1, 2), []), ((1, 3, 1, 2), [0]), ((1, 3, 1, 2), [-2]), ((1, 1), [0, 1])], expand=[((3, 2), 0), ((3, 2), -1), ((3, 2), 1), ((), 0)],
    shapes=[(2, 3), (), (0, 4), (1, 2, 3)], onehot=[((4,), 5, -1, F32), ((2, 3), 3, 0, F32), ((2, 3), 4, 1, I32), ((), 3, -1, F64), ((0,), 3, -1, I64)],
    where=[(6,), (3, 4), (2, 2, 3), (0, 2)], unique_n=12, reverse=[((4,), [0]), ((2, 3), [1]), ((2, 3, 4), [0, -1]), ((2, 3), [])],
    revseq=[((3, 5), 1, 0), ((4, 3, 2), 0, 1), ((2, 2, 6), 2, 0)], seqmask=[(4, None), (3, 7)], topk=[((7,), 3, True), ((3, 5), 2, True), ((2, 2, 4), 4, True), ((3, 5), 1, True), ((3, 5), 0, True)],
    perm_n=6, bto=[((3,), (2, 3)), ((2, 1), (2, 4)), ((), (2, 2)), ((1, 3, 1), (2, 3, 4))],
    sparse_dense_shape=(5, 4), sparse_empty_row=[1, 4], cross=[(100, 956888297470), (9223372036854775807, 956888297470), (7, 123)], vocab=10, emb_dim=4,
    # random: (seed, seed2)
    seeds=[(87654321, 1), (0, 42), (123, 0)], graph_seed=1234,
    flow_n=6,
)


def run(params, out_dir, only=(), extra=None):
    failed, ops = [], {}
    for fam, mod, k in FAMILIES:
        if only and fam not in only:
            continue
        r = Recorder(out_dir, fam, params["seed"] + k, APART.get(fam))
        mod.build(r, params)
        if extra and fam in extra:
            extra[fam](r)
        r.close()
        failed += r.failed
        for o, c in r.ops.items():
            ops[o] = ops.get(o, 0) + c
    print("op types in forward graphs:", len(ops))
    if failed:
        print("FAILED CASES:", len(failed))
        for n, e in failed:
            print(" ", n, e)
    return ops


if __name__ == "__main__":
    run(PARAMS, sys.argv[1], sys.argv[2:])

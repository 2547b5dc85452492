"""edges family: arguments at the edge of what an op takes, answered or refused as TensorFlow does. A refusal's message must hold what "says" gives."""
from opslib import *

NAN, INF, BIG = float("nan"), float("inf"), 3e38
HUGE = [2**33, 2**33]  # the product overflows 64 bits


def build(r, P):
    lists(r)
    strings_and_histograms(r)
    boxes(r)
    sparse_shapes(r)
    scalars(r)
    segments(r)
    coordinates(r)


def edge(r, name, fn, inputs, says=None, **options):
    """Records the answer, or the refusal if there is one."""
    g = tf.Graph()
    with g.as_default():
        ph, feeds = r._placeholders(inputs, 3)
        out = fn(**ph)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        with v1.Session(graph=g, config=session_config()) as s:
            try:
                s.run(out, feeds)
            except tf.errors.OpError as e:
                assert says is None or says in str(e), (name, says, str(e)[:300])
                return r.error(name, fn, inputs, says=says)
    assert says is None, name + " does not fail"
    options.setdefault("grad", False)
    r.case(name, fn, inputs, static=3, **options)


# ---- lists: TensorListGather and TensorListConcatV2 look at the elements they take, and infer what is not set

def list_of(elements, shape=-1, dtype=tf.float32):
    """A list with the tensors as elements; None is not set."""
    handle = raw.TensorListReserve(element_shape=tf.constant(shape, tf.int32), num_elements=I32(len(elements)), element_dtype=dtype)
    for i, e in enumerate(elements):
        if e is not None:
            handle = raw.TensorListSetItem(input_handle=handle, index=I32(i), item=e)
    return handle


def lists(r):
    two, three, pair = r.f(2), r.f(3), r.f(2, 2)
    gather = lambda i, elements, shape=-1, want=-1: raw.TensorListGather(input_handle=list_of(elements, shape), indices=i, element_shape=tf.constant(want, tf.int32), element_dtype=tf.float32)
    for name, indices in [("one", [0]), ("other", [1]), ("twice", [0, 0]), ("unset_with_set", [2, 0]), ("set_with_unset", [1, 2]), ("both", [0, 1]), ("unset", [2]),
                          ("none", []), ("beyond", [3]), ("negative", [-1]), ("beyond_after_mismatch", [0, 1, 9])]:
        edge(r, "TensorListGather/" + name, lambda i, a, c: gather(i, [a, c, None]), {"i": I32(indices), "a": two, "c": three})
    for name, indices in [("unset", [1]), ("none", []), ("beyond", [2])]:
        edge(r, "TensorListGather/known_" + name, lambda i, a: gather(i, [a, None], [2]), {"i": I32(indices), "a": two})
        edge(r, "TensorListGather/wanted_" + name, lambda i, a: gather(i, [a, None], -1, [2]), {"i": I32(indices), "a": two})
        edge(r, "TensorListGather/partly_" + name, lambda i, a: gather(i, [a, None], [-1, 2]), {"i": I32(indices), "a": pair})
    edge(r, "TensorListGather/wanted_other", lambda i, a: gather(i, [a, None], -1, [3]), {"i": I32([0]), "a": two})
    concat = lambda elements, shape=-1, want=-1, lead=(): raw.TensorListConcatV2(input_handle=list_of(elements, shape), element_shape=tf.constant(want, tf.int32), leading_dims=tf.constant(lead, tf.int64), element_dtype=tf.float32)
    edge(r, "TensorListConcatV2/lengths_differ", lambda a, c: concat([a, c]), {"a": two, "c": three})
    edge(r, "TensorListConcatV2/unset_infers", lambda a, c: concat([a, None, c]), {"a": two, "c": two})
    edge(r, "TensorListConcatV2/unset_cannot_infer", lambda a, c: concat([a, None, c]), {"a": two, "c": three})
    edge(r, "TensorListConcatV2/unset_leading", lambda a, c: concat([a, None, c], -1, -1, [0, 4, 0]), {"a": two, "c": three})
    edge(r, "TensorListConcatV2/unset_leading_over_inferred", lambda a, c: concat([a, None, c], -1, -1, [0, 4, 0]), {"a": two, "c": two})
    edge(r, "TensorListConcatV2/unset_leading_short", lambda a, c: concat([None, a, c, None], -1, -1, [3]), {"a": two, "c": three})
    edge(r, "TensorListConcatV2/unset_leading_short_inferred", lambda a: concat([None, a, None], -1, -1, [3]), {"a": two})
    edge(r, "TensorListConcatV2/unset_all", lambda a: concat([None, None]), {"a": two})
    edge(r, "TensorListConcatV2/unset_all_known", lambda a: concat([None, None], [3, 2]), {"a": two})
    edge(r, "TensorListConcatV2/unset_all_partly", lambda a: concat([None, None], [-1, 2], -1, [1, 2]), {"a": two})
    edge(r, "TensorListConcatV2/first_dim_wrong", lambda a: concat([a], -1, [3]), {"a": two})
    edge(r, "TensorListConcatV2/rest_differs", lambda a, c: concat([a, c]), {"a": pair, "c": r.f(1, 3)})
    edge(r, "TensorListConcatV2/scalar", lambda a: concat([a]), {"a": F32(1)})
    edge(r, "TensorListConcatV2/scalars_wanted", lambda a: concat([a], -1, []), {"a": F32(1)})
    edge(r, "TensorListConcatV2/empty", lambda a: concat([]), {"a": two})
    edge(r, "TensorListConcatV2/empty_known", lambda a: concat([], [-1, 2]), {"a": two})
    old = lambda elements, shape=-1: raw.TensorListConcat(input_handle=list_of(elements, shape), element_dtype=tf.float32)
    edge(r, "TensorListConcat/unset_infers", lambda a: old([a, None]), {"a": two})
    edge(r, "TensorListConcat/unset_cannot_infer", lambda a, c: old([a, None, c]), {"a": two, "c": three})
    item = lambda elements, i, shape=-1, want=-1: raw.TensorListGetItem(input_handle=list_of(elements, shape), index=i, element_shape=tf.constant(want, tf.int32), element_dtype=tf.float32)
    edge(r, "TensorListGetItem/unset_infers", lambda i, a: item([a, None], i), {"i": I32(1), "a": two})
    edge(r, "TensorListGetItem/unset_among_different", lambda i, a, c: item([a, c, None], i), {"i": I32(2), "a": two, "c": three})
    edge(r, "TensorListGetItem/wanted_other", lambda i, a: item([a], i, -1, [3]), {"i": I32(0), "a": two})
    edge(r, "TensorListStack/different", lambda a, c: raw.TensorListStack(input_handle=list_of([a, c]), element_shape=I32(-1), element_dtype=tf.float32), {"a": two, "c": three})
    edge(r, "TensorListStack/unset", lambda a: raw.TensorListStack(input_handle=list_of([a, None]), element_shape=I32(-1), element_dtype=tf.float32), {"a": two})
    edge(r, "TensorListPopBack/unset", lambda a: raw.TensorListPopBack(input_handle=list_of([a, None]), element_shape=I32(-1), element_dtype=tf.float32).tensor, {"a": two})


def strings_and_histograms(r):
    words = [b"\xc3\xa9t\xc3\xa9", b"\xe6\x97\xa5\xe6\x9c\xac", b"\xf0\x9f\x98\x80", b"\xff\xfe", b"tab\t\"quote\" back\\slash 'q'", b"a\x00b", b"\x7f\x01", b"\r\n", b"\xc3", b""]
    fmt = lambda x, template="<{}>", summarize=3: raw.StringFormat(inputs=[x], template=template, placeholder="{}", summarize=summarize)
    for i, w in enumerate(words):
        edge(r, "StringFormat/scalar_%d" % i, lambda x: fmt(x), {"x": w})
    edge(r, "StringFormat/vector", lambda x: fmt(x, summarize=-1), {"x": words})
    edge(r, "StringFormat/summarized", lambda x: fmt(x, summarize=2), {"x": words})
    edge(r, "StringFormat/template", lambda x: fmt(x, "\u00e9 {} \u65e5\u672c"), {"x": words[:2]})
    edge(r, "StringFormat/two", lambda x, y: raw.StringFormat(inputs=[x, y], template="\u00e4{}\u00f6{}\u00fc", placeholder="{}", summarize=3), {"x": words[:2], "y": F32([[1.5, NAN], [INF, -0.0]])})
    edge(r, "StringFormat/matrix", lambda x: fmt(tf.reshape(x, [2, 5])), {"x": words})
    for name, a in [("bool", np.array([True, False])), ("half", F16([0.1, 1e4])), ("double", F64([0.1, 1e300])), ("int8", I8([-1, 2])), ("uint8", U8([1, 200])), ("empty", F32([])), ("int64", I64([2**62]))]:
        edge(r, "StringFormat/" + name, lambda x: fmt(x), {"x": a})
    hist = lambda v, w, n: raw.HistogramFixedWidth(values=v, value_range=w, nbins=n)
    for dtype in (F32, F64):
        big = BIG if dtype == F32 else 1.7e308
        d = np.dtype(dtype).name
        edge(r, "HistogramFixedWidth/wide_" + d, hist, {"v": dtype([-big, -1, 0, 1, big, big / 2, -big / 2]), "w": dtype([-big, big]), "n": I32(4)})
        edge(r, "HistogramFixedWidth/wide_values_" + d, hist, {"v": dtype([-big, -1, 0, 1, 2.5, big]), "w": dtype([0, 5]), "n": I32(5)})
        if dtype == F64:  # TensorFlow takes float denormals for 0
            edge(r, "HistogramFixedWidth/narrow_" + d, hist, {"v": dtype([0, 1e-38, 5e-39]), "w": dtype([0, 1e-38]), "n": I32(5)})
        edge(r, "HistogramFixedWidth/half_wide_" + d, hist, {"v": dtype([0, 1, big, big / 2, big / 3]), "w": dtype([0, big]), "n": I32(3)})
        edge(r, "HistogramFixedWidth/infinite_values_" + d, hist, {"v": dtype([-INF, INF, 1]), "w": dtype([0, 2]), "n": I32(3)})
        for k in range(8):  # values at the edges of bins
            lo, hi, n = sorted(r.f(2, dtype=dtype)) + [r.rng.randint(3, 12)]
            edge(r, "HistogramFixedWidth/bin_edges_%s_%d" % (d, k), hist, {"v": (lo + (hi - lo) * np.arange(1, n, dtype=dtype) / dtype(n)).astype(dtype), "w": dtype([lo, hi]), "n": I32(n)})
        edge(r, "HistogramFixedWidth/nan_value_" + d, hist, {"v": dtype([NAN, 1]), "w": dtype([0, 2]), "n": I32(3)})
    edge(r, "HistogramFixedWidth/wide_int32", hist, {"v": I32([-2**31, -1, 0, 1, 2**31 - 1]), "w": I32([-2**31, 2**31 - 1]), "n": I32(4)})
    edge(r, "HistogramFixedWidth/wide_int64", hist, {"v": I64([-2**63, -1, 0, 1, 2**63 - 1]), "w": I64([-2**63, 2**63 - 1]), "n": I32(4)})
    for name, w, n in [("range_equal", F32([1, 1]), I32(3)), ("range_reversed", F32([2, 1]), I32(3)), ("bins_zero", F32([0, 1]), I32(0)), ("bins_negative", F32([0, 1]), I32(-1)), ("range_three", F32([0, 1, 2]), I32(2)), ("bins_vector", F32([0, 1]), I32([3]))]:
        edge(r, "HistogramFixedWidth/" + name, hist, {"v": F32([0.5, 0.25, 2]), "w": w, "n": n})


def boxes(r):
    image = r.f(1, 4, 5, 2)
    # Rows of finite and of non-finite boxes: what is not finite takes the extrapolation value, or what TensorFlow gives.
    rows = [("nan", [NAN, 0, 1, 1]), ("nan_x", [0, NAN, 1, 1]), ("nan_y2", [0, 0, NAN, 1]), ("nan_x2", [0, 0, 1, NAN]), ("inf", [0, 0, INF, 1]), ("minus_inf", [-INF, 0, 1, 1]), ("inf_x", [0, INF, 1, 1]),
            ("big", [-1e30, 0, 1e30, 1]), ("huge", [-BIG, -BIG, BIG, BIG]), ("outside", [2, 2, 3, 3]), ("reversed", [1, 1, 0, 0]), ("far", [1e10, 0, 2e10, 1])]
    for name, box in rows:
        finite = np.all(np.isfinite(box))  # TensorFlow's gradients and huge boxes read outside of memory
        for method in ("bilinear", "nearest") if name != "huge" else ():
            for size in ((3, 2), (1, 1)):
                edge(r, "CropAndResize/%s_%s_%d" % (name, method, size[0]), lambda x, c: raw.CropAndResize(image=x, boxes=c, box_ind=I32([0, 0]), crop_size=I32(size), method=method, extrapolation_value=7.0),
                     {"x": image, "c": F32([[0, 0, 1, 1], box])})
        if finite and name != "huge":
            edge(r, "CropAndResizeGradImage/" + name, lambda g, c: raw.CropAndResizeGradImage(grads=g, boxes=c, box_ind=I32([0, 0]), image_size=I32([1, 4, 5, 2]), T=tf.float32), {"g": r.f(2, 3, 2, 2), "c": F32([[0, 0, 1, 1], box])})
            edge(r, "CropAndResizeGradBoxes/" + name, lambda g, x, c: raw.CropAndResizeGradBoxes(grads=g, image=x, boxes=c, box_ind=I32([0, 0])), {"g": r.f(2, 3, 2, 2), "x": image, "c": F32([[0, 0, 1, 1], box])})
        edge(r, "DrawBoundingBoxes/" + name, lambda x, c: raw.DrawBoundingBoxes(images=x, boxes=c), {"x": r.f(1, 5, 6, 3), "c": F32([[box, [0.1, 0.1, 0.7, 0.8]]])})
        edge(r, "NonMaxSuppressionV3/" + name, lambda c, s: raw.NonMaxSuppressionV3(boxes=c, scores=s, max_output_size=I32(3), iou_threshold=F32(0.5), score_threshold=F32(-INF)), {"c": F32([[0, 0, 1, 1], box, [0, 0, 1, 0.9]]), "s": F32([0.9, 0.8, 0.7])})
    for i, bad in enumerate([2, -1]):
        edge(r, "CropAndResize/box_index_%d" % i, lambda x, c, b: raw.CropAndResize(image=x, boxes=c, box_ind=b, crop_size=I32([2, 2])), {"x": image, "c": F32([[0, 0, 1, 1]]), "b": I32([bad])})
    edge(r, "NonMaxSuppressionV3/nan_scores", lambda c, s: raw.NonMaxSuppressionV3(boxes=c, scores=s, max_output_size=I32(3), iou_threshold=F32(0.5), score_threshold=F32(0.0)), {"c": F32([[0, 0, 1, 1], [2, 2, 3, 3]]), "s": F32([NAN, 0.8])})


def sparse_shapes(r):
    for name, shape in [("overflow", HUGE), ("overflow_three", [2**31, 2**31, 2**31]), ("largest", [2**31, 2**31]), ("negative", [-1, 3]), ("zero", [0, 3])]:
        n = len(shape)
        idx = I64([[0] * n, [0] * (n - 1) + [1]])
        ins = {"i": idx, "v": F32([1.5, 2]), "s": I64(shape)}
        for op in ("SparseReduceSum", "SparseReduceMax", "SparseReduceSumSparse", "SparseReduceMaxSparse"):
            for axes in ([0], list(range(n))):
                if op.endswith("Sparse") or name not in ("largest",):
                    edge(r, "%s/%s_%d" % (op, name, len(axes)), lambda i, v, s: getattr(raw, op)(input_indices=i, input_values=v, input_shape=s, reduction_axes=I32(axes)), ins)
        edge(r, "SparseSoftmax/" + name, lambda i, v, s: raw.SparseSoftmax(sp_indices=i, sp_values=v, sp_shape=s), ins)
        if name != "negative":
            edge(r, "SparseReorder/" + name, lambda i, v, s: raw.SparseReorder(input_indices=i, input_values=v, input_shape=s), ins)
        if name != "negative":
            edge(r, "SparseAdd/" + name, lambda i, v, s: raw.SparseAdd(a_indices=i, a_values=v, a_shape=s, b_indices=i, b_values=v, b_shape=s, thresh=F32(0)), ins)
        if name not in ("negative", "largest"):
            edge(r, "SparseConcat/" + name, lambda i, v, s: raw.SparseConcat(indices=[i, i], values=[v, v], shapes=[s, s], concat_dim=0), ins)
        if name != "largest":
            edge(r, "SparseSplit/" + name, lambda i, v, s: flat(raw.SparseSplit(split_dim=I64(0), indices=i, values=v, shape=s, num_split=1)), ins)
        edge(r, "SparseSlice/" + name, lambda i, v, s: raw.SparseSlice(indices=i, values=v, shape=s, start=I64([0] * n), size=I64([1] * n)), ins)
        edge(r, "SparseFillEmptyRows/" + name, lambda i, v, s: raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=s, default_value=F32(9)), dict(ins, s=I64([3] + shape[1:])))
        edge(r, "SparseDenseCwiseMul/" + name, lambda i, v, s, d: raw.SparseDenseCwiseMul(sp_indices=i, sp_values=v, sp_shape=s, dense=d), dict(ins, d=r.f(1)))
        edge(r, "SparseTensorDenseAdd/" + name, lambda i, v, s, d: raw.SparseTensorDenseAdd(a_indices=i, a_values=v, a_shape=s, b=d), dict(ins, d=r.f(2, 2)))
        edge(r, "SerializeSparse/" + name, lambda i, v, s: tf.shape(raw.SerializeSparse(sparse_indices=i, sparse_values=v, sparse_shape=s)), ins)
        edge(r, "SparseReshape/" + name, lambda i, s: raw.SparseReshape(input_indices=i, input_shape=s, new_shape=I64([-1])), {"i": idx, "s": I64(shape)})
        edge(r, "SparseReshape/to_" + name, lambda i, s: raw.SparseReshape(input_indices=i, input_shape=I64([2, 2]), new_shape=s), {"i": I64([[0, 0], [0, 1]]), "s": I64(shape)})
        if n == 2:
            edge(r, "SparseTensorDenseMatMul/" + name, lambda i, v, s, d: raw.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=s, b=d), dict(ins, d=r.f(2, 2)))
            if name != "largest":
                edge(r, "SparseToDense/" + name, lambda i, v, s: raw.SparseToDense(sparse_indices=i, output_shape=s, sparse_values=v, default_value=F32(0)), ins)
            edge(r, "DenseToSparseSetOperation/" + name, lambda i, v, s, d: raw.DenseToSparseSetOperation(set1=d, set2_indices=i, set2_values=v, set2_shape=s, set_operation="a-b"), dict(ins, d=I32([[1, 2]]), v=I32([1, 2])))
            if name != "largest":
                edge(r, "SetSize/" + name, lambda i, v, s: raw.SetSize(set_indices=i, set_values=v, set_shape=s), dict(ins, v=I32([1, 2])))
    edge(r, "SparseSoftmax/unsorted", lambda i, v: raw.SparseSoftmax(sp_indices=i, sp_values=v, sp_shape=I64([2, 3])), {"i": I64([[0, 1], [0, 0], [1, 0]]), "v": F32([1.5, 2, 3])})
    outside = [("above", [[0, 0], [1, 5]]), ("below", [[0, 0], [0, -1]]), ("row_above", [[7, 0], [0, 1]]), ("far", [[0, 0], [2**40, 1]]), ("inside", [[0, 0], [1, 2]])]
    for name, idx in outside:
        ins = {"i": I64(idx), "v": F32([1.5, 2])}
        shape = I64([2, 3])
        edge(r, "SparseReshape/outside_" + name, lambda i, v: raw.SparseReshape(input_indices=i, input_shape=shape, new_shape=I64([3, 2])), ins)
        edge(r, "SparseReshape/outside_flat_" + name, lambda i, v: raw.SparseReshape(input_indices=i, input_shape=shape, new_shape=I64([-1])), ins)
        edge(r, "SparseReshape/outside_same_" + name, lambda i, v: raw.SparseReshape(input_indices=i, input_shape=shape, new_shape=I64([2, 3])), ins)
        edge(r, "SparseReorder/outside_" + name, lambda i, v: raw.SparseReorder(input_indices=i, input_values=v, input_shape=shape), ins)
        edge(r, "SparseAdd/outside_" + name, lambda i, v: raw.SparseAdd(a_indices=i, a_values=v, a_shape=shape, b_indices=i, b_values=v, b_shape=shape, thresh=F32(0)), ins)
        edge(r, "SparseConcat/outside_" + name, lambda i, v: raw.SparseConcat(indices=[i, i], values=[v, v], shapes=[shape, shape], concat_dim=0), ins)
        edge(r, "SparseSlice/outside_" + name, lambda i, v: raw.SparseSlice(indices=i, values=v, shape=shape, start=I64([0, 0]), size=I64([2, 2])), ins)
        for op in ("SparseReduceSum", "SparseReduceMaxSparse"):
            edge(r, "%s/outside_%s" % (op, name), lambda i, v: getattr(raw, op)(input_indices=i, input_values=v, input_shape=shape, reduction_axes=I32([1])), ins)
        if name != "below":
            edge(r, "SparseSoftmax/outside_" + name, lambda i, v: raw.SparseSoftmax(sp_indices=i, sp_values=v, sp_shape=shape), ins)
        edge(r, "SparseToDense/outside_" + name, lambda i, v: raw.SparseToDense(sparse_indices=i, output_shape=shape, sparse_values=v, default_value=F32(0), validate_indices=False), ins)
        edge(r, "SparseTensorDenseMatMul/outside_" + name, lambda i, v: raw.SparseTensorDenseMatMul(a_indices=i, a_values=v, a_shape=shape, b=F32([[1, 2], [3, 4], [5, 6]])), ins)
        edge(r, "SparseTensorDenseAdd/outside_" + name, lambda i, v: raw.SparseTensorDenseAdd(a_indices=i, a_values=v, a_shape=shape, b=np.ones([2, 3], F32)), ins)
        edge(r, "SparseDenseCwiseMul/outside_" + name, lambda i, v: raw.SparseDenseCwiseMul(sp_indices=i, sp_values=v, sp_shape=shape, dense=np.ones([2, 3], F32)), ins)
        edge(r, "SparseFillEmptyRows/outside_" + name, lambda i, v: raw.SparseFillEmptyRows(indices=i, values=v, dense_shape=shape, default_value=F32(9)), ins)


# ---- shapes and sizes given as scalars or as vectors of one

def scalars(r):
    x = r.f(6)
    for name, s in [("scalar", I32(6)), ("vector", I32([6])), ("unknown", I32(-1)), ("matrix", I32([[6]])), ("int64", I64(6)), ("wrong", I32(5))]:
        edge(r, "Reshape/shape_" + name, lambda x, s: raw.Reshape(tensor=x, shape=s), {"x": x, "s": s})
        edge(r, "Fill/dims_" + name, lambda s: raw.Fill(dims=s, value=F32(2)), {"s": s})
        edge(r, "BroadcastTo/shape_" + name, lambda s: raw.BroadcastTo(input=F32([2]), shape=s), {"s": s})
        for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
            edge(r, "%s/shape_%s" % (op, name), lambda s: tf.shape(getattr(raw, op)(shape=s, dtype=tf.float32, seed=1)), {"s": s})
        edge(r, "RandomUniformInt/shape_" + name, lambda s: tf.shape(raw.RandomUniformInt(shape=s, minval=I32(0), maxval=I32(3), seed=1)), {"s": s})
        edge(r, "RandomGamma/shape_" + name, lambda s: tf.shape(raw.RandomGamma(shape=s, alpha=F32(1), seed=1)), {"s": s})
        edge(r, "StatelessRandomUniform/shape_" + name, lambda s: tf.shape(raw.StatelessRandomUniform(shape=s, seed=I32([1, 2]))), {"s": s})
        edge(r, "ParameterizedTruncatedNormal/shape_" + name, lambda s: tf.shape(raw.ParameterizedTruncatedNormal(shape=s, means=F32(0), stdevs=F32(1), minvals=F32(-1), maxvals=F32(1), seed=1)), {"s": s})
        edge(r, "Slice/size_" + name, lambda x, s: raw.Slice(input=x, begin=tf.zeros_like(s), size=s), {"x": x, "s": s})
        edge(r, "ScatterNd/shape_" + name, lambda s: raw.ScatterNd(indices=tf.constant([[1]], s.dtype), updates=F32([2]), shape=s), {"s": s})
        edge(r, "SparseToDense/shape_" + name, lambda s: raw.SparseToDense(sparse_indices=tf.constant([1], s.dtype), output_shape=s, sparse_values=F32(2), default_value=F32(0)), {"s": s})
        edge(r, "Tile/multiples_" + name, lambda s: raw.Tile(input=F32([2]), multiples=s), {"s": s})
        if name != "int64":
            edge(r, "Empty/shape_" + name, lambda s: tf.shape(raw.Empty(shape=s, dtype=tf.float32)), {"s": s})
        edge(r, "zeros/shape_" + name, lambda s: tf.zeros(s), {"s": s})
    deep = [1] * 253 + [6]
    edge(r, "Reshape/rank_254", lambda x, s: tf.shape(raw.Reshape(tensor=x, shape=s)), {"x": x, "s": I32(deep)})
    edge(r, "Reshape/rank_254_back", lambda x, s: tf.reshape(raw.Reshape(tensor=x, shape=s), [6]), {"x": x, "s": I32(deep)})
    edge(r, "Reshape/rank_255", lambda x, s: tf.shape(raw.Reshape(tensor=x, shape=s)), {"x": x, "s": I32([1] + deep)})
    edge(r, "Fill/rank_254", lambda s: tf.size(raw.Fill(dims=s, value=F32(2))), {"s": I32(deep)})
    edge(r, "Fill/rank_255", lambda s: tf.size(raw.Fill(dims=s, value=F32(2))), {"s": I32([1] + deep)})
    edge(r, "ExpandDims/rank_254", lambda x, s: tf.rank(raw.ExpandDims(input=raw.Reshape(tensor=x, shape=s), axis=I32(0))), {"x": x, "s": I32(deep[1:])})
    edge(r, "ExpandDims/rank_255", lambda x, s: tf.rank(raw.ExpandDims(input=raw.Reshape(tensor=x, shape=s), axis=I32(0))), {"x": x, "s": I32(deep)})
    edge(r, "Neg/rank_254", lambda x, s: tf.reshape(-raw.Reshape(tensor=x, shape=s), [6]), {"x": x, "s": I32(deep)})
    edge(r, "Squeeze/rank_254", lambda x, s: raw.Squeeze(input=raw.Reshape(tensor=x, shape=s)), {"x": x, "s": I32(deep)})
    edge(r, "AddV2/rank_254", lambda x, s: tf.reshape(raw.Reshape(tensor=x, shape=s) + raw.Reshape(tensor=x, shape=s), [6]), {"x": x, "s": I32(deep)})
    m = r.f(2, 3)
    for name, n in [("scalar", I32(1)), ("vector", I32([1])), ("pair", I32([1, 0])), ("matrix", I32([[1]])), ("empty", I32([]))]:
        edge(r, "ExpandDims/dim_" + name, lambda x, n: raw.ExpandDims(input=x, axis=n), {"x": m, "n": n})
        edge(r, "ConcatV2/axis_" + name, lambda x, n: raw.ConcatV2(values=[x, x], axis=n), {"x": m, "n": n})
        edge(r, "Concat/axis_" + name, lambda x, n: raw.Concat(values=[x, x], concat_dim=n), {"x": m, "n": n})
        edge(r, "Split/axis_" + name, lambda x, n: raw.Split(axis=n, value=x, num_split=3), {"x": m, "n": n})
        edge(r, "SplitV/axis_" + name, lambda x, n: raw.SplitV(value=x, size_splits=I32([1, 2]), axis=n, num_split=2), {"x": m, "n": n})
        edge(r, "GatherV2/axis_" + name, lambda x, n: raw.GatherV2(params=x, indices=I32([0]), axis=n), {"x": m, "n": n})
        edge(r, "OneHot/depth_" + name, lambda n: raw.OneHot(indices=I32([0, 1]), depth=n, on_value=F32(1), off_value=F32(0)), {"n": n})
        edge(r, "OneHot/on_" + name, lambda n: raw.OneHot(indices=I32([0, 1]), depth=I32(3), on_value=tf.cast(n, tf.float32), off_value=F32(0)), {"n": n})
        for op in ("ArgMax", "ArgMin"):
            edge(r, "%s/axis_%s" % (op, name), lambda x, n: getattr(raw, op)(input=x, dimension=n), {"x": m, "n": n})
        for op in ("Cumsum", "Cumprod"):
            edge(r, "%s/axis_%s" % (op, name), lambda x, n: getattr(raw, op)(x=x, axis=n), {"x": m, "n": n})
        edge(r, "Sum/axis_" + name, lambda x, n: raw.Sum(input=x, axis=n), {"x": m, "n": n})
        edge(r, "Max/axis_" + name, lambda x, n: raw.Max(input=x, axis=n), {"x": m, "n": n})
        edge(r, "All/axis_" + name, lambda x, n: raw.All(input=x > 0.0, axis=n), {"x": m, "n": n})
        edge(r, "TopKV2/k_" + name, lambda x, n: raw.TopKV2(input=x, k=n), {"x": m, "n": n})
        edge(r, "InTopKV2/k_" + name, lambda x, n: raw.InTopKV2(predictions=x, targets=I32([0, 1]), k=n), {"x": m, "n": n})
        edge(r, "Bincount/size_" + name, lambda n: raw.Bincount(arr=I32([0, 0]), size=n, weights=F32([])), {"n": n})
        edge(r, "DenseBincount/size_" + name, lambda n: raw.DenseBincount(input=I32([0, 0]), size=n, weights=F32([])), {"n": n})
        edge(r, "Range/start_" + name, lambda n: raw.Range(start=n, limit=I32(4), delta=I32(1)), {"n": n})
        edge(r, "Range/limit_" + name, lambda n: raw.Range(start=I32(0), limit=n, delta=I32(1)), {"n": n})
        edge(r, "Range/delta_" + name, lambda n: raw.Range(start=I32(0), limit=I32(4), delta=n), {"n": n})
        edge(r, "LinSpace/num_" + name, lambda n: raw.LinSpace(start=F32(0), stop=F32(1), num=n), {"n": n})
        edge(r, "LinSpace/start_" + name, lambda n: raw.LinSpace(start=tf.cast(n, tf.float32), stop=F32(3), num=I32(3)), {"n": n})
        edge(r, "Roll/shift_" + name, lambda x, n: raw.Roll(input=x, shift=n, axis=I32(1)), {"x": m, "n": n})
        edge(r, "Roll/axis_" + name, lambda x, n: raw.Roll(input=x, shift=I32(1), axis=n), {"x": m, "n": n})
        edge(r, "ReverseV2/axis_" + name, lambda x, n: raw.ReverseV2(tensor=x, axis=n), {"x": m, "n": n})
        edge(r, "Transpose/perm_" + name, lambda x, n: raw.Transpose(x=x, perm=n), {"x": m, "n": n})
        edge(r, "UniqueV2/axis_" + name, lambda x, n: raw.UniqueV2(x=x, axis=n).y, {"x": m, "n": n})
        edge(r, "Multinomial/samples_" + name, lambda x, n: tf.shape(raw.Multinomial(logits=x, num_samples=n, seed=1)), {"x": m, "n": n})
        edge(r, "StatelessMultinomial/samples_" + name, lambda x, n: tf.shape(raw.StatelessMultinomial(logits=x, num_samples=n, seed=I32([1, 2]))), {"x": m, "n": n})
        edge(r, "RandomUniformInt/bound_" + name, lambda n: tf.shape(raw.RandomUniformInt(shape=I32([2]), minval=I32(0), maxval=n, seed=1)), {"n": n})
        edge(r, "TensorListReserve/num_" + name, lambda n: raw.TensorListLength(input_handle=raw.TensorListReserve(element_shape=I32([2]), num_elements=n, element_dtype=tf.float32)), {"n": n})
        edge(r, "EmptyTensorList/max_" + name, lambda n: raw.TensorListLength(input_handle=raw.EmptyTensorList(element_shape=I32([2]), max_num_elements=n, element_dtype=tf.float32)), {"n": n})
        if name not in ("pair", "empty"):
            edge(r, "TensorListGetItem/index_" + name, lambda x, n: raw.TensorListGetItem(input_handle=list_of([x, x]), index=n, element_shape=I32(-1), element_dtype=tf.float32), {"x": m, "n": n})
        edge(r, "TensorListSetItem/index_" + name, lambda x, n: raw.TensorListLength(input_handle=raw.TensorListSetItem(input_handle=list_of([x, x]), index=n, item=x)), {"x": m, "n": n})
        edge(r, "TensorListResize/size_" + name, lambda x, n: raw.TensorListLength(input_handle=raw.TensorListResize(input_handle=list_of([x, x]), size=n)), {"x": m, "n": n})
        edge(r, "TensorListGather/indices_" + name, lambda x, n: raw.TensorListGather(input_handle=list_of([x, x]), indices=n, element_shape=I32(-1), element_dtype=tf.float32), {"x": m, "n": n})
        edge(r, "TensorArrayV3/size_" + name, lambda n: raw.TensorArraySizeV3(**dict(zip(("handle", "flow_in"), raw.TensorArrayV3(size=n, dtype=tf.float32)))), {"n": n})
        edge(r, "StringSplit/delimiter_" + name, lambda n: raw.StringSplit(input=["a1b"], delimiter=tf.as_string(n)), {"n": n})
        edge(r, "StringSplitV2/sep_" + name, lambda n: raw.StringSplitV2(input=["a1b"], sep=tf.as_string(n)), {"n": n})
        edge(r, "Substr/pos_" + name, lambda n: raw.Substr(input=["abc"], pos=n, len=tf.ones_like(n)), {"n": n})
        edge(r, "ReduceJoin/axis_" + name, lambda n: raw.ReduceJoin(inputs=[["a", "b"]], reduction_indices=n), {"n": n})
        edge(r, "SparseReduceSum/axis_" + name, lambda n: raw.SparseReduceSum(input_indices=I64([[0, 1]]), input_values=F32([2]), input_shape=I64([2, 2]), reduction_axes=n), {"n": n})
        edge(r, "SparseSplit/axis_" + name, lambda n: flat(raw.SparseSplit(split_dim=tf.cast(n, tf.int64), indices=I64([[0, 1]]), values=F32([2]), shape=I64([2, 2]), num_split=2)), {"n": n})
        edge(r, "SparseFillEmptyRows/default_" + name, lambda n: raw.SparseFillEmptyRows(indices=I64([[0, 1]]), values=I32([2]), dense_shape=I64([2, 2]), default_value=n), {"n": n})
        edge(r, "SparseToDense/default_" + name, lambda n: raw.SparseToDense(sparse_indices=I64([[0, 1]]), output_shape=I64([2, 2]), sparse_values=I32([2]), default_value=n), {"n": n})
        edge(r, "NonMaxSuppression/max_" + name, lambda n: raw.NonMaxSuppression(boxes=F32([[0, 0, 1, 1]]), scores=F32([1]), max_output_size=n), {"n": n})
        edge(r, "ResizeBilinear/size_" + name, lambda n: raw.ResizeBilinear(images=np.ones([1, 2, 2, 1], F32), size=n), {"n": n})
        edge(r, "CropAndResize/size_" + name, lambda n: raw.CropAndResize(image=np.ones([1, 2, 2, 1], F32), boxes=F32([[0, 0, 1, 1]]), box_ind=I32([0]), crop_size=n), {"n": n})
        edge(r, "AdjustContrastv2/factor_" + name, lambda n: raw.AdjustContrastv2(images=np.ones([1, 2, 2, 1], F32), contrast_factor=tf.cast(n, tf.float32)), {"n": n})
        edge(r, "Fill/value_" + name, lambda n: raw.Fill(dims=I32([2]), value=n), {"n": n})
        edge(r, "UnsortedSegmentSum/segments_" + name, lambda n: raw.UnsortedSegmentSum(data=F32([1, 2]), segment_ids=I32([0, 0]), num_segments=n), {"n": n})


def segments(r):
    data, ids = r.f(4, 2), I32([0, 2, 2, 1])
    for name, n in [("scalar", I32(4)), ("vector", I32([4])), ("pair", I32([4, 4])), ("matrix", I32([[4]])), ("empty", I32([])), ("negative", I32(-1)), ("zero", I32(0)), ("int64", I64(4)), ("int64_vector", I64([4]))]:
        for op in ("Sum", "Prod", "Max", "Min"):
            edge(r, "UnsortedSegment%s/num_%s" % (op, name), lambda x, i, n: getattr(raw, "UnsortedSegment" + op)(data=x, segment_ids=i, num_segments=n), {"x": data, "i": ids, "n": n})
        for op in ("Sum", "Mean", "SqrtN"):
            edge(r, "SparseSegment%sWithNumSegments/num_%s" % (op, name), lambda x, i, n: getattr(raw, "SparseSegment%sWithNumSegments" % op)(data=x, indices=i, segment_ids=I32([0, 1, 1, 3]), num_segments=n), {"x": data, "i": ids, "n": n})
        if name not in ("int64", "int64_vector"):
            for op in ("Sum", "Mean", "SqrtN"):
                edge(r, "SparseSegment%sGrad/dim0_%s" % (op, name), lambda x, i, n: getattr(raw, "SparseSegment%sGrad" % op)(grad=x, indices=i, segment_ids=I32([0, 1, 1, 3]), output_dim0=n), {"x": data, "i": ids, "n": n})
    for op in ("SegmentSum", "SegmentMean", "SegmentMax", "SegmentMin", "SegmentProd"):
        for name, i in [("matrix", I32([[0, 1], [1, 2]])), ("scalar", I32(0)), ("short", I32([0, 1])), ("empty", I32([])), ("negative", I32([-1, 0, 1, 2])), ("unsorted", I32([1, 0, 1, 2]))]:
            edge(r, "%s/ids_%s" % (op, name), lambda x, i: getattr(raw, op)(data=x, segment_ids=i), {"x": data, "i": i})


# ---- a bad index is named by its coordinates

def coordinates(r):
    table, m = r.f(5, 2), I32([[0, 1, 2, 3], [4, 3, 0, 9]])
    edge(r, "coordinates/GatherV2", lambda x, i: raw.GatherV2(params=x, indices=i, axis=I32(0)), {"x": table, "i": m}, says="indices[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/GatherV2_vector", lambda x, i: raw.GatherV2(params=x, indices=i, axis=I32(0)), {"x": table, "i": m[1]}, says="indices[3] = 9 is not in [0, 5)")
    edge(r, "coordinates/GatherV2_scalar", lambda x, i: raw.GatherV2(params=x, indices=i, axis=I32(0)), {"x": table, "i": I32(9)}, says="indices = 9 is not in [0, 5)")
    edge(r, "coordinates/GatherV2_axis", lambda x, i: raw.GatherV2(params=x, indices=i, axis=I32(1)), {"x": table, "i": I32([[0], [-2]])}, says="indices[1,0] = -2 is not in [0, 2)")
    edge(r, "coordinates/GatherV2_batch", lambda x, i: raw.GatherV2(params=x, indices=i, axis=I32(1), batch_dims=1), {"x": r.f(2, 3, 2), "i": I32([[0, 1], [2, 7]])}, says="indices[1,1] = 7 is not in [0, 3)")
    edge(r, "coordinates/Gather", lambda x, i: raw.Gather(params=x, indices=i), {"x": table, "i": m}, says="indices[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/ResourceGather", lambda x, i: resource(x, lambda v: raw.ResourceGather(resource=v, indices=i, dtype=tf.float32)), {"x": table, "i": m}, says="indices[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/GatherNd", lambda x, i: raw.GatherNd(params=x, indices=i), {"x": table, "i": I32([[[0, 1], [1, 0]], [[2, 1], [5, 1]]])}, says="indices[1,1] = [5, 1] does not index into param shape [5,2]")
    edge(r, "coordinates/ScatterNd", lambda i, u: raw.ScatterNd(indices=i, updates=u, shape=I32([5])), {"i": I32([[[0], [1]], [[2], [5]]]), "u": r.f(2, 2)}, says="indices[1,1] = [5] does not index into shape [5]")
    edge(r, "coordinates/TensorScatterUpdate", lambda x, i, u: raw.TensorScatterUpdate(tensor=x, indices=i, updates=u), {"x": table, "i": I32([[[0, 0], [1, 1]], [[2, 0], [4, 2]]]), "u": r.f(2, 2)}, says="indices[1,1] = [4, 2] does not index into shape [5,2]")
    for op in ("Add", "Sub", "Update", "Mul", "Max"):
        edge(r, "coordinates/ResourceScatter" + op, lambda x, i, u: resource(x, lambda v: raw.ReadVariableOp(resource=v, dtype=tf.float32), lambda v: getattr(raw, "ResourceScatter" + op)(resource=v, indices=i, updates=u)), {"x": table, "i": m, "u": r.f(2, 4, 2)}, says="indices[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/ScatterAdd", lambda x, i, u: reference(x, lambda v: raw.ScatterAdd(ref=v, indices=i, updates=u)), {"x": table, "i": m, "u": r.f(2, 4, 2)}, says="indices[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/ResourceScatterNdAdd", lambda x, i, u: resource(x, lambda v: raw.ReadVariableOp(resource=v, dtype=tf.float32), lambda v: raw.ResourceScatterNdAdd(ref=v, indices=i, updates=u)), {"x": table, "i": I32([[[0, 0], [1, 1]], [[2, 0], [4, 2]]]), "u": r.f(2, 2)}, says="indices[1,1] = [4, 2] does not index into shape [5,2]")
    edge(r, "coordinates/ResourceSparseApplyAdagrad", lambda x, i, g: resource(x, lambda v: raw.ReadVariableOp(resource=v, dtype=tf.float32), lambda v: raw.ResourceSparseApplyAdagrad(var=v, accum=v, lr=F32(1), grad=g, indices=i)), {"x": table, "i": I32([0, 9]), "g": r.f(2, 2)})
    edge(r, "coordinates/DynamicPartition", lambda x, i: raw.DynamicPartition(data=x, partitions=i, num_partitions=5), {"x": r.f(2, 4), "i": m}, says="partitions[1,3] = 9 is not in [0, 5)")
    edge(r, "coordinates/DynamicStitch", lambda x, i: raw.DynamicStitch(indices=[i], data=[x]), {"x": r.f(2, 2), "i": I32([[0, 1], [2, -3]])})
    for op in ("Sum", "Max", "Prod"):
        edge(r, "coordinates/UnsortedSegment" + op, lambda x, i: getattr(raw, "UnsortedSegment" + op)(data=x, segment_ids=i, num_segments=I32(5)), {"x": r.f(2, 4), "i": m}, says="segment_ids[1,3] = 9 is out of range [0, 5)")
    edge(r, "coordinates/SegmentSum", lambda x, i: raw.SegmentSum(data=x, segment_ids=i), {"x": r.f(3, 2), "i": I32([0, 2, 1])})
    edge(r, "coordinates/SparseSegmentSum", lambda x, i: raw.SparseSegmentSum(data=x, indices=i, segment_ids=I32([0, 0, 1])), {"x": r.f(3, 2), "i": I32([0, 2, 7])})
    edge(r, "coordinates/SparseSegmentMeanGrad", lambda x, i: raw.SparseSegmentMeanGrad(grad=x, indices=i, segment_ids=I32([0, 0, 1]), output_dim0=I32(5)), {"x": r.f(2, 2), "i": I32([0, 2, 7])})
    edge(r, "coordinates/SparseSegmentMeanGrad_ids", lambda x, i: raw.SparseSegmentMeanGrad(grad=x, indices=i, segment_ids=I32([0, 0, 4]), output_dim0=I32(5)), {"x": r.f(2, 2), "i": I32([0, 2, 1])})
    edge(r, "coordinates/InTopK", lambda x, i: raw.InTopK(predictions=x, targets=i, k=1), {"x": r.f(2, 3), "i": I32([0, 9])})
    edge(r, "coordinates/Sparse_xent", lambda x, i: raw.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=i).loss, {"x": r.f(2, 3), "i": I32([0, 9])})
    edge(r, "coordinates/SparseToDense", lambda i: raw.SparseToDense(sparse_indices=i, output_shape=I32([2, 3]), sparse_values=F32([1, 2]), default_value=F32(0)), {"i": I32([[0, 1], [1, 5]])}, says="indices[1] = [1,5] is out of bounds")
    edge(r, "coordinates/SparseToDense_repeated", lambda i: raw.SparseToDense(sparse_indices=i, output_shape=I32([2, 3]), sparse_values=F32([1, 2]), default_value=F32(0)), {"i": I32([[0, 1], [0, 1]])})
    edge(r, "coordinates/SparseToDense_order", lambda i: raw.SparseToDense(sparse_indices=i, output_shape=I32([2, 3]), sparse_values=F32([1, 2]), default_value=F32(0)), {"i": I32([[1, 1], [0, 1]])})
    edge(r, "coordinates/SparseReorder", lambda i: raw.SparseReorder(input_indices=i, input_values=F32([1, 2]), input_shape=I64([2, 3])), {"i": I64([[0, 1], [1, 5]])})
    edge(r, "coordinates/SparseTensorDenseMatMul", lambda i: raw.SparseTensorDenseMatMul(a_indices=i, a_values=F32([1, 2]), a_shape=I64([2, 3]), b=np.ones([3, 2], F32)), {"i": I64([[0, 1], [1, 5]])})
    edge(r, "coordinates/SparseFillEmptyRows", lambda i: raw.SparseFillEmptyRows(indices=i, values=F32([1, 2]), dense_shape=I64([2, 3]), default_value=F32(0)), {"i": I64([[0, 1], [5, 1]])})
    edge(r, "coordinates/SparseAdd", lambda i: raw.SparseAdd(a_indices=i, a_values=F32([1, 2]), a_shape=I64([2, 3]), b_indices=i, b_values=F32([1, 2]), b_shape=I64([2, 3]), thresh=F32(0)), {"i": I64([[0, 1], [5, 1]])})
    edge(r, "coordinates/SparseTensorDenseAdd", lambda i: raw.SparseTensorDenseAdd(a_indices=i, a_values=F32([1, 2]), a_shape=I64([2, 3]), b=np.ones([2, 3], F32)), {"i": I64([[0, 1], [5, 1]])})
    edge(r, "coordinates/InvertPermutation", lambda i: raw.InvertPermutation(x=i), {"i": I32([0, 9])})
    edge(r, "coordinates/InvertPermutation_repeated", lambda i: raw.InvertPermutation(x=i), {"i": I32([1, 1])})
    edge(r, "coordinates/ReverseSequence", lambda x, i: raw.ReverseSequence(input=x, seq_lengths=i, seq_dim=1), {"x": r.f(2, 3), "i": I64([1, 9])})
    edge(r, "coordinates/Bincount", lambda i: raw.Bincount(arr=i, size=I32(3), weights=F32([])), {"i": I32([[0, -9]])})
    edge(r, "coordinates/Reshape", lambda s: raw.Reshape(tensor=F32([1, 2]), shape=s), {"s": I32([2, -5])})
    edge(r, "coordinates/Tile", lambda s: raw.Tile(input=F32([1, 2]), multiples=s), {"s": I32([-5])})
    edge(r, "coordinates/Slice", lambda s: raw.Slice(input=r.f(2, 3), begin=s, size=I32([1, 1])), {"s": I32([0, 7])})
    edge(r, "coordinates/Pad", lambda s: raw.Pad(input=r.f(2, 3), paddings=s), {"s": I32([[0, 0], [0, -7]])})
    edge(r, "coordinates/Transpose", lambda s: raw.Transpose(x=r.f(2, 3), perm=s), {"s": I32([0, 7])})
    edge(r, "coordinates/Transpose_repeated", lambda s: raw.Transpose(x=r.f(2, 3), perm=s), {"s": I32([1, 1])})
    edge(r, "coordinates/DecodeRaw", lambda s: raw.DecodeRaw(bytes=s, out_type=tf.int32), {"s": [b"1234", b"12"]})
    edge(r, "coordinates/StringToNumber", lambda s: raw.StringToNumber(string_tensor=tf.reshape(s, [2, 2])), {"s": [b"1", b"2", b"3", b"x"]})
    edge(r, "coordinates/Substr", lambda s: raw.Substr(input=["abc", "d"], pos=s, len=I32([1, 1])), {"s": I32([0, 7])})
    edge(r, "coordinates/CropAndResize", lambda s: raw.CropAndResize(image=np.ones([1, 2, 2, 1], F32), boxes=F32([[0, 0, 1, 1]] * 2), box_ind=s, crop_size=I32([1, 1])), {"s": I32([0, 7])})
    edge(r, "coordinates/SparseSegmentSqrtN", lambda s: raw.SparseSegmentSqrtN(data=np.ones([3, 2], F32), indices=I32([0, 1]), segment_ids=s), {"s": I32([0, -7])})


def flat(lists):
    return [x for part in lists for x in part]


def resource(value, read, change=None):
    v = raw.VarHandleOp(dtype=value.dtype, shape=None, shared_name="edge")
    with tf.control_dependencies([raw.AssignVariableOp(resource=v, value=value)]):
        if not change:
            return read(v)
        with tf.control_dependencies([change(v)]):
            return read(v)


def reference(value, change):
    v = raw.VariableV2(shape=[5, 2], dtype=tf.float32)
    with tf.control_dependencies([raw.Assign(ref=v, value=value)]):
        return change(v)

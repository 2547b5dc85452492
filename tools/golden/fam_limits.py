"""limits family: singular matrices and matrices with NaN, special functions at the ends of their domains, and arguments at the ends of what ops take."""
from opslib import *

NAN, INF = float("nan"), float("inf")
SQUARES = [[[1, 2], [2, 4]], [[1, 2], [2, 1]], [[NAN, 2], [2, 4]], [[4, NAN], [2, 5]], [[4, 2], [NAN, 5]], [[4, 2], [2, NAN]], [[INF, 0], [0, 1]], [[4, 0], [INF, 1]],
           [[1, 0], [0, INF]], [[-INF, 0], [0, 1]], [[0, 0], [0, 0]], [[0, 1], [1, 0]], [[-1, 0], [0, 1]], [[NAN, NAN], [NAN, NAN]], [[1, INF], [0, 1]], [[4, 1], [1, 3]]]
SINGULAR = [0, 2, 4, 7, 10, 13]  # of SQUARES: those without an inverse
ONE = [[[0]], [[NAN]], [[-1]], [[INF]], [[4]]]
REALS, ALL = (F32, F64), (F32, F64, np.complex64, np.complex128)


def build(r, P):
    decompositions(r)
    inverses(r)
    triangular(r)
    special(r)
    divisions(r)
    empty(r)
    scalars(r)


def tag(dtype):
    return np.dtype(dtype).name


def case(r, name, fn, inputs):
    """The real and the imaginary parts of complex results are compared one by one: a NaN may be in either."""
    def parts(**inputs):
        out = fn(**inputs)
        out = list(out) if isinstance(out, (list, tuple)) else [out]
        return [p for o in out for p in ([tf.math.real(o), tf.math.imag(o)] if o.dtype.is_complex else [o])]
    r.case(name, parts, inputs, grad=False, static=3)


def with_nan(dtype):
    """A matrix of three rows, with NaN in each place in turn."""
    x = np.tile(np.array([[5, 1, 2], [1, 4, 1], [2, 1, 3]], dtype), (9, 1, 1))
    x.reshape(9, 9)[np.arange(9), np.arange(9)] = NAN
    return x


def gradient(x):
    y = raw.Cholesky(input=x)
    return v1.gradients(y, x, grad_ys=tf.ones_like(y))


def decompositions(r):
    for dtype in ALL:
        for name, x in (("two", SQUARES), ("one", ONE), ("three", with_nan(dtype))):
            x = np.array(x, dtype)
            for op in ("Cholesky", "MatrixDeterminant", "LogMatrixDeterminant"):
                case(r, "%s/%s_%s" % (op, tag(dtype), name), lambda x: getattr(raw, op)(input=x), {"x": x})
        # one matrix has a factor, one has none
        case(r, "Cholesky/%s_gradient" % tag(dtype), gradient, {"x": np.array([SQUARES[-1], SQUARES[0]], dtype)})
    for dtype in REALS:
        bad = np.array([x for x in SQUARES if not np.all(np.isfinite(x))] + [[[0, 0], [0, 0]]], dtype)
        wide = np.concatenate([bad, bad], 2)
        for name, x in (("square", bad), ("wide", wide), ("tall", wide.transpose(0, 2, 1)), ("one", np.array(ONE[:2], dtype))):
            case(r, "Svd/%s_%s_values" % (tag(dtype), name), lambda x: raw.Svd(input=x, compute_uv=False)[0], {"x": x})
            for full in (False, True):
                case(r, "Svd/%s_%s_%s" % (tag(dtype), name, full), lambda x: raw.Svd(input=x, full_matrices=full), {"x": x})
        case(r, "Svd/%s_batch" % tag(dtype), lambda x: raw.Svd(input=x, compute_uv=False)[0], {"x": np.array([[[1, 2], [3, 4]], [[NAN, 2], [3, 4]]], dtype)})
        for i, l in enumerate(([[NAN, 0], [NAN, NAN]], [[0, 0], [1, 1]], [[1, 0], [2, 0]], [[1, 5], [2, 1]])):
            case(r, "CholeskyGrad/%s_%d" % (tag(dtype), i), lambda x: raw.CholeskyGrad(l=x, grad=np.array([[1, 2], [3, 4]], dtype)), {"x": np.array(l, dtype)})
        for v in (False, True):
            for i, x in enumerate(([[INF, 2], [3, 4]], [[1, NAN], [0, 2]], [[NAN]], [[INF]])):
                case(r, "SelfAdjointEigV2/%s_%d_%s" % (tag(dtype), i, v), lambda x: raw.SelfAdjointEigV2(input=x, compute_v=v)[:1 + v], {"x": np.array(x, dtype)})
            for i, x in enumerate(([[NAN, 2], [3, 4]], [[1, 2], [3, NAN]], [[1, 0, 0], [0, NAN, 0], [0, 0, 2]])):
                r.error("SelfAdjointEigV2/%s_nan_%d_%s" % (tag(dtype), i, v), lambda x: raw.SelfAdjointEigV2(input=x, compute_v=v)[0], {"x": np.array(x, dtype)}, says="Self-adjoint eigen decomposition was not successful. The input might not be valid.")
    for dtype in ALL:
        for i, x in enumerate(([[NAN, 2], [3, 4]], [[INF, 2], [3, 4]], [[1, 2], [3, NAN]], [[0, 0], [0, 0]], [[1, 2], [NAN, 3]], [[NAN]], [[INF]])):
            case(r, "Qr/%s_%d" % (tag(dtype), i), lambda x: raw.Qr(input=x), {"x": np.array(x, dtype)})


def inverses(r):
    for dtype in ALL:
        rhs = np.array([[1, 0], [2, 1]], dtype)
        ops = [("MatrixInverse", lambda x: raw.MatrixInverse(input=x), "Input is not invertible."), ("Lu", lambda x: raw.Lu(input=x), "Input is not invertible."),
               ("MatrixSolve", lambda x: raw.MatrixSolve(matrix=x, rhs=rhs), "Input matrix is not invertible.")]
        for op, fn, says in ops:
            for i, x in enumerate(SQUARES):
                name, x = "%s/%s_%d" % (op, tag(dtype), i), {"x": np.array(x, dtype)}
                if i in SINGULAR:
                    r.error(name, fn, x, says=says)
                else:
                    case(r, name, fn, x)
            for i, x in enumerate(with_nan(dtype)):
                if op == "Lu" and i == 7:  # TensorFlow swaps the row of NaN up
                    continue
                name, wide = "%s/%s_three_%d" % (op, tag(dtype), i), np.array([[1], [2], [3]], dtype)
                fn3 = fn if op != "MatrixSolve" else lambda x: raw.MatrixSolve(matrix=x, rhs=wide)
                if i % 3 == 0:  # NaN in the first column
                    r.error(name, fn3, {"x": x}, says=says)
                else:
                    case(r, name, fn3, {"x": x})
            r.error("%s/%s_batch" % (op, tag(dtype)), lambda x: fn(x) if op != "MatrixSolve" else raw.MatrixSolve(matrix=x, rhs=np.array([rhs, rhs])), {"x": np.array([SQUARES[1], SQUARES[0]], dtype)}, says=says)


def triangular(r):
    matrices = [[[0, 2], [2, 4]], [[1, NAN], [2, 4]], [[1, 2], [2, 0]], [[0, 0], [0, 0]], [[NAN, 0], [1, 1]], [[INF, 0], [1, 1]], [[1, 0], [INF, 1]], [[-0.0, 0], [1, 1]], [[1, 0], [NAN, 1]]]
    for dtype in ALL:
        for lower in (True, False):
            for adjoint in (True, False):
                name = "MatrixTriangularSolve/%s_%s_%s" % (tag(dtype), lower, adjoint)
                for i, x in enumerate(matrices):
                    fn = lambda x: raw.MatrixTriangularSolve(matrix=x, rhs=np.array([[1], [2]], dtype), lower=lower, adjoint=adjoint)
                    case(r, "%s_%d" % (name, i), fn, {"x": np.array(x, dtype)})
                rhs = np.array([[0, -1, 2], [2, 5, 1]], dtype)
                case(r, name + "_columns", lambda x: raw.MatrixTriangularSolve(matrix=x, rhs=rhs, lower=lower, adjoint=adjoint), {"x": np.array([[0, 1], [1, 1]], dtype)})


def special(r):
    whole = [0.0, -0.0, 1, -1, 2, -2, 3, 4, 7, INF, -INF, NAN, 34, 35, 60, 200, 1000, 1001, 16777216, 33554432]
    others = [0.5, -0.5, 2.5, 89, 1e-20, 3e38, -3e38]
    for dtype in REALS:
        values = np.array(whole + others, dtype)
        for op, first, second in (("Zeta", "x", "q"), ("Polygamma", "a", "x")):
            for n, x in enumerate(values):  # each order a case, so that large results do not widen the tolerance of others
                case(r, "%s/%s_%d" % (op, tag(dtype), n), lambda a, b: getattr(raw, op)(**{first: a, second: b}), {"a": x, "b": values})
        up = lambda x, to: np.nextafter(dtype(x), dtype(to))
        case(r, "Erfinv/" + tag(dtype), lambda x: raw.Erfinv(x=x), {"x": np.array([1, -1, up(1, 2), up(up(1, 2), 2), up(-1, -2), 2, -2, INF, -INF, NAN, 0.3], dtype)})
        case(r, "Ndtri/" + tag(dtype), lambda x: raw.Ndtri(x=x), {"x": np.array([0, -0.0, 1, up(1, 2), -0.5, 2, INF, -INF, NAN, 0.5], dtype)})


def divisions(r):
    for op, types in (("TruncateDiv", (I8, I16, I32, I64, U8, U16)), ("TruncateMod", (I32, I64)), ("Div", (I32,)), ("Mod", (I32,)), ("FloorDiv", (I64,)), ("FloorMod", (I64,))):
        for dtype in types:
            for name, y in (("scalar", 0), ("vector", [1, 0, 2])):
                r.error("%s/%s_%s" % (op, tag(dtype), name), lambda x, y: getattr(raw, op)(x=x, y=y), {"x": np.array([1, 2, 3], dtype), "y": np.array(y, dtype)})


def attempt(r, name, fn, inputs):
    """A case, or an error if TensorFlow gives one."""
    try:
        with tf.Graph().as_default(), v1.Session(config=session_config()) as s:
            ph, feeds = r._placeholders(inputs, 3)
            s.run(fn(**ph), feeds)
    except tf.errors.OpError:
        return r.error(name, fn, inputs)
    case(r, name, fn, inputs)


def empty(r):
    for k, (p, i, axis, batch) in enumerate([((2, 0), [5], 0, 0), ((2, 0), [-1], 0, 0), ((0, 3), [0], 0, 0), ((0, 3), [5], 1, 0), ((0, 0), [5], 0, 0), ((2, 0), [0], 1, 0), ((0,), [0], 0, 0),
                                             ((2, 3, 0), [[5], [1]], 1, 1), ((0, 3), np.zeros((0, 1)), 1, 1), ((2, 0, 2), [[0], [0]], 1, 1), ((2, 0), [[5, 1]], 0, 0)]):
        attempt(r, "GatherV2/empty_%d" % k, lambda p, i: raw.GatherV2(params=p, indices=i, axis=I32(axis), batch_dims=batch), {"p": np.zeros(p, F32), "i": np.array(i, I32)})
    for k, (p, i) in enumerate([((2, 0), [5]), ((0, 2), [5])]):
        attempt(r, "Gather/empty_%d" % k, lambda p, i: raw.Gather(params=p, indices=i), {"p": np.zeros(p, F32), "i": I32(i)})
    for k, (p, i) in enumerate([((2, 0), (1, 1)), ((2, 0), (0, 1)), ((2, 0), (3, 0)), ((2, 2), (3, 0)), ((2, 2), (0,)), ((0,), (1, 1))]):
        attempt(r, "GatherNd/empty_%d" % k, lambda p, i: raw.GatherNd(params=p, indices=i), {"p": np.zeros(p, F32), "i": np.zeros(i, I32)})
    for k, (i, u, s) in enumerate([((2, 0), (2, 2), (2,)), ((0, 0), (0, 2), (2,)), ((2, 0), (2,), ()), ((0,), (2,), (2,)), ((2, 0), (2, 0), (0,)), ((0, 0), (0, 3), (3, 3)), ((1, 1), (1, 0), (2, 0)),
                                   ((0, 1), (0, 0), (2, 0)), ((0, 1), (0,), (2,)), ((0, 1), (0,), (0,)), ((1, 1), (1,), (0,)), ((1, 2), (1,), (2, 0))]):
        indices, updates = np.zeros(i, I32), np.ones(u, F32)
        attempt(r, "ScatterNd/empty_%d" % k, lambda i, u: raw.ScatterNd(indices=i, updates=u, shape=I32(s)), {"i": indices, "u": updates})
        for op in ("TensorScatterUpdate", "TensorScatterAdd", "TensorScatterSub", "TensorScatterMax", "TensorScatterMin"):
            attempt(r, "%s/empty_%d" % (op, k), lambda t, i, u: getattr(raw, op)(tensor=t, indices=i, updates=u), {"t": np.zeros(s, F32), "i": indices, "u": updates})
        attempt(r, "ScatterNdNonAliasingAdd/empty_%d" % k, lambda t, i, u: raw.ScatterNdNonAliasingAdd(input=t, indices=i, updates=u), {"t": np.zeros(s, F32), "i": indices, "u": updates})


def scalars(r):
    for k, (x, pad) in enumerate([((1, 2), [[1, 1], [0, 0]]), ((1, 2), [[0, 0], [0, 0]]), ((0, 2), [[0, 0], [1, 0]])]):
        for shape in ((), (1,), (1, 1), (0,), (2,)):
            attempt(r, "PadV2/%d_%s" % (k, "_".join(map(str, shape))), lambda x, c: raw.PadV2(input=x, paddings=I32(pad), constant_values=c), {"x": np.ones(x, F32), "c": np.full(shape, 5, F32)})
    for op in ("RGBToHSV", "HSVToRGB"):
        for shape in ((2,), (1, 2), (1, 4), (), (0, 2), (3, 0)):
            r.error("%s/%s" % (op, "_".join(map(str, shape))), lambda x: getattr(raw, op)(images=x), {"x": np.ones(shape, F32)})
    for name, fn in (("AdjustHue", lambda x: raw.AdjustHue(images=x, delta=F32(0.1))), ("AdjustSaturation", lambda x: raw.AdjustSaturation(images=x, scale=F32(0.1)))):
        for shape in ((1, 1, 2), (2, 3), (0, 1, 2)):
            r.error("%s/%s" % (name, "_".join(map(str, shape))), fn, {"x": np.ones(shape, F32)})
    for op in ("ResourceScatterNdUpdate", "ResourceScatterNdAdd", "ResourceGatherNd"):
        for k, (v, i, u) in enumerate([((2, 2), (2, 0), (2, 2, 2)), ((2, 2), (0, 0), (0, 2, 2)), ((2, 0), (1, 1), (1, 0)), ((2, 0), (0, 1), (0, 0)), ((2, 2), (0, 1), (0, 2))]):
            attempt(r, "%s/empty_%d" % (op, k), lambda v, i, u: variable(op, v, i, u), {"v": np.ones(v, F32), "i": np.zeros(i, I32), "u": np.ones(u, F32)})
    for out_type in (tf.int32, tf.int64):
        handle = lambda: raw.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="v")
        r.error("VariableShape/" + out_type.name, lambda: raw.VariableShape(input=handle(), out_type=out_type), {})


def variable(op, value, indices, updates):
    """The gathered slices, or the variable after the scatter."""
    v = raw.VarHandleOp(dtype=tf.float32, shape=tf.TensorShape(None), shared_name="v")
    with tf.control_dependencies([raw.AssignVariableOp(resource=v, value=value)]):
        if op == "ResourceGatherNd":
            return raw.ResourceGatherNd(resource=v, indices=indices, dtype=tf.float32)
        scattered = getattr(raw, op)(ref=v, indices=indices, updates=updates)
    with tf.control_dependencies([scattered]):
        return raw.ReadVariableOp(resource=v, dtype=tf.float32)

"""nonfinite family: NaN, infinities and extreme values, where what TensorFlow gives does not depend on how its loops are vectorised."""
from opslib import *

NAN, INF = float("nan"), float("inf")
LARGE = {F32: 3.3e38, F64: 1.7e308, F16: 6.5e4}


def build(r, P):
    elements(r)
    rows(r)
    colours(r)
    boxes(r)
    windows(r)


def case(r, name, fn, inputs):
    r.case(name, fn, inputs, grad=False, static=3)


def special(dtype, count, first):
    """Values of all kinds in turn, beginning with another one each time."""
    kinds = [NAN, 1, INF, -INF, NAN, 2, LARGE[dtype], -LARGE[dtype], 0.0, -0.0, 0.5, -1.5]
    return np.array([kinds[(i + first) % len(kinds)] for i in range(count)]).astype(dtype)


def elements(r):
    for dtype, count, first in [(F32, 1, 0), (F32, 12, 0), (F32, 29, 2), (F64, 12, 0), (F16, 12, 0)]:
        x = special(dtype, count, first)
        tag = "%s_%d" % (np.dtype(dtype).name, count)
        for op in ("Maximum", "Minimum", "Sub", "Mul", "DivNoNan", "MulNoNan", "Xlogy", "Xdivy", "SquaredDifference", "Pow"):
            case(r, "%s/%s" % (op, tag), lambda x, y: getattr(raw, op)(x=x, y=y), {"x": x, "y": np.roll(x, 1)})
        for op in ("SqrtGrad", "RsqrtGrad", "InvGrad", "ReciprocalGrad", "SigmoidGrad", "TanhGrad"):
            if op != "SqrtGrad":  # TensorFlow flushes 0.5 / LARGE to zero
                case(r, "%s/%s" % (op, tag), lambda x, y: getattr(raw, op)(y=x, dy=y), {"x": x, "y": np.roll(x, 1)})
            case(r, "%s/%s_zero" % (op, tag), lambda x, y: getattr(raw, op)(y=x, dy=y), {"x": x, "y": 0 * np.ones_like(x)})
        for op in ("ReluGrad", "Relu6Grad", "LeakyReluGrad", "SoftplusGrad"):
            case(r, "%s/%s" % (op, tag), lambda x, y: getattr(raw, op)(gradients=y, features=x), {"x": x, "y": np.roll(x, 1)})
        for low, high in [(-1, 1), (NAN, 1), (-1, NAN), (-INF, INF)]:
            case(r, "ClipByValue/%s_%s_%s" % (tag, low, high), lambda x: raw.ClipByValue(t=x, clip_value_min=tf.cast(low, x.dtype), clip_value_max=tf.cast(high, x.dtype)), {"x": x})
    for dtype in (F32, F64):
        for start, stop in [(0, INF), (INF, 0), (-INF, INF), (NAN, 1), (1, NAN), (INF, INF)]:
            for num in (1, 2, 3, 7):
                case(r, "LinSpace/%s_%s_%s_%d" % (np.dtype(dtype).name, start, stop, num), lambda a, b: raw.LinSpace(start=a, stop=b, num=I32(num)), {"a": np.asarray(start, dtype), "b": np.asarray(stop, dtype)})


def rows(r):
    lists = [[NAN, 1, 2], [1, NAN, 2], [1, 2, NAN, NAN, 3], [INF, 1, 2], [-INF, 1, 2], [1, -INF, 2], [NAN], [1, INF, 2, NAN, 1], [INF, INF, 1], [-INF, -INF, 1], [-INF, INF]]
    for dtype in (F32, F64, F16):
        for i, x in enumerate(lists):
            for op in ("Cumsum", "Cumprod", "CumulativeLogsumexp"):
                for exclusive, reverse in ((False, False), (True, True)):
                    case(r, "%s/%s_%d_%d" % (op, np.dtype(dtype).name, i, exclusive), lambda x: getattr(raw, op)(x=tf.stack([x] * 9, 1), axis=I32(0), exclusive=exclusive, reverse=reverse), {"x": np.array(x, dtype)})
    for first in (0, 2, 5):
        x = special(F32, 12, first)
        for op in ("ArgMax", "ArgMin"):
            case(r, "%s/%d" % (op, first), lambda x: getattr(raw, op)(input=x, dimension=I32(0)), {"x": x})
        case(r, "Bucketize/%d" % first, lambda x: raw.Bucketize(input=x, boundaries=[-1.0, 0.0, 1.0, 2.0]), {"x": x})
        case(r, "Unique/%d" % first, lambda x: raw.UniqueWithCounts(x=x), {"x": x})
        ids = I32([0, 0, 1, 1, 1, 3])
        for op in ("Sum", "Mean", "Prod"):
            case(r, "Segment%s/%d" % (op, first), lambda x: getattr(raw, "Segment" + op)(data=tf.reshape(x, [6, 2]), segment_ids=ids), {"x": x})
    for dtype in (F32, F64, F16):
        for i, x in enumerate(([-INF, -INF, 1], [INF, INF, 1], [NAN, 1, 2], [1, NAN, 2], [1, 2, NAN], [NAN, NAN, 1], [0.0, -0.0, 1], [-0.0, 0.0, 1])):
            for op in ("Max", "Min"):
                for columns in (1,) if NAN in x else (1, 5):
                    tag = "%s/%s_%d_%d" % (op, np.dtype(dtype).name, i, columns)
                    data = {"x": np.stack([np.array(x, dtype)] * columns, 1)}
                    case(r, "Segment" + tag, lambda x: getattr(raw, "Segment" + op)(data=x, segment_ids=I32([0, 0, 1])), data)
                    case(r, "UnsortedSegment" + tag, lambda x: getattr(raw, "UnsortedSegment" + op)(data=x, segment_ids=I32([0, 0, 1]), num_segments=I32(3)), data)


def colours(r):
    values = (NAN, INF, -INF, -1.0, 0.0, 0.25, 3e38)
    rgb = F32([[a, b, c] for a in values for b in values for c in values])
    # Large numbers widen the tolerance, so they are cases of their own.
    near = F32([[a, b, c] for a in (NAN, INF, -INF, -1.0, -0.0, 1e-20, 0.25) for b in (NAN, INF, -INF, -1.0, 0.0, 0.25, 1.0) for c in (NAN, INF, -INF, 0.0, 1e-20, 0.25, 1.0)])
    for op in ("RGBToHSV", "HSVToRGB"):
        for tag, x in (("/", rgb), ("/near_", near)):
            for dtype in (F32, F64):
                case(r, op + tag + np.dtype(dtype).name, lambda x: getattr(raw, op)(images=x), {"x": x.astype(dtype)})
        case(r, op + "/near_half", lambda x: getattr(raw, op)(images=x), {"x": near.astype(F16)})
    for tag, x in (("", rgb), ("near_", near)):
        for delta in (0.3, -2.0, NAN):  # with an infinite one TensorFlow does not end
            case(r, "AdjustHue/%s%s" % (tag, delta), lambda x: raw.AdjustHue(images=x, delta=tf.constant(delta)), {"x": x[None]})
        for scale in (0.5, 2.0, -1.0, 0.0, NAN, INF, -INF):
            case(r, "AdjustSaturation/%s%s" % (tag, scale), lambda x: raw.AdjustSaturation(images=x, scale=tf.constant(scale)), {"x": x[None]})


def boxes(r):
    scores = F32([0.9, 0.8, 0.7, 0.6])
    for bad in ([NAN, 0, 1, 1], [0, NAN, 1, 1], [0, 0, NAN, 1], [0, 0, 1, NAN], [NAN] * 4, [INF, 0, 1, 1], [-INF, 0, 1, 1], [-INF, -INF, INF, INF], [0, 0, INF, INF]):
        for at in range(4):
            rows = [[0, 0, 1, 1], [0, 0, 1, 0.9], [5, 5, 6, 6]]
            rows.insert(at, bad)
            suppress(r, "%d_%s" % (at, "_".join(map(str, bad))), F32(rows), scores)
    plain = F32([[0, 0, 1, 1], [0, 0, 1, 0.9], [5, 5, 6, 6], [0, 0, 0.9, 1]])
    for name, s in [("nan", [NAN, 0.8, 0.7, 0.6]), ("inf", [0.9, INF, 0.7, 0.6]), ("minus", [0.9, 0.8, -INF, 0.6]), ("all", [NAN] * 4)]:
        suppress(r, "scores_" + name, plain, F32(s))


def suppress(r, tag, boxes, scores):
    half = F32(0.5)
    feeds = {"b": boxes, "s": scores}
    case(r, "NonMaxSuppression/" + tag, lambda b, s: raw.NonMaxSuppression(boxes=b, scores=s, max_output_size=I32(4)), feeds)
    case(r, "NonMaxSuppressionV2/" + tag, lambda b, s: raw.NonMaxSuppressionV2(boxes=b, scores=s, max_output_size=I32(4), iou_threshold=half), feeds)
    for name, threshold in (("", 0.0), ("_lowest", -INF)):
        case(r, "NonMaxSuppressionV3/" + tag + name, lambda b, s: raw.NonMaxSuppressionV3(boxes=b, scores=s, max_output_size=I32(4), iou_threshold=half, score_threshold=F32(threshold)), feeds)
        case(r, "NonMaxSuppressionV4/" + tag + name, lambda b, s: raw.NonMaxSuppressionV4(boxes=b, scores=s, max_output_size=I32(4), iou_threshold=half, score_threshold=F32(threshold)), feeds)
        for sigma in (0.0, 0.5):
            case(r, "NonMaxSuppressionV5/%s%s_%s" % (tag, name, sigma), lambda b, s: raw.NonMaxSuppressionV5(boxes=b, scores=s, max_output_size=I32(4), iou_threshold=half, score_threshold=F32(threshold), soft_nms_sigma=F32(sigma)), feeds)
    case(r, "NonMaxSuppressionWithOverlaps/" + tag, lambda b, s: raw.NonMaxSuppressionWithOverlaps(overlaps=b[:, :1] * tf.transpose(b[:, :1]), scores=s, max_output_size=I32(4), overlap_threshold=half, score_threshold=F32(0)), feeds)


def windows(r):
    x = special(F32, 2 * 7 * 6 * 3, 1).reshape(2, 7, 6, 3)
    for op in ("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"):
        case(r, op, lambda x: getattr(raw, op)(images=x, size=I32([4, 9])), {"x": x})
    case(r, "AvgPool", lambda x: raw.AvgPool(value=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME"), {"x": x})
    case(r, "MaxPool", lambda x: raw.MaxPool(input=x, ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], padding="SAME"), {"x": x})
    case(r, "MaxPoolWithArgmax", lambda x: raw.MaxPoolWithArgmax(input=x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"), {"x": x})
    contrasts(r)
    case(r, "CropAndResize", lambda x: raw.CropAndResize(image=x, boxes=F32([[0, 0, 1, 1], [0.1, 0.2, 0.8, 1.3]]), box_ind=I32([0, 1]), crop_size=I32([3, 4])), {"x": x})


def contrasts(r):
    """Each channel has one kind of value among plain ones."""
    for tag, kinds in (("", (NAN, INF, -INF, 0.5)), ("large_", (3e38, -3e38, 2.0, -0.0))):
        x = np.tile(F32([0.25, -1, 3, 0.5, 7, 2]).reshape(1, 2, 3, 1), (2, 1, 1, len(kinds)))
        x[0, 1, 1, :] = kinds
        for factor in (2.0, 0.0, -1.0, NAN, INF, -INF):
            case(r, "AdjustContrastv2/%s%s" % (tag, factor), lambda x: raw.AdjustContrastv2(images=x, contrast_factor=F32(factor)), {"x": x})

"""Internal ops (_Name) in float64, from their documentation, for case_values.py."""
import numpy as np
import tensorflow as tf


def plain(x):
    """[n, c / block, h, w, block] to [n, h, w, c]."""
    n, blocks, h, w, block = x.shape
    return x.transpose(0, 2, 3, 1, 4).reshape(n, h, w, blocks * block)


def blocked(x, block):
    n, h, w, c = x.shape
    return x.reshape(n, h, w, c // block, block).transpose(0, 3, 1, 2, 4)


def to_blocked(attr, x):
    if attr['data_format'] == 'NCHW':
        x = x.transpose(0, 2, 3, 1)
    return [blocked(x, attr['block'])]


def from_blocked(attr, x):
    x = plain(x)
    return [x.transpose(0, 3, 1, 2) if attr['data_format'] == 'NCHW' else x]


def blocked_pad(attr, x):
    block, x = x.shape[4], plain(x)
    for axis, (before, after) in enumerate(np.reshape(attr['paddings'], (4, 2))):
        cut = [slice(None)] * 4
        cut[axis] = slice(max(0, -before), x.shape[axis] - max(0, -after))
        x = x[tuple(cut)]
        pad = [(0, 0)] * 4
        pad[axis] = (max(0, before), max(0, after))
        x = np.pad(x, pad)
    return [blocked(x, block)]


def images(attr, key, x):
    return plain(x) if attr[key] else x


def conv(attr, x, kernel, *extra):
    y = tf.nn.conv2d(images(attr, 'blocked_input', x), kernel, attr['strides'], attr['padding']).numpy()
    extra = list(extra)
    addend = plain(extra.pop(0)) if attr['sum'] else 0
    if attr['norm']:
        scale, offset, mean, variance = extra
        y = (y - mean) * scale / np.sqrt(variance + attr['epsilon']) + offset
    elif attr['bias']:
        y = y + extra[0]
    y = y + addend
    return [blocked(np.maximum(y, 0) if attr['relu'] else y, attr['block'])]


def conv_backprop_input(attr, kernel, dy):
    dx = tf.raw_ops.Conv2DBackpropInput(input_sizes=attr['input_shape'], filter=kernel, out_backprop=plain(dy), strides=attr['strides'],
                                        padding=attr['padding']).numpy()
    return [blocked(dx, attr['block']) if attr['blocked_output'] else dx]


def conv_backprop_filter(attr, x, dy):
    return [tf.raw_ops.Conv2DBackpropFilter(input=images(attr, 'blocked_input', x), filter_sizes=attr['filter_shape'], out_backprop=plain(dy),
                                            strides=attr['strides'], padding=attr['padding']).numpy()]


def batch_norm(attr, x, scale, offset, mean, variance, *addend):
    block, x = x.shape[4], plain(x)
    count = x.size // x.shape[3]
    saved = mean, variance
    if attr['is_training']:
        mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
        saved = mean, variance
    y = (x - mean) * scale / np.sqrt(variance + attr['epsilon']) + offset
    if addend:
        y = y + plain(addend[0])
    if attr['relu']:
        y = np.maximum(y, 0)
    unbiased = variance * count / (count - 1) if attr['is_training'] else variance
    return [blocked(y, block), mean, unbiased, *saved]


def batch_norm_grad(attr, dy, x, scale, mean, variance, *active):
    block, x, dy = x.shape[4], plain(x), plain(dy)
    if active:
        dy = np.where(plain(active[0]) > 0, dy, 0)
    axes = (0, 1, 2)
    factor = 1 / np.sqrt(variance + attr['epsilon'])
    normal = (x - mean) * factor
    scale_grad, offset_grad = (dy * normal).sum(axes), dy.sum(axes)
    if attr['is_training']:
        count = x.size // x.shape[3]
        dx = scale * factor * (dy - offset_grad / count - normal * scale_grad / count)
    else:
        dx = scale * factor * dy
    return [blocked(dx, block), scale_grad, offset_grad]


OPS = {'_ToBlocked': to_blocked, '_FromBlocked': from_blocked, '_BlockedPad': blocked_pad, '_BlockedConv2D': conv,
       '_BlockedConv2DBackpropInput': conv_backprop_input, '_BlockedConv2DBackpropFilter': conv_backprop_filter,
       '_BlockedBatchNorm': batch_norm, '_BlockedBatchNormGrad': batch_norm_grad}


def attributes(node):
    def value(attr):
        kind = attr.WhichOneof('value')
        if kind == 's':
            return attr.s.decode()
        if kind == 'list':
            return list(attr.list.i)
        if kind == 'shape':
            return [d.size for d in attr.shape.dim]
        return getattr(attr, kind)
    return {name: value(attr) for name, attr in node.attr.items()}


def run(node, graph_def, feeds):
    inputs = [np.asarray(feeds[name if ':' in name else name + ':0'], np.float64) for name in node.input]
    return [(np.asarray(y, np.float32), tf.float32) for y in OPS[node.op](attributes(node), *inputs)]

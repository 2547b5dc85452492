"""Ops on images with channels first (NCHW, NCDHW), which TensorFlow does not run on a CPU: through their forms with channels last."""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import op_def_registry

# What the inputs and the output are: (i)mages, the (s)izes of images, or (o)ther, such as filters.
KINDS = {'Conv2D': 'io i', 'Conv2DBackpropInput': 'soi i', 'Conv2DBackpropFilter': 'ioi o',
         'DepthwiseConv2dNative': 'io i', 'DepthwiseConv2dNativeBackpropInput': 'soi i', 'DepthwiseConv2dNativeBackpropFilter': 'ioi o',
         'Conv3D': 'io i', 'Conv3DBackpropInputV2': 'soi i', 'MaxPool': 'i i', 'AvgPool': 'i i', 'AvgPoolGrad': 'si i', 'MaxPool3D': 'i i',
         'AvgPool3D': 'i i', 'SpaceToDepth': 'i i', 'DepthToSpace': 'i i'}


def last(values):
    """Entries per axis, from channels first to channels last."""
    return [values[0], *values[2:], values[1]]


def run(node, values):
    """The output of the node for its inputs."""
    if node.op.startswith('Depthwise') and max(node.attr['dilations'].list.i, default=1) > 1:
        raise NotImplementedError('depthwise kernels ignore dilations')
    inputs, output = KINDS[node.op].split()
    arguments = {}
    for arg, kind, value in zip(op_def_registry.get(node.op).input_arg, inputs, values):
        if kind == 'i':
            value = np.moveaxis(value, 1, -1)
        elif kind == 's':
            value = np.array(last(list(value)), value.dtype)
        arguments[arg.name] = tf.constant(value)  # an array would be taken as the default type
    for name, attr in node.attr.items():
        if name in ('strides', 'ksize', 'dilations'):
            arguments[name] = last(list(attr.list.i))
        elif name == 'explicit_paddings':
            pairs = np.reshape(attr.list.i, (-1, 2)).tolist()
            arguments[name] = sum(last(pairs), []) if pairs else []
        elif name == 'padding':
            arguments[name] = attr.s.decode()
        elif name == 'block_size':
            arguments[name] = attr.i
    y = getattr(tf.raw_ops, node.op)(**arguments).numpy()
    return np.moveaxis(y, -1, 1) if output == 'i' else y

"""Records what the cases of the op case tables (sextant/ops/**/*cases.txt) give.

usage: op-case-graphs GRAPHS.tfrecord && case_values.py GRAPHS.tfrecord ../../testdata/op_case_values.tfrecord

Each case is run in TensorFlow, twice in fresh sessions: what differs between them is random, and nothing is recorded but that. Internal ops
(_Name), which TensorFlow lacks, are computed in float64 by the functions of internal_ops.py, images with channels first by channels_first.py. Needs TensorFlow 2.15 on a CPU.
"""
import os
import re
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = ''
os.environ['TF_ENABLE_ONEDNN_OPTS'] = '0'

import numpy as np
import tensorflow as tf

from tensorflow.core.framework import tensor_pb2

import channels_first
import internal_ops

v1 = tf.compat.v1
MOST_ELEMENTS = 1024  # of an output, else every n-th element is recorded
ENDS_THE_PROCESS = ('Abort',)
# Nothing is optimised, no result depends on how threads share the work, and an op that would wait ends.
CONFIG = v1.ConfigProto(operation_timeout_in_ms=20000, intra_op_parallelism_threads=1,
                        graph_options=v1.GraphOptions(rewrite_options={'disable_meta_optimizer': True}))


class Case:
    def __init__(self, record):
        features = tf.train.Example.FromString(record).features.feature
        self.text = features['case'].bytes_list.value[0]
        self.graph_def = v1.GraphDef.FromString(features['graph_def'].bytes_list.value[0])
        self.node = features['node'].bytes_list.value[0].decode()
        names = lambda key: [x.decode() for x in features[key].bytes_list.value]
        values = [tf.make_ndarray(tensor_pb2.TensorProto.FromString(x)) for x in features['feed_values'].bytes_list.value]
        self.feeds = dict(zip(names('feed_names'), values))
        self.initializers, self.fetches = names('initializers'), names('fetch_names')

    def op(self):
        return next(n for n in self.graph_def.node if n.name == self.node)

    def run(self):
        if self.op().op.startswith('_'):
            return internal_ops.run(self.op(), self.graph_def, self.feeds)
        if self.op().op in channels_first.KINDS and self.op().attr['data_format'].s.startswith(b'NC'):
            return [(channels_first.run(self.op(), self.inputs()), tf.as_dtype(self.op().attr['T'].type))]
        try:
            return self.run_in_tensorflow()
        except Exception as error:
            removed = re.search(r'It has been removed in version (\d+)', str(error))
            if not removed:
                raise
            self.graph_def.versions.producer = int(removed[1]) - 1  # graphs of that age may use it
            return self.run_in_tensorflow()

    def run_in_tensorflow(self):
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(self.graph_def, name='')
            with v1.Session(config=CONFIG) as session:
                if self.initializers:
                    session.run([graph.get_operation_by_name(i) for i in self.initializers], self.feeds)
                values = session.run([self.fetches, graph.get_operation_by_name(self.node)], self.feeds)[0]
                types = [graph.get_tensor_by_name(f).dtype.base_dtype for f in self.fetches]
        # Arrays of bytes would lose zeros at the end of strings.
        return [(np.asarray(v, object if t == tf.string else None), t) for v, t in zip(values, types)]

    def inputs(self):
        """The values of the op's inputs, where these are placeholders and constants."""
        constants = {n.name: n.attr['value'].tensor for n in self.graph_def.node if n.op == 'Const'}
        return [tf.make_ndarray(constants[i]) if i in constants else self.feeds[i + ':0'] for i in self.op().input]


def same(a, b):
    if a.dtype == object:
        return a.shape == b.shape and list(a.ravel()) == list(b.ravel())
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def record(case):
    """An Example and, where nothing was recorded, why."""
    features = {'case': [case.text]}
    none = None
    try:
        if case.op().op in ENDS_THE_PROCESS:
            raise RuntimeError('it ends the process')
        first, second = case.run(), case.run()
        if not all(same(a, b) for (a, _), (b, _) in zip(first, second)):
            none = 'random'
    except Exception as error:  # what TensorFlow lacks or refuses is told, not hidden
        skipped = ('Graph execution error', 'Detected at', 'Node:', 'Original stack', ' ')
        lines = [line for line in str(error).splitlines() if line and not line.startswith(skipped)]
        none = 'not run by TensorFlow: ' + (lines or [type(error).__name__])[0][:200]
    if none:
        features['none'] = [none.encode()]
    else:
        values, strides = [], []
        for value, dtype in first:
            stride = max(1, -(-value.size // MOST_ELEMENTS))
            strides.append(stride)
            sample = value if stride == 1 else value.ravel()[::stride]
            values.append(tf.make_tensor_proto(sample, dtype, sample.shape).SerializeToString())
        features.update(values=values, strides=strides)
    example = tf.train.Example()
    for key, items in sorted(features.items()):
        if items:  # an op may have no outputs
            getattr(example.features.feature[key], 'int64_list' if key == 'strides' else 'bytes_list').value.extend(items)
    return example.SerializeToString(deterministic=True), none


def main():
    graphs, out = sys.argv[1:]
    counts = {}
    with tf.io.TFRecordWriter(out, 'GZIP') as writer:
        for bytes_of_case in v1.io.tf_record_iterator(graphs):
            case = Case(bytes_of_case)
            example, none = record(case)
            writer.write(example)
            counts[none is None] = counts.get(none is None, 0) + 1
            if none:
                print(case.text.decode(), '-', none, flush=True)
    print(counts.get(True, 0), 'recorded,', counts.get(False, 0), 'not')


if __name__ == '__main__':
    main()

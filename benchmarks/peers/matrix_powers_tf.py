"""The products of programs/matrix_powers in TensorFlow: both powers and their sum, from new session to result, without graph optimizers.

Beside it: matrix_powers --size N --power P, its "Single GPU computation time".
"""
import time

import common
common.quiet_tensorflow()
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import rewriter_config_pb2

v1 = tf.compat.v1


def power_of(matrix, n):
    return matrix if n < 1 else tf.matmul(matrix, power_of(matrix, n - 1))


def main():
    p = common.parser(__doc__.splitlines()[0], repeats=3)
    p.add_argument('--size', type=int, default=2000)
    p.add_argument('--power', type=int, default=10)
    args = p.parse_args()
    random = np.random.RandomState(1)
    matrices = [random.rand(args.size, args.size).astype(np.float32) for _ in range(2)]
    config = v1.ConfigProto(intra_op_parallelism_threads=args.threads, inter_op_parallelism_threads=args.inter or args.threads)
    config.graph_options.optimizer_options.opt_level = v1.OptimizerOptions.L0
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Graph().as_default():
        # Fed, because a constant of 10,000 rows does not fit into a GraphDef.
        feeds = [v1.placeholder(tf.float32, matrix.shape) for matrix in matrices]
        total = tf.add_n([power_of(feed, args.power) for feed in feeds])
        seconds = []
        for _ in range(args.repeats):
            begin = time.perf_counter()
            with v1.Session(config=config) as session:
                value = session.run(total, dict(zip(feeds, matrices)))
            seconds.append(time.perf_counter() - begin)
    common.emit('matrix_powers', common.tf_peer(tf), 's', seconds, lower_is_better=True, size=args.size, power=args.power,
                threads=args.threads, mean=common.digits(float(value.mean(dtype=np.float64))), rss_mb=common.rss_mb())


if __name__ == '__main__':
    main()

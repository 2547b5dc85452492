"""Trains the networks of programs/cifar10_estimator and programs/cifar10_towers on CIFAR-10 in TensorFlow, for their accuracy.

--model resnet20  10 passes over data batches 1-4, the rate cut after passes 6 and 8.5; prints the accuracy at each cut
--model towers    4,000 steps of the 24x24 network; prints the precision by the moving averages and by the weights

DATA holds cifar-10-batches-bin. Images are distorted by NumPy, with the distributions of the originals, and fed.
"""
import pathlib

import common
common.quiet_tensorflow()
import numpy as np
import tensorflow as tf
from resnet44_tf1 import Net

v1 = tf.compat.v1
BATCH = 128


def read(data, names):
    """Images as uint8 [n, 32, 32, 3], labels as int32 [n]."""
    folder = pathlib.Path(data) / 'cifar-10-batches-bin'
    rows = np.concatenate([np.fromfile(folder / (n + '.bin'), np.uint8) for n in names]).reshape(-1, 3073)
    return rows[:, 1:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).copy(), rows[:, 0].astype(np.int32)


def shuffled(count, buffer, random):
    """Endless indices 0 .. count - 1 in file order, through a shuffle buffer."""
    held, following = list(range(min(buffer, count))), min(buffer, count) % count
    while True:
        at = random.randint(len(held))
        yield held[at]
        held[at] = following
        following = (following + 1) % count


def crop(images, size, random):
    """A window of size x size at a random place of each image, mirrored in half of the cases."""
    out = np.empty((len(images), size, size, 3), np.float32)
    places = random.randint(0, images.shape[1] - size + 1, (len(images), 2))
    mirrored = random.rand(len(images)) < 0.5
    for i, (y, x) in enumerate(places):
        window = images[i, y:y + size, x:x + size]
        out[i] = window[:, ::-1] if mirrored[i] else window
    return out


def standardised(images):
    mean = images.mean((1, 2, 3), keepdims=True)
    deviation = images.std((1, 2, 3), keepdims=True)
    return (images - mean) / np.maximum(deviation, 1 / np.sqrt(images[0].size))


def batches(images, labels, buffer, distort, random):
    order = shuffled(len(images), buffer, random)
    while True:
        chosen = [next(order) for _ in range(BATCH)]
        yield distort(images[chosen]), labels[chosen]


def accuracy(session, logits, feed, images, labels):
    right = 0
    for begin in range(0, len(images), 500):
        got = session.run(logits, {feed: images[begin:begin + 500]})
        right += int((got.argmax(1) == labels[begin:begin + 500]).sum())
    return right / len(images)


def resnet20(args, session_config):
    images, labels = read(args.data, ['data_batch_%d' % i for i in range(1, 5)])
    test_images, test_labels = read(args.data, ['test_batch'])
    images = np.pad(images, [(0, 0), (4, 4), (4, 4), (0, 0)])
    random = np.random.RandomState(args.seed)
    feed, wanted = v1.placeholder(tf.float32, [None, 32, 32, 3]), v1.placeholder(tf.int32, [None])
    rate = v1.placeholder(tf.float32, [])
    with v1.variable_scope('net'):
        net = Net(True, units=3)
        logits = net(feed)
    with v1.variable_scope('net', reuse=True):
        evaluated = Net(False, units=3)(feed)
    loss = v1.losses.sparse_softmax_cross_entropy(wanted, logits)
    loss += 2e-4 * tf.add_n([tf.nn.l2_loss(v) for v in v1.trainable_variables()])
    with tf.control_dependencies(net.updates):
        train = v1.train.MomentumOptimizer(rate, 0.9).minimize(loss)
    with v1.Session(config=session_config) as session:
        session.run(v1.global_variables_initializer())
        step, source = 0, batches(images, labels, 18000 + 3 * BATCH, lambda x: crop(x, 32, random), random)
        for value, end in ((0.1, 1875), (0.01, 2656), (0.001, 3125)):
            while step < end:
                x, y = next(source)
                _, now = session.run([train, loss], {feed: x, wanted: y, rate: value})
                step += 1
                if step % 100 == 0:
                    common.log('step %d, loss %.4f' % (step, now))
            common.emit_value('cifar10_training', common.tf_peer(tf), 'accuracy',
                              accuracy(session, evaluated, feed, test_images.astype(np.float32), test_labels),
                              model='resnet20', seed=args.seed, step=step)


def towers_network(x):
    """Logits and the sum of the decay terms."""
    decay = []

    def weights(shape, deviation, factor=0.0):
        w = v1.get_variable('weights', shape, initializer=v1.truncated_normal_initializer(stddev=deviation))
        if factor:
            decay.append(factor * tf.nn.l2_loss(w))
        return w

    def biases(units, value):
        return v1.get_variable('biases', [units], initializer=v1.constant_initializer(value))

    def convolution(name, x, inputs, bias):
        with v1.variable_scope(name):
            return tf.nn.relu(tf.nn.conv2d(x, weights([5, 5, inputs, 64], 1e-4), 1, 'SAME') + biases(64, bias))

    def dense(name, x, units, deviation, factor, bias):
        with v1.variable_scope(name):
            return tf.matmul(x, weights([x.shape[1], units], deviation, factor)) + biases(units, bias)

    x = convolution('conv1', x, 3, 0.0)
    x = tf.nn.lrn(tf.nn.max_pool2d(x, 3, 2, 'SAME'), 4, 1.0, 0.001 / 9.0, 0.75)
    x = convolution('conv2', x, 64, 0.1)
    x = tf.nn.max_pool2d(tf.nn.lrn(x, 4, 1.0, 0.001 / 9.0, 0.75), 3, 2, 'SAME')
    x = tf.nn.relu(dense('local3', tf.reshape(x, [-1, 2304]), 384, 0.04, 0.004, 0.1))
    x = tf.nn.relu(dense('local4', x, 192, 0.04, 0.004, 0.1))
    return dense('softmax_linear', x, 10, 1 / 192.0, 0.0, 0.0), tf.add_n(decay)


def towers(args, session_config):
    images, labels = read(args.data, ['data_batch_%d' % i for i in range(1, 6)])
    test_images, test_labels = read(args.data, ['test_batch'])
    test_images = standardised(test_images[:, 4:28, 4:28].astype(np.float32))
    random = np.random.RandomState(args.seed)

    def distort(x):
        x = crop(x, 24, random) + random.uniform(-63, 63, (len(x), 1, 1, 1)).astype(np.float32)
        mean = x.mean((1, 2), keepdims=True)
        return standardised((x - mean) * random.uniform(0.2, 1.8, (len(x), 1, 1, 1)).astype(np.float32) + mean)

    feed, wanted = v1.placeholder(tf.float32, [None, 24, 24, 3]), v1.placeholder(tf.int32, [None])
    logits, decay = towers_network(feed)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(wanted, logits)) + decay
    step = v1.train.get_or_create_global_step()
    apply = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
    averages = v1.train.ExponentialMovingAverage(0.9999, step)
    with tf.control_dependencies([apply]):
        train = averages.apply(v1.trainable_variables())
    to_averages = tf.group(*[v1.assign(v, averages.average(v)) for v in v1.trainable_variables()])
    with v1.Session(config=session_config) as session:
        session.run(v1.global_variables_initializer())
        source = batches(images, labels, 20000 + 3 * BATCH, distort, random)
        for i in range(args.steps or 4000):
            x, y = next(source)
            _, now = session.run([train, loss], {feed: x, wanted: y})
            if i % 100 == 0:
                common.log('step %d, loss %.4f' % (i, now))
        for kind in ('weights', 'averages'):
            if kind == 'averages':
                session.run(to_averages)
            common.emit_value('cifar10_training', common.tf_peer(tf), 'precision',
                              accuracy(session, logits, feed, test_images, test_labels),
                              model='towers', by=kind, seed=args.seed, step=int(session.run(step)))


def main():
    p = common.parser(__doc__)
    p.add_argument('--data', required=True)
    p.add_argument('--model', choices=['resnet20', 'towers'], required=True)
    p.add_argument('--seed', type=int, default=1)
    args = p.parse_args()
    v1.set_random_seed(args.seed)
    session_config = v1.ConfigProto(intra_op_parallelism_threads=args.threads,
                                    inter_op_parallelism_threads=args.inter or args.threads)
    with tf.Graph().as_default():
        v1.set_random_seed(args.seed)
        {'resnet20': resnet20, 'towers': towers}[args.model](args, session_config)


if __name__ == '__main__':
    main()

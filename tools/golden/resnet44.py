"""Records ResNet-44's loss, logits and gradients in float64, for 20 batches of images.

usage: resnet44.py OUT [--spread]

writes OUT/{relu,softplus}_{loss,logits,sketch}.npy. A sketch holds, of the gradient of every trainable variable, its Euclidean norm and its dot
products with PROJECTIONS vectors of random signs: the mean square of the difference of such products estimates the squared norm of the
difference of two gradients without bias, so that whole gradients can be compared from a small file.

--spread also runs the network in TensorFlow's float32 and prints how far that is from float64 over the batches: what tolerances are taken from.
Needs TensorFlow 2.15 on a CPU.
"""
import os
import sys

os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'
os.environ['CUDA_VISIBLE_DEVICES'] = ''
os.environ.setdefault('TF_ENABLE_ONEDNN_OPTS', '0')

import numpy as np
import tensorflow as tf

SEEDS = range(1, 21)
STEPS = 3          # losses before each of so many steps
PROJECTIONS = 4
BATCH, RATE, MOMENTUM, EPSILON, WEIGHT_DECAY = 4, 0.01, 0.9, 1e-5, 2e-4
WIDTHS = ((16, 1), (32, 2), (64, 2))


def initial_values():
    """Of conv, gamma, beta, conv, ... dense kernel, dense bias; the k-th from the seed 100 + k, rounded to float32."""
    shapes, c = [[3, 3, 3, 16], [16], [16]], 16
    for out, _ in WIDTHS:
        for _ in range(7):
            shapes += [[3, 3, c, out], [out], [out], [3, 3, out, out], [out], [out]]
            c = out
    shapes += [[64, 11], [11]]
    values = []
    for k, shape in enumerate(shapes):
        limit = np.sqrt(3 / (np.prod(shape[:-1]) if len(shape) > 1 else 300))
        value = np.random.RandomState(100 + k).uniform(-limit, limit, shape).astype(np.float32)
        if len(shape) == 1 and k % 3 == 1 and k < len(shapes) - 2:
            value = (1 + value).astype(np.float32)  # gamma
        values.append(value)
    return values


def logits_of(images, variables, activation):
    v = iter(variables)

    def conv(x, stride):
        w = next(v)
        if stride == 1:
            return tf.nn.conv2d(x, w, 1, 'SAME')
        return tf.nn.conv2d(tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]]), w, stride, 'VALID')

    def norm(x):
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        gamma, beta = next(v), next(v)
        return (x - mean) * (gamma * tf.math.rsqrt(variance + EPSILON)) + beta

    x = activation(norm(conv(images / 128 - 1, 1)))
    for out, first_stride in WIDTHS:
        for i in range(7):
            stride = first_stride if i == 0 else 1
            y = activation(norm(conv(x, stride)))
            y = norm(conv(y, 1))
            if x.shape[-1] != out:
                x = tf.nn.avg_pool2d(x, stride, stride, 'SAME')
                extra = (out - x.shape[-1]) // 2
                x = tf.pad(x, [[0, 0], [0, 0], [0, 0], [extra, extra]])
            x = activation(x + y)
    kernel, bias = next(v), next(v)
    return tf.matmul(tf.reduce_mean(x, [1, 2]), kernel) + bias


class Network:
    def __init__(self, activation, dtype):
        self.dtype = dtype
        self.initial = [tf.constant(value, dtype) for value in initial_values()]

        @tf.function
        def evaluate(images, variables):
            labels = tf.constant([3 * i % 10 for i in range(BATCH)])
            with tf.GradientTape() as tape:
                tape.watch(variables)
                logits = logits_of(images, variables, activation)
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
                loss += WEIGHT_DECAY * tf.add_n([tf.nn.l2_loss(x) for x in variables])
            return loss, logits, tape.gradient(loss, variables)

        self.evaluate = evaluate

    def run(self, seed):
        """Losses before each step, logits and gradients before the first."""
        random = np.random.RandomState(seed)
        images = tf.constant(random.uniform(0, 255, [BATCH, 32, 32, 3]).astype(np.float32), self.dtype)
        variables = list(self.initial)
        velocity = [tf.zeros_like(x) for x in variables]
        losses = []
        for step in range(STEPS):
            loss, logits, gradients = self.evaluate(images, variables)
            losses.append(loss.numpy())
            if step == 0:
                first = logits.numpy(), [g.numpy().astype(np.float64) for g in gradients]
            velocity = [MOMENTUM * a + g for a, g in zip(velocity, gradients)]
            variables = [x - RATE * a for x, a in zip(variables, velocity)]
        return np.array(losses), *first


def signs():
    return [np.where(np.random.RandomState(1000 + k).uniform(-1, 1, [PROJECTIONS, value.size]) < 0, -1.0, 1.0)
            for k, value in enumerate(initial_values())]


def sketch(gradients, sign_vectors):
    return np.array([[np.linalg.norm(g), *(s @ g.ravel())] for g, s in zip(gradients, sign_vectors)])


def print_spread(name, activation, truth):
    network = Network(activation, tf.float32)
    for seed, (losses, logits, gradients) in zip(SEEDS, truth):
        l, o, g = network.run(seed)
        each = [np.linalg.norm(a - b) / np.linalg.norm(b) for a, b in zip(g, gradients)]
        print(name, 'seed', seed, 'losses', np.abs(l - losses) / losses,
              'logits', np.abs(o - logits).max() / np.abs(logits).max(),
              'gradients: largest', max(each), 'median', np.median(each), flush=True)


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    sign_vectors = signs()
    for name, activation in (('relu', tf.nn.relu), ('softplus', tf.nn.softplus)):
        network = Network(activation, tf.float64)
        truth = [network.run(seed) for seed in SEEDS]
        np.save(f'{out}/{name}_loss.npy', np.array([t[0] for t in truth]))
        np.save(f'{out}/{name}_logits.npy', np.array([t[1] for t in truth]))
        np.save(f'{out}/{name}_sketch.npy',
                np.array([sketch(t[2], sign_vectors) for t in truth]).astype(np.float32))
        if '--spread' in sys.argv:
            print_spread(name, activation, truth)


if __name__ == '__main__':
    main()

"""The queue graph of programs/cifar10_towers in TensorFlow: records read, distorted and shuffled by threads of the graph, then a training step.

DATA holds cifar-10-batches-bin. The queue is filled before the time is taken. Beside it: cifar10_train --data_dir=DATA --train_dir=DIR.
"""
import pathlib

import common
common.quiet_tensorflow()
import tensorflow as tf
from cifar10_training_tf import towers_network

v1 = tf.compat.v1
RECORD, LEAST = 1 + 32 * 32 * 3, 20000


def distorted_inputs(data, batch, threads):
    files = [str(pathlib.Path(data) / 'cifar-10-batches-bin' / ('data_batch_%d.bin' % i)) for i in range(1, 6)]
    _, value = v1.FixedLengthRecordReader(RECORD).read(v1.train.string_input_producer(files))
    record = tf.io.decode_raw(value, tf.uint8)
    label = tf.cast(tf.slice(record, [0], [1]), tf.int32)
    image = tf.transpose(tf.reshape(tf.slice(record, [1], [RECORD - 1]), [3, 32, 32]), [1, 2, 0])
    image = tf.image.random_crop(tf.cast(image, tf.float32), [24, 24, 3])
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 63)
    image = tf.image.per_image_standardization(tf.image.random_contrast(image, 0.2, 1.8))
    image.set_shape([24, 24, 3])
    images, labels = v1.train.shuffle_batch([image, label], batch, num_threads=threads, capacity=LEAST + 3 * batch, min_after_dequeue=LEAST)
    return images, tf.reshape(labels, [batch])


def main():
    p = common.parser(__doc__.splitlines()[0])
    p.add_argument('--data', required=True)
    p.add_argument('--queue-threads', type=int, default=16)
    args = p.parse_args()
    for batch in args.batch:
        with tf.Graph().as_default():
            images, labels = distorted_inputs(args.data, batch, args.queue_threads)
            logits, decay = towers_network(images)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)) + decay
            step = v1.train.get_or_create_global_step()
            apply = v1.train.GradientDescentOptimizer(0.1).minimize(loss, step)
            with tf.control_dependencies([apply]):
                train = v1.train.ExponentialMovingAverage(0.9999, step).apply(v1.trainable_variables())
            config = v1.ConfigProto(intra_op_parallelism_threads=args.threads, inter_op_parallelism_threads=args.inter or args.threads)
            with v1.Session(config=config) as session:
                session.run(v1.global_variables_initializer())
                coordinator = v1.train.Coordinator()
                threads = v1.train.start_queue_runners(session, coordinator)
                rates = common.repeat(lambda: session.run([train, loss]), args, batch)
                common.emit('cifar10_queues', common.tf_peer(tf), 'images/s', rates, batch=batch, threads=args.threads,
                            queue_threads=args.queue_threads, loss=common.digits(session.run(loss)), rss_mb=common.rss_mb())
                coordinator.request_stop()
                coordinator.join(threads, stop_grace_period_secs=30)


if __name__ == '__main__':
    main()

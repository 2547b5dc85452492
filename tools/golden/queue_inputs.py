#!/usr/bin/env python3
"""Records TensorFlow 1 input pipelines, queues and readers, and what they give.

usage: queue_inputs.py OUT   (TensorFlow 2.15; writes OUT/*.meta and OUT/expected.json)

The files the graphs read are named memory://queue_inputs/NAME; the contents are in expected.json.
"""
import json
import os
import sys
import tempfile

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

FILES = {
    "a.csv": "name,x,y\nann,1,0.5\nbob,2,1.5\ncyd,3,2.5\n",
    "b.csv": "name,x,y\ndan,4,3.5\neve,5,4.5\n",
    "c.bin": "HHaabbccddF",
}


def csv_rows(folder, **producer):
    names = [folder + "a.csv", folder + "b.csv"]
    queue = tf.train.string_input_producer(names, **producer)
    _, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    return tf.decode_csv(line, [[""], [0], [0.0]])


def batches(folder):
    rows = csv_rows(folder, num_epochs=2, shuffle=False)
    return tf.train.batch(rows, 4, allow_smaller_final_batch=True)


def shuffled(folder):
    rows = csv_rows(folder, num_epochs=3, shuffle=True, seed=7)
    return tf.train.shuffle_batch(rows, 4, capacity=20, min_after_dequeue=5, num_threads=2, seed=3,
                                  allow_smaller_final_batch=True)


def padded(folder):
    name, x, _ = csv_rows(folder, num_epochs=1, shuffle=False)
    return tf.train.batch([name, tf.ones([x], tf.int32) * x], 2, dynamic_pad=True,
                          allow_smaller_final_batch=True)


def fixed(folder):
    queue = tf.train.string_input_producer([folder + "c.bin"], num_epochs=1, shuffle=False)
    _, values = tf.FixedLengthRecordReader(2, 2, 1).read_up_to(queue, 3)
    return [tf.train.batch([values], 3, enqueue_many=True, shapes=[[]],
                           allow_smaller_final_batch=True)]


def build(make, folder):
    graph = tf.Graph()
    with graph.as_default():
        for i, output in enumerate(make(folder)):
            tf.identity(output, "output_%d" % i)
        tf.group(tf.local_variables_initializer(), name="start")
    return graph


def run(graph):
    outputs = []
    while True:
        try:
            outputs.append(graph.get_tensor_by_name("output_%d:0" % len(outputs)))
        except KeyError:
            break
    steps = []
    with tf.Session(graph=graph) as session:
        session.run("start")
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while True:
                steps.append([v.astype(str).tolist() if v.dtype == object else v.tolist()
                              for v in session.run(outputs)])
        except tf.errors.OutOfRangeError:
            coordinator.request_stop()
        coordinator.join(threads)
    return steps


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    expected = {"files": FILES, "cases": {}}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in FILES.items():
            with open(os.path.join(folder, name), "w") as f:
                f.write(content)
        for make in (batches, shuffled, padded, fixed):
            expected["cases"][make.__name__] = run(build(make, folder + "/"))
            graph = build(make, "memory://queue_inputs/")
            meta = tf.train.export_meta_graph(graph=graph)
            meta.meta_info_def.ClearField("stripped_op_list")
            meta.graph_def.ClearField("library")
            for node in meta.graph_def.node:
                node.ClearField("experimental_debug_info")
            with open(os.path.join(out, make.__name__ + ".meta"), "wb") as f:
                f.write(meta.SerializeToString(deterministic=True))
    with open(os.path.join(out, "expected.json"), "w") as f:
        json.dump(expected, f, indent=1)
        f.write("\n")


main()

"""TensorFlow reads our record files: every compression, records of every size, Examples, SequenceExamples."""
import os
import sys

import tensorflow as tf

folder = sys.argv[1]


def read(name, compression=""):
    return [r.numpy() for r in tf.data.TFRecordDataset([os.path.join(folder, name)], compression)]


expected = [bytes(i * i % 251 for i in range(size)) for size in (0, 1, 5, 300, 4096, 300000, 0, 3)]
for name in ("NONE", "ZLIB", "GZIP"):
    compression = "" if name == "NONE" else name
    assert read(name + ".tfrecord", compression) == expected, name
    options = tf.io.TFRecordOptions(compression) if compression else None
    path = os.path.join(folder, name + ".tfrecord")
    assert list(tf.compat.v1.io.tf_record_iterator(path, options)) == expected, name

examples = [tf.train.Example.FromString(r) for r in read("examples.tfrecord")]
assert len(examples) == 10
for i, example in enumerate(examples):
    f = example.features.feature
    assert sorted(f) == ["blobs", "empty", "floats", "id", "ints", "name"]
    assert list(f["id"].int64_list.value) == [i]
    assert list(f["ints"].int64_list.value) == [i, -i, 1 << 40]
    assert list(f["floats"].float_list.value) == [0.5 * i, -1]
    assert list(f["name"].bytes_list.value) == [b"row %d" % i]
    assert list(f["blobs"].bytes_list.value) == [b"", b"\0\xff"]
    assert f["empty"].WhichOneof("kind") == "float_list" and not f["empty"].float_list.value
parsed = tf.io.parse_example(read("examples.tfrecord"), {"id": tf.io.FixedLenFeature([], tf.int64),
                                                         "ints": tf.io.FixedLenFeature([3], tf.int64)})
assert parsed["id"].numpy().tolist() == list(range(10))

sequences = read("sequence_examples.tfrecord")
assert len(sequences) == 4
for i, record in enumerate(sequences):
    s = tf.train.SequenceExample.FromString(record)
    assert list(s.context.feature["id"].int64_list.value) == [i]
    lists = s.feature_lists.feature_list
    assert [list(f.int64_list.value) for f in lists["tokens"].feature] == [[k, 10 * k] for k in range(i)]
    assert list(lists["words"].feature[0].bytes_list.value) == [b"a", b"b"]
    context, steps = tf.io.parse_single_sequence_example(
        record, {"id": tf.io.FixedLenFeature([], tf.int64)},
        {"tokens": tf.io.FixedLenSequenceFeature([2], tf.int64), "vectors": tf.io.FixedLenSequenceFeature([1], tf.float32)})
    assert steps["tokens"].shape == (i, 2) and steps["vectors"].numpy().tolist() == [[1.5]]
print("all records, examples and sequence examples read")

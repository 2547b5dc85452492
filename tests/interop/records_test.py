"""TensorFlow reads our record files: every compression, records of every size."""
import os
import sys

import tensorflow as tf

folder = sys.argv[1]
expected = [bytes(i * i % 251 for i in range(size)) for size in (0, 1, 5, 300, 4096, 300000, 0, 3)]
for name in ("NONE", "ZLIB", "GZIP"):
    compression = "" if name == "NONE" else name
    path = os.path.join(folder, name + ".tfrecord")
    got = [r.numpy() for r in tf.data.TFRecordDataset([path], compression)]
    assert got == expected, name
print("all records read")

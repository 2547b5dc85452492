"""TensorFlow's Saver restores our census and ResNet checkpoints by name, slots included, into its own models."""
import os
import sys

import numpy as np
import tensorflow as tf

folder = sys.argv[1]
v1 = tf.compat.v1
fc = tf.feature_column


def record(name):
    reader = tf.train.load_checkpoint(os.path.join(folder, name))
    return {k: reader.get_tensor(k) for k in reader.get_variable_to_shape_map()}


WORDS = {
    "gender": "Female,Male", "race": "Amer-Indian-Eskimo,Asian-Pac-Islander,Black,Other,White",
    "education": "Bachelors,HS-grad,11th,Masters,9th,Some-college,Assoc-acdm,Assoc-voc,7th-8th,Doctorate,Prof-school,5th-6th,10th,"
                 "1st-4th,Preschool,12th",
    "marital_status": "Married-civ-spouse,Divorced,Married-spouse-absent,Never-married,Separated,Married-AF-spouse,Widowed",
    "relationship": "Husband,Not-in-family,Wife,Own-child,Unmarried,Other-relative",
    "workclass": "Self-emp-not-inc,Private,State-gov,Federal-gov,Local-gov,?,Self-emp-inc,Without-pay,Never-worked",
}


def census_estimator(model_dir):
    words = {k: fc.categorical_column_with_vocabulary_list(k, [" " + w for w in v.split(",")]) for k, v in WORDS.items()}
    words.update({k: fc.categorical_column_with_hash_bucket(k, 100) for k in ("occupation", "native_country")})
    numbers = {k: fc.numeric_column(k) for k in ("age", "education_num", "capital_gain", "capital_loss", "hours_per_week")}
    ages = fc.bucketized_column(numbers["age"], [18, 25, 30, 35, 40, 45, 50, 55, 60, 65])
    wide = [fc.crossed_column(["education", "occupation"], 10000), fc.crossed_column([ages, "race", "occupation"], 1000000),
            fc.crossed_column(["native_country", "occupation"], 10000), ages]
    wide += [words[k] for k in ("gender", "native_country", "education", "occupation", "workclass", "marital_status", "relationship")]
    deep = [fc.indicator_column(words[k]) for k in WORDS] + list(numbers.values())
    deep += [fc.embedding_column(words[k], 8) for k in ("native_country", "occupation")]
    return v1.estimator.DNNLinearCombinedClassifier(
        model_dir=model_dir, linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[100, 70, 50, 25])


# The census model: TensorFlow's estimator evaluates our checkpoint to our metrics, and trains on in our model_dir.
rows = record("census.record")
features = {k: x for k, x in rows.items() if k != "label" and not k.startswith("metric/")}
input_fn = lambda: tf.data.Dataset.from_tensor_slices((features, rows["label"])).batch(16)
model_dir = os.path.join(folder, "census")
ours = set(tf.train.load_checkpoint(model_dir).get_variable_to_shape_map())
estimator = census_estimator(model_dir)
metrics = estimator.evaluate(input_fn)
for key, value in metrics.items():
    assert abs(value - rows["metric/" + key]) <= 1e-4 * (1 + abs(value)), (key, value, rows["metric/" + key])
estimator.train(input_fn, steps=2)
theirs = set(tf.train.load_checkpoint(model_dir).get_variable_to_shape_map())
assert tf.train.latest_checkpoint(model_dir).endswith("model.ckpt-12")
assert ours - theirs == {"sextant/run_state"} and theirs <= ours, ours ^ theirs

# The residual net, built with tf.layers, with the optimizer's slots.
layers = v1.layers


def resnet(images, training):
    norms = iter(["BatchNorm"] + ["BatchNorm_%d" % i for i in range(1, 43)])  # as contrib's layer was named
    norm = lambda x: layers.batch_normalization(x, momentum=0.997, epsilon=1e-5, training=training, fused=True, name=next(norms))

    def conv(x, filters, strides):
        if strides == 1:
            return layers.conv2d(x, filters, 3, padding="same", use_bias=False)
        x = tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]])
        return layers.conv2d(x, filters, 3, strides, use_bias=False)

    x = tf.nn.relu(norm(conv(images / 128.0 - 1.0, 16, 1)))
    for filters, strides in ((16, 1), (32, 2), (64, 2)):
        shortcut = x
        if strides == 2:
            shortcut = layers.average_pooling2d(x, 2, 2, padding="same")
            shortcut = tf.pad(shortcut, [[0, 0], [0, 0], [0, 0], [filters // 4, filters // 4]])
        x = tf.nn.relu(norm(conv(x, filters, strides)))
        x = tf.nn.relu(norm(conv(x, filters, 1)) + shortcut)
    return layers.dense(tf.reduce_mean(x, [1, 2]), 11)


rows = record("resnet.record")
prefix = tf.train.latest_checkpoint(os.path.join(folder, "resnet"))
ours = tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
with v1.Session(graph=tf.Graph()) as session:
    with v1.variable_scope("resnet"):
        logits = resnet(tf.constant(rows["image"]), False)
    step = v1.train.create_global_step()
    v1.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(logits), step)
    assert {v.op.name for v in v1.global_variables()} == set(ours) - {"sextant/run_state"}
    v1.train.Saver().restore(session, prefix)
    assert session.run(step) == 3
    got = session.run(logits)
    assert np.max(np.abs(got - rows["logits"])) <= 1e-4 * np.max(np.abs(got)), np.max(np.abs(got - rows["logits"]))
print("restored")

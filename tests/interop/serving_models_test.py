"""Models made by TensorFlow of many kinds, served by `sextant serve`: answers by REST and gRPC are TensorFlow's own.

usage: serving_models_test.py SEXTANT

Several signatures in one export, all types that JSON has a form for, texts, tables, recurrent layers, a single value, a fixed number
of rows, any rank; batches of any size, alone and joined with others. Needs what serving_clients_test.py needs.
"""
import json
import os
import sys
import tempfile
import threading
import urllib.error
import urllib.request

from serving_clients_test import Server, as_json, from_json, grpc, np, predict_pb2, prediction_service_pb2_grpc, tf

v1 = tf.compat.v1
ROWS = (1, 3, 32, 33, 100)


def spec(shape, dtype, name):
    return tf.TensorSpec(shape, dtype, name)


class Functions(tf.Module):
    def __init__(self):
        super().__init__()
        self.weights = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        pairs = tf.lookup.KeyValueTensorInitializer(["cat", "dog"], tf.constant([1, 2], tf.int64))
        self.table = tf.lookup.StaticHashTable(pairs, -1)

    @tf.function(input_signature=[spec([None, 3], tf.float32, "x")])
    def dense(self, x):
        return {"y": tf.matmul(x, self.weights), "mean": tf.reduce_mean(x, 1)}

    @tf.function(input_signature=[spec([None], tf.string, "s")])
    def text(self, s):
        return {"upper": tf.strings.upper(s), "size": tf.strings.length(s), "id": self.table.lookup(s), "same_bytes": s}

    @tf.function(input_signature=[spec([None], tf.int64, "a"), spec([None, 2], tf.float64, "b"), spec([None], tf.bool, "c"),
                                  spec([None], tf.uint8, "d"), spec([None], tf.int32, "e")])
    def types(self, a, b, c, d, e):
        return {"a": a * 2, "b": b + 1, "c": tf.logical_not(c), "d": d, "e": -e, "f": tf.cast(a, tf.float32) / 0.0}

    @tf.function(input_signature=[spec([None], tf.uint32, "u"), spec([None], tf.uint64, "v"), spec([None], tf.int16, "w"),
                                  spec([None], tf.int8, "z")])
    def narrow(self, u, v, w, z):
        return {"u": u, "v": v, "w": w, "z": z}

    @tf.function(input_signature=[spec(None, tf.float32, "x")])
    def any_rank(self, x):
        return {"y": x * 3}

    @tf.function(input_signature=[spec([], tf.float32, "x")])
    def value(self, x):
        return {"y": x * 2}

    @tf.function(input_signature=[spec([2, 2], tf.float32, "x")])
    def fixed(self, x):
        return {"y": x + 1}


def export_keras(path):
    features = tf.keras.Input((4,), name="features")
    word = tf.keras.Input((1,), dtype=tf.string, name="word")
    layers = tf.keras.layers
    embedded = layers.Flatten()(layers.Embedding(5, 3)(layers.StringLookup(vocabulary=["a", "b", "c"])(word)))
    hidden = layers.BatchNormalization()(layers.Dense(8, activation="relu")(layers.Concatenate()([features, embedded])))
    outputs = [layers.Dense(1, name="p", activation="sigmoid")(hidden), layers.Dense(3, name="q", activation="softmax")(hidden)]
    tf.saved_model.save(tf.keras.Model([features, word], outputs), path)


def export_recurrent(path):
    tokens = tf.keras.Input((None,), dtype=tf.int32, name="tokens")
    layers = tf.keras.layers
    state = layers.LSTM(4)(layers.Embedding(20, 4, mask_zero=True)(tokens))
    tf.saved_model.save(tf.keras.Model(tokens, layers.Dense(2, name="o")(state)), path)


def export_version_1(path):
    """A table, ragged width, and a second signature that feeds a placeholder with a default."""
    with tf.Graph().as_default(), v1.Session() as session:
        words = v1.placeholder(tf.string, [None, None], "words")
        factor = v1.placeholder_with_default(tf.constant(2.0), [], "factor")
        pairs = tf.lookup.KeyValueTensorInitializer(["x", "y"], tf.constant([0, 1], tf.int64))
        rows = tf.nn.embedding_lookup(v1.get_variable("rows", [3, 2]), tf.lookup.StaticHashTable(pairs, 2).lookup(words))
        total = tf.reduce_sum(rows, 1) * factor
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        info, signature = v1.saved_model.build_tensor_info, v1.saved_model.signature_def_utils.build_signature_def
        method = "tensorflow/serving/predict"
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {
            "serving_default": signature({"words": info(words)}, {"total": info(total)}, method),
            "scaled": signature({"words": info(words), "factor": info(factor)}, {"total": info(total)}, method)},
            main_op=v1.tables_initializer())
        builder.save()


def cases(random, rows):
    """Model, signature, inputs."""
    def normal(*shape):
        return random.normal(size=shape).astype(np.float32)

    def integers(dtype, least, most):
        return random.integers(least, most, rows).astype(dtype)

    texts = np.array([b"cat", b"dog", b"", "\u00dc".encode(), b'x y"\\'], object)
    yield "functions", "dense", {"x": normal(rows, 3)}
    yield "functions", "text", {"s": random.choice(texts, rows)}
    yield "functions", "types", {"a": integers(np.int64, -9, 9), "b": random.normal(size=(rows, 2)), "c": integers(bool, 0, 2),
                                 "d": integers(np.uint8, 0, 255), "e": integers(np.int32, -9, 9)}
    yield "functions", "narrow", {"u": integers(np.uint32, 0, 2**32), "v": integers(np.uint64, 0, 2**63) * 2,
                                  "w": integers(np.int16, -99, 99), "z": integers(np.int8, -99, 99)}
    yield "functions", "any_rank", {"x": normal(rows, 2, 2)}
    yield "keras", "serving_default", {"features": normal(rows, 4), "word": random.choice(texts[:2], (rows, 1))}
    yield "recurrent", "serving_default", {"tokens": random.integers(1, 19, (rows, 5)).astype(np.int32)}
    yield "version_1", "serving_default", {"words": random.choice(np.array([b"x", b"y", b"?"], object), (rows, 3))}
    if rows == 1:
        yield "functions", "value", {"x": np.float32(3)}
        yield "functions", "fixed", {"x": normal(2, 2)}
        yield "version_1", "scaled", {"words": np.array([[b"x"]], object), "factor": np.float32(3)}


def expect_same(actual, expected, place):
    if expected.dtype == object:
        assert list(actual) == list(expected.reshape(-1)), (place, actual, expected)
    else:
        np.testing.assert_allclose(np.array(actual, np.float64).reshape(expected.shape), expected.astype(np.float64), rtol=1e-4,
                                   atol=1e-5, err_msg=place)


class Asked:
    def __init__(self, folder, ports):
        self.folder, self.ports, self.loaded = folder, ports, {}
        self.stub = prediction_service_pb2_grpc.PredictionServiceStub(grpc.insecure_channel("127.0.0.1:%d" % ports[0]))

    def expected(self, model, signature, inputs):
        if model not in self.loaded:
            self.loaded[model] = tf.saved_model.load(os.path.join(self.folder, model, "1"))
        function = self.loaded[model].signatures[signature]
        return {key: value.numpy() for key, value in function(**{key: tf.constant(value) for key, value in inputs.items()}).items()}

    def post(self, model, body):
        url = "http://127.0.0.1:%d/v1/models/%s:predict" % (self.ports[1], model)
        try:
            return json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode()), timeout=60))
        except urllib.error.HTTPError as error:
            raise AssertionError((model, body.get("signature_name"), error.read())) from error

    def check(self, model, signature, inputs):
        expected = self.expected(model, signature, inputs)
        place = "%s, %s" % (model, signature)
        columns = self.post(model, {"signature_name": signature, "inputs": {key: as_json(np.asarray(v)) for key, v in inputs.items()}})
        self.compare(columns["outputs"], expected, place + ", columns")
        if all(np.ndim(value) > 0 for value in inputs.values()):
            rows = [{key: as_json(value[i]) for key, value in inputs.items()} for i in range(len(next(iter(inputs.values()))))]
            predictions = self.post(model, {"instances": rows, "signature_name": signature})["predictions"]
            if len(expected) > 1:
                predictions = {key: [row[key] for row in predictions] for key in expected}
            self.compare(predictions, expected, place + ", rows")
        request = predict_pb2.PredictRequest()
        request.model_spec.name, request.model_spec.signature_name = model, signature
        for key, value in inputs.items():
            dtype = tf.string if np.asarray(value).dtype == object else None
            request.inputs[key].CopyFrom(tf.make_tensor_proto(value, dtype=dtype, shape=np.shape(value)))
        outputs = self.stub.Predict(request, 60).outputs
        assert sorted(outputs) == sorted(expected), place
        for key, value in expected.items():
            actual = tf.make_ndarray(outputs[key])
            assert actual.shape == value.shape and actual.dtype == value.dtype, (place, key, actual.dtype)
            expect_same(actual.reshape(-1), value, place + ", gRPC, " + key)

    @staticmethod
    def compare(answer, expected, place):
        for key, value in expected.items():
            part = answer if len(expected) == 1 else answer[key]
            expect_same(from_json(part, "string" if value.dtype == object else ""), value, "%s, %s" % (place, key))


def check_together(asked):
    """Clients at the same time, whose rows are joined: each gets its own."""
    failures = []

    def work(seed):
        random = np.random.default_rng(seed)
        try:
            for _ in range(10):
                x = random.normal(size=(int(random.integers(1, 40)), 3)).astype(np.float32)
                answer = asked.post("functions", {"signature_name": "dense", "inputs": {"x": x.tolist()}})
                np.testing.assert_allclose(answer["outputs"]["mean"], x.mean(1), rtol=1e-4, atol=1e-5)
        except AssertionError as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures[0]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        functions = Functions()
        names = ("dense", "text", "types", "narrow", "any_rank", "value", "fixed")
        tf.saved_model.save(functions, os.path.join(folder, "functions/1"), signatures={name: getattr(functions, name) for name in names})
        export_keras(os.path.join(folder, "keras/1"))
        export_recurrent(os.path.join(folder, "recurrent/1"))
        export_version_1(os.path.join(folder, "version_1/1"))
        config, batching = os.path.join(folder, "models.config"), os.path.join(folder, "batching.config")
        with open(config, "w") as file:
            file.write("model_config_list { %s }" % " ".join(
                'config { name: "%s" base_path: "%s" model_platform: "tensorflow" }' % (name, os.path.join(folder, name))
                for name in ("functions", "keras", "recurrent", "version_1")))
        with open(batching, "w") as file:
            file.write("max_batch_size { value: 32 } batch_timeout_micros { value: 500 } num_batch_threads { value: 2 } "
                       "max_enqueued_batches { value: 100 } allowed_batch_sizes: [4, 8, 32] pad_variable_length_inputs: true")
        # As the container of TensorFlow Serving starts it: the path of one model, then the file that comes before it.
        arguments = ["--model_name=model", "--model_base_path=/models/model", "--model_config_file=" + config]
        for more in ([], ["--enable_batching=true", "--batching_parameters_file=" + batching]):
            with Server(program, folder, arguments + more) as ports:
                asked = Asked(folder, ports)
                random = np.random.default_rng(1)
                for rows in ROWS:
                    for case in cases(random, rows):
                        asked.check(*case)
                check_together(asked)


if __name__ == "__main__":
    main(*sys.argv[1:])

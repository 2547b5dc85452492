"""TensorFlow Serving's own gRPC stubs, and REST by Python's library, against `sextant serve`.

usage: serving_clients_test.py SEXTANT

Needs tensorflow, grpcio and tensorflow-serving-api; without the last the test is skipped (exit code 77). The models are made by
TensorFlow here: half_plus_two in both signature styles, and a classifier and a regressor of Examples. Where TensorFlow's recorded
exports stand beside the repository, all their answers are asked for too.
"""
import base64
import json
import os
import re
import subprocess
import shutil
import sys
import tempfile
import time
import urllib.error
import urllib.request

try:
    from tensorflow_serving.apis import (classification_pb2, get_model_metadata_pb2, get_model_status_pb2, inference_pb2,
                                         model_management_pb2, model_service_pb2_grpc, predict_pb2, prediction_service_pb2_grpc,
                                         regression_pb2)
except ImportError as error:
    print("skipped:", error)
    sys.exit(77)
import grpc
import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def export(path):
    """y = x / 2 + 2 of numbers; of Examples with the feature "x" too: as a value, and as two classes with scores x and 1 - x."""
    with tf.Graph().as_default(), v1.Session() as session:
        half = v1.Variable(0.5, name="a")
        x = v1.placeholder(tf.float32, [None], name="x")
        examples = v1.placeholder(tf.string, [None], name="examples")
        parsed = v1.io.parse_example(examples, {"x": v1.io.FixedLenFeature([], tf.float32)})["x"]
        value = parsed * half + 2.0
        scores = tf.stack([parsed, 1.0 - parsed], axis=1)
        classes = tf.tile(tf.constant([["a", "b"]]), [tf.shape(parsed)[0], 1])
        session.run(v1.global_variables_initializer())
        utils = v1.saved_model.signature_def_utils
        info = v1.saved_model.build_tensor_info
        builder = v1.saved_model.Builder(path)
        builder.add_meta_graph_and_variables(session, ["serve"], {
            "serving_default": utils.build_signature_def({"x": info(x)}, {"y": info(x * half + 2.0)}, "tensorflow/serving/predict"),
            "regress_x_to_y": utils.build_signature_def({"inputs": info(examples)}, {"outputs": info(value)},
                                                        "tensorflow/serving/regress"),
            "classify_x": utils.build_signature_def({"inputs": info(examples)}, {"classes": info(classes), "scores": info(scores)},
                                                    "tensorflow/serving/classify")})
        builder.save()


def example(x):
    return tf.train.Example(features=tf.train.Features(feature={"x": tf.train.Feature(float_list=tf.train.FloatList(value=[x]))}))


def code_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code()
    return grpc.StatusCode.OK


def check_grpc(port, base):
    channel = grpc.insecure_channel("127.0.0.1:%d" % port)
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    request = predict_pb2.PredictRequest()
    request.model_spec.name = "half_plus_two"
    request.inputs["x"].CopyFrom(tf.make_tensor_proto([1.0, 2.0, 5.0]))
    response = stub.Predict(request, 10)
    assert list(response.outputs["y"].float_val) == [2.5, 3.0, 4.5], response
    assert tf.make_ndarray(response.outputs["y"]).shape == (3,)
    assert response.model_spec.version.value == 123 and response.model_spec.signature_name == "serving_default"
    request.output_filter.append("z")
    assert code_of(lambda: stub.Predict(request, 10)) == grpc.StatusCode.INVALID_ARGUMENT
    del request.output_filter[:]
    request.model_spec.version.value = 7
    assert code_of(lambda: stub.Predict(request, 10)) == grpc.StatusCode.NOT_FOUND

    classify = classification_pb2.ClassificationRequest()
    classify.model_spec.name, classify.model_spec.signature_name = "half_plus_two", "classify_x"
    classify.input.example_list.examples.extend([example(0.25), example(0.75)])
    result = stub.Classify(classify, 10).result.classifications
    assert [(c.label, c.score) for c in result[0].classes] == [("a", 0.25), ("b", 0.75)], result
    regress = regression_pb2.RegressionRequest()
    regress.model_spec.name, regress.model_spec.signature_name = "half_plus_two", "regress_x_to_y"
    regress.input.example_list_with_context.context.CopyFrom(example(3.0))
    regress.input.example_list_with_context.examples.extend([tf.train.Example(), example(1.0)])
    assert [r.value for r in stub.Regress(regress, 10).result.regressions] == [3.5, 2.5]

    multi = inference_pb2.MultiInferenceRequest()
    for signature, method in (("regress_x_to_y", "regress"), ("classify_x", "classify")):
        task = multi.tasks.add(method_name="tensorflow/serving/" + method)
        task.model_spec.name, task.model_spec.signature_name = "half_plus_two", signature
    multi.input.example_list.examples.extend([example(0.5)])
    results = stub.MultiInference(multi, 10).results
    assert results[0].regression_result.regressions[0].value == 2.25
    assert results[1].classification_result.classifications[0].classes[1].label == "b"

    metadata = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
    metadata.model_spec.name = "half_plus_two"
    signatures = get_model_metadata_pb2.SignatureDefMap()
    assert stub.GetModelMetadata(metadata, 10).metadata["signature_def"].Unpack(signatures)
    assert sorted(signatures.signature_def) == ["classify_x", "regress_x_to_y", "serving_default"]

    check_reflection(channel)

    models = model_service_pb2_grpc.ModelServiceStub(channel)
    status = get_model_status_pb2.GetModelStatusRequest()
    status.model_spec.name = "half_plus_two"
    version = models.GetModelStatus(status, 10).model_version_status[0]
    assert version.version == 123 and version.state == get_model_status_pb2.ModelVersionStatus.AVAILABLE
    reload = model_management_pb2.ReloadConfigRequest()
    reload.config.model_config_list.config.add(name="again", base_path=base, model_platform="tensorflow")
    assert code_of(lambda: models.HandleReloadConfigRequest(reload, 10)) == grpc.StatusCode.PERMISSION_DENIED
    admin = (("authorization", "Bearer secret"),)
    assert models.HandleReloadConfigRequest(reload, 30, metadata=admin).status.error_code == 0
    request.model_spec.name = "again"
    request.model_spec.ClearField("version")
    assert list(stub.Predict(request, 10).outputs["y"].float_val) == [2.5, 3.0, 4.5]


def check_reflection(channel):
    """What the server tells of Predict is enough to make the same bytes as TensorFlow Serving's own messages."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    def fields(data):
        """Pairs of number and value of a message of nothing but bytes and integers."""
        at, found = 0, []

        def varint():
            nonlocal at
            value, shift = 0, 0
            while True:
                byte = data[at]
                at += 1
                value |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return value

        while at < len(data):
            tag = varint()
            value = varint()
            if tag & 7 == 2:
                value, at = data[at:at + value], at + value
            found.append((tag >> 3, value))
        return found

    symbol = b"tensorflow.serving.PredictionService.Predict"
    for version in ("v1", "v1alpha"):
        call = channel.stream_stream("/grpc.reflection.%s.ServerReflection/ServerReflectionInfo" % version)
        answers = list(call(iter([b"\x3a\x00", bytes([4 << 3 | 2, len(symbol)]) + symbol, b"\x1a\x01x"]), timeout=10))
        services = [fields(service)[0][1] for _, service in fields(dict(fields(answers[0]))[6])]
        assert b"tensorflow.serving.PredictionService" in services and b"tensorflow.serving.ModelService" in services, services
        assert dict(fields(dict(fields(answers[2]))[7]))[1] == grpc.StatusCode.NOT_FOUND.value[0]
        files = [descriptor_pb2.FileDescriptorProto.FromString(file) for _, file in fields(dict(fields(answers[1]))[4])]
        pool = descriptor_pool.DescriptorPool()
        for file in reversed(files):
            add_file(pool, file, {one.name: one for one in files})
        method = pool.FindMethodByName(symbol.decode())
        request = message_factory.GetMessageClass(method.input_type)()
        request.model_spec.name = "half_plus_two"
        request.inputs["x"].dtype = 1
        request.inputs["x"].float_val.append(1.0)
        same = predict_pb2.PredictRequest.FromString(request.SerializeToString())
        assert same.model_spec.name == "half_plus_two" and list(same.inputs["x"].float_val) == [1.0]


def add_file(pool, file, files):
    """After those that it depends on; each once."""
    try:
        pool.FindFileByName(file.name)
    except KeyError:
        for name in file.dependency:
            add_file(pool, files[name], files)
        pool.Add(file)


def check_rest(port):
    def ask(path, body=None):
        url = "http://127.0.0.1:%d%s" % (port, path)
        data = None if body is None else json.dumps(body).encode()
        return json.load(urllib.request.urlopen(urllib.request.Request(url, data), timeout=10))

    model = "/v1/models/half_plus_two"
    assert ask(model + ":predict", {"instances": [1.0, 2.0, 5.0]}) == {"predictions": [2.5, 3.0, 4.5]}
    assert ask(model + ":predict", {"inputs": {"x": [1.0]}}) == {"outputs": [2.5]}
    assert ask(model + ":regress", {"signature_name": "regress_x_to_y", "examples": [{"x": 1.0}, {"x": 2.0}]}) == {"results": [2.5, 3.0]}
    assert ask(model + ":classify", {"signature_name": "classify_x", "context": {"x": 0.25}, "examples": [{}]}) == {
        "results": [[["a", 0.25], ["b", 0.75]]]}
    assert ask(model)["model_version_status"][0]["state"] == "AVAILABLE"
    assert "serving_default" in ask(model + "/metadata")["metadata"]["signature_def"]["signature_def"]
    try:
        ask(model + ":predict", {"instances": ["a"]})
    except urllib.error.HTTPError as error:
        assert error.code == 400 and "is no float" in json.load(error)["error"]
    else:
        raise AssertionError("a text was taken for a number")


def recorded_value(value):
    """An element of a recorded tensor: texts are objects, the rest are numbers."""
    if isinstance(value, dict):
        return value["utf8"].encode() if "utf8" in value else base64.b64decode(value["base64"])
    return value


def recorded_array(tensor):
    values = [recorded_value(value) for value in tensor["values"]]
    dtype = object if tensor["dtype"] == "string" else tensor["dtype"]
    return np.array(values, dtype=dtype).reshape(tensor["shape"])


def as_json(array):
    if isinstance(array, np.ndarray):
        return [as_json(item) for item in array] if array.ndim > 0 else as_json(array[()])
    if isinstance(array, bytes):
        return {"b64": base64.b64encode(array).decode()}
    return array.item()


def from_json(value, dtype):
    """The elements of nested lists, in order."""
    if isinstance(value, list):
        return [element for item in value for element in from_json(item, dtype)]
    if dtype == "string":
        return [base64.b64decode(value["b64"]) if isinstance(value, dict) else value.encode()]
    return [value]


def check_close(actual, expected, place):
    if expected.dtype == object:
        assert list(actual.reshape(-1)) == list(expected.reshape(-1)), place
        return
    tolerance = 1e-3 if "resnet" in place else 1e-4  # rounding adds up over the layers of a ResNet
    np.testing.assert_allclose(actual.astype(np.float64).reshape(expected.shape), expected.astype(np.float64), rtol=tolerance,
                               atol=tolerance, err_msg=place)


def check_recorded_case(ports, stub, model, signature, case):
    place = "%s, %s" % (model, signature)
    inputs = {key: recorded_array(tensor) for key, tensor in case["inputs"].items()}
    outputs = {key: recorded_array(tensor) for key, tensor in case["outputs"].items()}
    body = json.dumps({"signature_name": signature, "inputs": {key: as_json(value) for key, value in inputs.items()}}).encode()
    url = "http://127.0.0.1:%d/v1/models/%s:predict" % (ports[1], model)
    answer = json.load(urllib.request.urlopen(urllib.request.Request(url, body), timeout=60))["outputs"]
    for key, expected in outputs.items():
        values = from_json(answer if len(outputs) == 1 else answer[key], case["outputs"][key]["dtype"])
        check_close(np.array(values, dtype=expected.dtype), expected, place + ", REST, " + key)
    request = predict_pb2.PredictRequest()
    request.model_spec.name, request.model_spec.signature_name = model, signature
    for key, value in inputs.items():
        dtype = tf.string if value.dtype == object else tf.as_dtype(value.dtype)
        request.inputs[key].CopyFrom(tf.make_tensor_proto(value, dtype=dtype, shape=value.shape))
    response = stub.Predict(request, 60)
    assert sorted(response.outputs) == sorted(outputs), place
    for key, expected in outputs.items():
        actual = tf.make_ndarray(response.outputs[key])
        assert actual.shape == expected.shape and actual.dtype == expected.dtype, (place, key, actual.dtype)
        check_close(actual, expected, place + ", gRPC, " + key)


def check_recorded(program, folder):
    """All answers that TensorFlow recorded for its exports; how many there were."""
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/golden/saved_model")
    if not os.path.isdir(golden):
        print("there are no recorded models")
        return
    config, answers = "", {}
    for parent, _, files in os.walk(golden):
        for file in files:
            if not file.endswith(".answers.json"):
                continue
            path = os.path.join(parent, file)
            model = os.path.relpath(path, golden)[:-len(".answers.json")].replace("/", ".")
            base = os.path.join(folder, model)
            shutil.copytree(path[:-len(".answers.json")], os.path.join(base, "1"))
            config += 'config { name: "%s" base_path: "%s" model_platform: "tensorflow" }\n' % (model, base)
            with open(path) as recorded:
                answers[model] = json.load(recorded)
    config_file = os.path.join(folder, "models.config")
    with open(config_file, "w") as file:
        file.write("model_config_list {\n%s}\n" % config)
    cases = 0
    with Server(program, folder, ["--model_config_file=" + config_file]) as ports:
        stub = prediction_service_pb2_grpc.PredictionServiceStub(grpc.insecure_channel("127.0.0.1:%d" % ports[0]))
        for model, recorded in sorted(answers.items()):
            for signature, entry in sorted(recorded["signatures"].items()):
                if signature == "count":  # its answer depends on what was asked before
                    continue
                for case in entry["cases"]:
                    check_recorded_case(ports, stub, model, signature, case)
                    cases += 1
    print("%d recorded cases of %d models" % (cases, len(answers)))
    assert cases > 20, cases


class Server:
    """`sextant serve`, ready; ends with code 0 when it is told to."""

    def __init__(self, program, folder, arguments):
        self.ports = free_ports(2)
        self.log = open(os.path.join(folder, "log"), "w+")
        self.process = subprocess.Popen([program, "serve", "--port=%d" % self.ports[0], "--rest_api_port=%d" % self.ports[1],
                                         *arguments], stderr=self.log)

    def __enter__(self):
        for _ in range(2400):
            self.log.seek(0)
            if re.search(r" ready$", self.log.read(), re.MULTILINE):
                return self.ports
            assert self.process.poll() is None, self.process.returncode
            time.sleep(0.05)
        raise AssertionError("the server does not become ready")

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(60)
        self.log.seek(0)
        assert code == 0, (code, self.log.read())
        self.log.close()


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "half_plus_two")
        export(os.path.join(base, "123"))
        tokens = os.path.join(folder, "admin")
        with open(tokens, "w") as file:
            file.write("secret\n")
        arguments = ["--model_name=half_plus_two", "--model_base_path=" + base, "--admin_token_file=" + tokens,
                     "--enable_batching=true"]
        with Server(program, folder, arguments) as ports:
            check_rest(ports[1])
            check_grpc(ports[0], base)
    with tempfile.TemporaryDirectory() as folder:
        check_recorded(program, folder)


def free_ports(count):
    import socket
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


if __name__ == "__main__":
    main(*sys.argv[1:])

"""NVIDIA Triton with its Python backend as a peer of the server: starts it, and tells what to ask it.

  python peers/triton.py --triton DIR --python PYTHON [--census DIR/VERSION REQUEST] [--resnet44 DIR/VERSION]

DIR is made as benchmarks/README.md says. PYTHON is an interpreter of version 3.11 with TensorFlow 2.15. Models: identity, and
exports of ours that TensorFlow 2.15 runs by make_callable, the fastest way it has. When all are ready it prints one line per
workload, "NAME,MODE,PORT,FILE" as sextant-serving-bench --peer wants it, and an empty line; it ends when its input does.
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

IDENTITY = """
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("y", pb_utils.get_input_tensor_by_name(r, "x").as_numpy())])
                for r in requests]
"""

EXPORT = """
import numpy as np
import tensorflow as tf
import triton_python_backend_utils as pb_utils

v1 = tf.compat.v1


class TritonPythonModel:
    def initialize(self, args):
        self.session = v1.Session(graph=tf.Graph())
        with self.session.graph.as_default():
            meta_graph = v1.saved_model.load(self.session, ["serve"], {path!r})
            key = {signature!r}
            if key not in meta_graph.signature_def:  # the only one
                key = next(key for key in meta_graph.signature_def if not key.startswith("__"))
            signature = meta_graph.signature_def[key]
            self.inputs = sorted(signature.inputs)
            self.outputs = {outputs!r}
            self.run = self.session.make_callable([signature.outputs[key].name for key in self.outputs],
                                                  [signature.inputs[key].name for key in self.inputs])

    def execute(self, requests):
        # All requests that wait as one batch, as ours are joined.
        columns = [[pb_utils.get_input_tensor_by_name(r, key).as_numpy() for r in requests] for key in self.inputs]
        rows = [len(part) for part in columns[0]]
        feeds = [np.concatenate(parts).reshape((-1,) + {row!r}.get(key, ())) for key, parts in zip(self.inputs, columns)]
        values = self.run(*feeds)
        responses, begin = [], 0
        for count in rows:
            responses.append(pb_utils.InferenceResponse([
                pb_utils.Tensor(key, value[begin:begin + count]) for key, value in zip(self.outputs, values)]))
            begin += count
        return responses
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def add_model(repository, name, code, inputs, outputs, max_batch):
    """inputs and outputs: name → (type, dims without the batch's)."""
    folder = repository / name / "1"
    folder.mkdir(parents=True)
    (folder / "model.py").write_text(code)

    def tensors(kind, entries):
        return "%s [%s]\n" % (kind, ", ".join('{ name: "%s" data_type: TYPE_%s dims: %s }' % (key, dtype, list(dims))
                                              for key, (dtype, dims) in entries.items()))

    batching = "dynamic_batching { }\n" if max_batch > 1 else ""
    (folder.parent / "config.pbtxt").write_text(
        'name: "%s"\nbackend: "python"\nmax_batch_size: %d\n' % (name, max_batch) + tensors("input", inputs)
        + tensors("output", outputs) + batching + "instance_group [ { kind: KIND_CPU count: 1 } ]\n")


def infer_request(model, inputs):
    """The bytes of a request of KServe's protocol in JSON. inputs: name → (type, shape, values)."""
    body = json.dumps({"inputs": [{"name": key, "datatype": dtype, "shape": shape, "data": values}
                                  for key, (dtype, shape, values) in inputs.items()]})
    return infer_head(model, len(body)) + body.encode()


def infer_head(model, size, more=""):
    return ("POST /v2/models/%s/infer HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n" % (model, more, size)).encode()


def binary_request(model, name, shape, data):
    """The same with the values as bytes behind the JSON, the fastest way that Triton has."""
    head = json.dumps({"inputs": [{"name": name, "datatype": "FP32", "shape": shape,
                                   "parameters": {"binary_data_size": len(data)}}],
                       "parameters": {"binary_data_output": True}}).encode()
    return infer_head(model, len(head) + len(data), "Inference-Header-Content-Length: %d\r\n" % len(head)) + head + data


def census_model(repository, path, request):
    """The signature and the values of a JSON request with one row of plain values."""
    with open(request) as file:
        asked = json.load(file)
    row = asked["instances"][0]
    inputs = {key: ("STRING" if isinstance(value, str) else "FP32", [1]) for key, value in row.items()}
    code = EXPORT.format(path=str(path), signature=asked.get("signature_name", "serving_default"), row={},
                         outputs=["probabilities"])
    add_model(repository, "census", code, inputs, {"probabilities": ("FP32", [2])}, 64)
    values = {key: ("BYTES" if isinstance(value, str) else "FP32", [1, 1], [value]) for key, value in row.items()}
    return infer_request("census", values)


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--triton", type=pathlib.Path, required=True, help="folder with tritonserver")
    p.add_argument("--python", type=pathlib.Path, required=True, help="interpreter with TensorFlow")
    p.add_argument("--census", nargs=2, help="an export, and a file with a JSON request")
    p.add_argument("--resnet44", help="an export that takes x: [-1, 32, 32, 3]")
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        repository = folder / "models"
        requests = {}
        add_model(repository, "identity", IDENTITY, {"x": ("FP32", [-1])}, {"y": ("FP32", [-1])}, 64)
        requests["identity"] = infer_request("identity", {"x": ("FP32", [1, 2], [1.0, 2.0])})
        floats = [float("%.6g" % (i * 0.0123)) for i in range(3072)]
        requests["3072 floats"] = infer_request("identity", {"x": ("FP32", [1, 3072], floats)})
        if args.census:
            requests["census"] = census_model(repository, *args.census)
        if args.resnet44:
            code = EXPORT.format(path=args.resnet44, signature="serving_default", row={"x": (32, 32, 3)}, outputs=["y"])
            add_model(repository, "resnet44", code, {"x": ("FP32", [3072])}, {"y": ("FP32", [11])}, 32)
            requests["resnet44"] = binary_request("resnet44", "x", [1, 3072], bytes(4 * 3072))
        port, grpc_port, metrics_port = free_port(), free_port(), free_port()
        packages = next((args.python.parent.parent / "lib").glob("python3*")) / "site-packages"
        server = subprocess.Popen(
            [args.triton / "bin/tritonserver", "--model-repository=%s" % repository,
             "--backend-directory=%s" % (args.triton / "backends"), "--http-address=127.0.0.1", "--http-port=%d" % port,
             "--grpc-address=127.0.0.1", "--grpc-port=%d" % grpc_port, "--metrics-port=%d" % metrics_port],
            stdout=sys.stderr, stderr=sys.stderr,
            env={"PATH": "%s:/usr/bin:/bin" % args.python.parent, "PYTHONPATH": str(packages), "TF_CPP_MIN_LOG_LEVEL": "3"})
        try:
            wait_until_ready(server, port)
            for mode, request in requests.items():
                file = folder / mode.replace(" ", "_")
                file.write_bytes(request)
                print("triton,%s,%d,%s" % (mode, port, file))
            print(flush=True)
            sys.stdin.read()
        finally:
            server.terminate()
            server.wait()


def wait_until_ready(server, port):
    for _ in range(3000):
        if server.poll() is not None:
            sys.exit("tritonserver ended with code %d" % server.returncode)
        try:
            urllib.request.urlopen("http://127.0.0.1:%d/v2/health/ready" % port, timeout=10)
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("tritonserver does not become ready")


if __name__ == "__main__":
    main()

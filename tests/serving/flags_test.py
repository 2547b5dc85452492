"""The command line of TensorFlow Serving, with `sextant serve` in place of its program: flags in all their forms, files, errors.

usage: flags_test.py SEXTANT
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile

import wire
from hostile_clients_test import PATIENCE, Server, until


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def check_forms(program, base, write):
    """Each line starts, answers by both protocols and ends with code 0."""
    config = write("models", 'model_config_list { config { name: "m" base_path: "%s" model_platform: "tensorflow" } }' % base)
    batching = write("batching", "max_batch_size { value: 8 } batch_timeout_micros { value: 100 } max_enqueued_batches { value: 9 } "
                     "num_batch_threads { value: 1 } thread_pool_name { value: 'p' } allowed_batch_sizes: 2 allowed_batch_sizes: 8")
    splitting = write("splitting", "max_batch_size { value: 100 } enable_large_batch_splitting { value: true } "
                      "max_execution_batch_size { value: 8 }")
    for arguments in (
            ["--model_config_file=" + config],
            # The container of TensorFlow Serving names one model; what its user adds comes after.
            ["--model_name=model", "--model_base_path=/models/model", "--model_config_file=" + config,
             "--model_config_file_poll_wait_seconds=60"],
            ["--rest_api_timeout_in_ms=1", "--rest_api_timeout_in_ms=30000"],
            ["--enable_batching", "--batching_parameters_file=" + batching],
            ["--enable_batching=true", "--batching_parameters_file=" + splitting],
            ["--enable_batching=false", "--enable_model_warmup", "--enable_cors_support=true"],
            ["--enable_model_warmup=false", "--max_num_load_retries=0", "--load_retry_interval_micros=10"],
            ["--saved_model_tags", "serve", "--allow_version_labels_for_unavailable_models=true"],
            ["--grpc_channel_arguments=grpc.max_concurrent_streams=10,grpc.max_connection_age_ms=60000"],
            ["--latency_target_ms=5", "--drain_seconds=5"]):
        with Server(program, base, arguments) as server:
            server.check_serves()


def check_sockets(program, base, folder):
    path = os.path.join(folder, "rest")
    arguments = ["--rest_api_socket=" + path, "--port=0", "--model_name=m", "--model_base_path=" + base]
    server = subprocess.Popen([program, "serve", *arguments], stderr=subprocess.DEVNULL)

    def answers():
        try:
            connection = UnixConnection(path)
            connection.request("POST", "/v1/models/m:predict", json.dumps({"instances": [2.0]}))
            return json.load(connection.getresponse()) == {"predictions": [4.0]}
        except OSError:
            return False

    until(answers, "there is no answer at the socket")
    server.terminate()
    assert server.wait(PATIENCE) == 0


def check_load(program, base):
    """`sextant load` asks by both protocols, and says what is wrong before it begins."""
    with Server(program, base) as server:
        rest, rpc = "http://127.0.0.1:%d/v1/models/m:predict" % server.rest, "grpc://127.0.0.1:%d/m" % server.grpc

        def load(url, body):
            return subprocess.run([program, "load", "--url", url, "--body", body, "--rate", "200", "--seconds", "0.5", "--even"],
                                  capture_output=True, text=True, timeout=PATIENCE)

        for url in (rest, rpc):
            done = load(url, '{"instances": [1.0, 2.5]}')
            assert done.returncode == 0 and " requests in " in done.stdout, (url, done)
            assert "p99.9" in done.stdout and "INVALID_ARGUMENT" not in done.stdout, (url, done.stdout)
            done = load(url, '{"instances": ["a"]}')
            assert done.returncode == 1 and "is no float" in done.stderr, (url, done)
        done = load(rpc + "x", '{"instances": [1.0]}')
        assert done.returncode == 1 and "there is no model 'mx'" in done.stderr, done


def check_errors(program, base, write):
    """One sentence that names what was wrong, and an exit code that is not 0."""
    nonsense = write("nonsense", "max_batch_size: yes")
    model = "--model_base_path=" + base
    for arguments, part in (
            ([], "give --model_base_path DIR, or --model_config_file FILE"),
            (["--model_base_path=/nonexistent"], "there is no /nonexistent"),
            ([model + "/1"], "is one version"),
            ([model, "--port=70000"], "--port must be an integer from 0 to 65535"),
            ([model, "--port=0"], "give --port PORT for gRPC or --rest_api_port PORT for REST"),
            ([model, "--rest_api_prt=1"], "did you mean --rest_api_port?"),
            ([model, "--batching_parameters_file=" + nonsense], "needs --enable_batching"),
            ([model, "--enable_batching", "--batching_parameters_file=" + nonsense], "line 1, column"),
            ([model, "--monitoring_config_file=" + nonsense], "line 1, column"),
            ([model, "--ssl_config_file=" + nonsense], "line 1, column"),
            ([model, "--token_file=/nonexistent"], "/nonexistent: cannot open"),
            ([model, "--grpc_channel_arguments=nonsense"], "'nonsense' is no argument of gRPC"),
            (["--model_config_file=" + nonsense], "line 1, column")):
        done = subprocess.run([program, "serve", *arguments], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode in (1, 2) and part in done.stderr, (arguments, done.returncode, done.stderr)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "m")
        wire.export(base, 1)

        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w") as file:
                file.write(text)
            return path

        check_forms(program, base, write)
        check_sockets(program, base, folder)
        check_load(program, base)
        check_errors(program, base, write)


if __name__ == "__main__":
    main(*sys.argv[1:])

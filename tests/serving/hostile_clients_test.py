"""Hostile clients and other mishaps against `sextant serve`: another client is answered meanwhile and afterwards, and what they
took is given back.

usage: hostile_clients_test.py SEXTANT
"""
import contextlib
import gzip
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

import wire

PREDICT = "/tensorflow.serving.PredictionService/Predict"
PATIENCE = 120  # seconds, for what takes a moment on an idle machine


def until(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


class Server:
    """`sextant serve` of the model m."""

    def __init__(self, program, base, arguments=(), files=None, file_bytes=None):
        ports = []
        with contextlib.ExitStack() as sockets:
            for _ in range(2):
                one = sockets.enter_context(socket.socket())
                one.bind(("127.0.0.1", 0))
                ports.append(one.getsockname()[1])
        self.grpc, self.rest = ports
        # The allocator of a sanitizer keeps what is freed.
        self.gives_memory_back = "libasan" not in subprocess.run(["ldd", program], capture_output=True, text=True).stdout

        def limit():
            if files is not None:
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
            if file_bytes is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

        source = [] if any(a.startswith("--model_config_file") for a in arguments) else ["--model_name=m", "--model_base_path=" + base]
        # Signals stay as Python has them: a file that becomes too long is an error, not the end of the process.
        self.process = subprocess.Popen([program, "serve", "--port=%d" % self.grpc, "--rest_api_port=%d" % self.rest,
                                         "--file_system_poll_wait_seconds=0.05", *source, *arguments],
                                        stderr=subprocess.DEVNULL, preexec_fn=limit, restore_signals=False)
        until(self.ready, "the server does not become ready")

    def ready(self):
        assert self.process.poll() is None, self.process.returncode
        try:
            return urllib.request.urlopen("http://127.0.0.1:%d/readyz" % self.rest, timeout=PATIENCE).status == 200
        except OSError:
            return False

    def check_serves(self):
        """By REST and by gRPC."""
        body = json.dumps({"instances": [1.0, 2.5]}).encode()
        url = "http://127.0.0.1:%d/v1/models/m:predict" % self.rest
        assert json.load(urllib.request.urlopen(url, body, timeout=PATIENCE)) == {"predictions": [2.0, 5.0]}
        with Connection(self.grpc) as connection:
            connection.send(wire.frame(wire.HEADERS, wire.END_HEADERS, 1, wire.call_headers(PREDICT)),
                            wire.frame(wire.DATA, wire.END_STREAM, 1, wire.message(wire.predict_request([1.5]))))
            assert struct.pack("<f", 3.0) in connection.answer(1)

    def versions(self):
        url = "http://127.0.0.1:%d/v1/models/m" % self.rest
        statuses = json.load(urllib.request.urlopen(url, timeout=PATIENCE))["model_version_status"]
        return {int(status["version"]): status["state"] for status in statuses}

    def open_files(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))

    def megabytes(self):
        with open("/proc/%d/status" % self.process.pid) as status:
            return int(next(line for line in status if line.startswith("VmRSS:")).split()[1]) / 1024

    @contextlib.contextmanager
    def unharmed(self, megabytes):
        """What is done inside costs at most so much memory and no descriptors in the end: the server gives both back."""
        self.check_serves()
        files, before = self.open_files(), self.megabytes()
        yield
        self.check_serves()
        until(lambda: self.open_files() <= files, "descriptors are not given back")
        if self.gives_memory_back:
            until(lambda: self.megabytes() < before + megabytes, "memory is not given back")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        assert code == 0, code


class Connection:
    """HTTP/2 by hand."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self.first_window = self.window = 65535
        self.windows = {}  # by stream
        self.send(wire.PREFACE, wire.frame(wire.SETTINGS, 0, 0))

    def send(self, *frames):
        self.socket.sendall(b"".join(frames))

    def flood(self, frames, count):
        """Sends them so often, without reading, or until the server has had enough. Whether it closed."""
        self.socket.settimeout(2)
        try:
            for _ in range(count):
                self.socket.sendall(frames)
        except TimeoutError:  # it does not read any more, as nobody reads what it answers
            return False
        except OSError:
            return True
        return False

    def read(self, count):
        data = b""
        while len(data) < count:
            more = self.socket.recv(count - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return data

    def read_frame(self):
        """Kind, flags, stream and payload of the next frame; keeps account of what may be sent."""
        head = self.read(9)
        kind, flags, stream = head[3], head[4], struct.unpack(">I", head[5:])[0]
        payload = self.read(int.from_bytes(head[:3], "big"))
        if kind == wire.WINDOW_UPDATE:
            more = struct.unpack(">I", payload)[0]
            if stream == 0:
                self.window += more
            else:
                self.windows[stream] = self.windows.get(stream, 0) + more
        if kind == wire.SETTINGS and not flags & wire.ACK:
            for i in range(0, len(payload), 6):
                name, value = struct.unpack(">HI", payload[i:i + 6])
                if name == wire.INITIAL_WINDOW_SIZE:
                    self.first_window = value
            self.send(wire.frame(wire.SETTINGS, wire.ACK, 0))
        return kind, flags, stream, payload

    def send_data(self, stream, payload):
        """As the server has room for it. False when it ends the stream before."""
        sent = 0
        while sent < len(payload):
            size = min(16384, len(payload) - sent, self.window, self.first_window + self.windows.get(stream, 0) - sent)
            if size <= 0:
                kind, flags, of, _ = self.read_frame()
                if of == stream and (kind == wire.RST_STREAM or flags & wire.END_STREAM and kind == wire.HEADERS):
                    return False
                continue
            last = sent + size == len(payload)
            self.send(wire.frame(wire.DATA, wire.END_STREAM if last else 0, stream, payload[sent:sent + size]))
            self.window -= size
            sent += size
        return True

    def answer(self, stream):
        """The data of a stream, until it ends."""
        data = b""
        while True:
            kind, flags, of, payload = self.read_frame()
            if of == stream and kind == wire.DATA:
                data += payload
            if of == stream and (kind == wire.RST_STREAM or kind in (wire.DATA, wire.HEADERS) and flags & wire.END_STREAM):
                return data

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


def rapid_reset(server):
    """Calls that are cancelled at once."""
    with server.unharmed(50), Connection(server.grpc) as connection:
        call = wire.call_headers(PREDICT)
        for begin in range(0, 20000, 100):
            frames = b""
            for i in range(begin, begin + 100):
                frames += (wire.frame(wire.HEADERS, wire.END_HEADERS, 2 * i + 1, call)
                           + wire.frame(wire.RST_STREAM, 0, 2 * i + 1, struct.pack(">I", 8)))
            if connection.flood(frames, 1):
                break
        server.check_serves()


def control_floods(server):
    """Settings and pings, whose answers are not read."""
    for frames in (wire.frame(wire.SETTINGS, 0, 0, struct.pack(">HI", 4, 65535)), wire.frame(wire.PING, 0, 0, b"12345678")):
        with server.unharmed(50), Connection(server.grpc) as connection:
            connection.flood(frames * 1000, 200)
            server.check_serves()


def endless_headers(server):
    """A header that goes on in CONTINUATION frames: 64 MB."""
    with server.unharmed(50), Connection(server.grpc) as connection:
        connection.send(wire.frame(wire.HEADERS, 0, 1, wire.call_headers(PREDICT)))
        more = b"".join(wire.header("x-%d" % i, "y" * 100) for i in range(140))
        connection.flood(wire.frame(wire.CONTINUATION, 0, 1, more), 4096)
        server.check_serves()


def packed_bomb(server):
    """A message of 256 KB that unpacks to 256 MB, four times what is taken."""
    packed = wire.message(gzip.compress(bytes(256 << 20), 9), packed=True)
    request = wire.message(gzip.compress(wire.predict_request([1.5] * 50)), packed=True)
    headers = wire.call_headers(PREDICT, [("grpc-encoding", "gzip")])
    with server.unharmed(50):
        with Connection(server.grpc) as connection:  # what is packed with good intent
            connection.send(wire.frame(wire.HEADERS, wire.END_HEADERS, 1, headers), wire.frame(wire.DATA, wire.END_STREAM, 1, request))
            assert struct.pack("<50f", *[3.0] * 50) in connection.answer(1)
        for _ in range(3):
            with Connection(server.grpc) as connection:
                connection.send(wire.frame(wire.HEADERS, wire.END_HEADERS, 1, headers))
                assert not connection.send_data(1, packed) or connection.answer(1) == b""


def slow_clients(program, base):
    """More connections than the server may have descriptors: half of a header each, a byte of a body, nothing. Some of them wait to
    be accepted; who comes afterwards is served when they have gone."""
    with Server(program, base, files=256) as server:
        server.check_serves()
        files = server.open_files()
        clients = []
        for i in range(1000):
            client = socket.create_connection(("127.0.0.1", server.rest), timeout=PATIENCE)
            client.sendall([b"POST /v1/models/m:pre", b"", b"POST /v1/models/m:predict HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{"]
                           [i % 3])
            clients.append(client)
        until(lambda: server.open_files() > 200, "connections are not accepted")
        before = cpu_seconds(server.process.pid)
        time.sleep(1)
        spent = cpu_seconds(server.process.pid) - before
        assert spent < 0.5, "the server is busy with waiting: %s s of 1 s" % spent
        for client in clients:
            client.close()
        server.check_serves()
        until(lambda: server.open_files() <= files, "descriptors are not given back")


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid) as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def killed_while_reloading(program, base):
    """kill -9 at different moments while versions come and go: the next start serves the newest."""
    for i in range(3):
        server = Server(program, base)
        newest = max(int(name) for name in os.listdir(base) if name.isdigit())
        wire.export(base, newest + 1)
        time.sleep(0.03 * i)  # not a matter of right or wrong: where in the reload it ends
        server.process.kill()
        server.process.wait()
        with Server(program, base) as again:
            until(lambda: again.versions().get(newest + 1) == "AVAILABLE", "the newest version is not served")
            again.check_serves()


def full_disk(program, folder, base):
    """The log of requests cannot be written: requests are answered, and the log is what is lost."""
    config = os.path.join(folder, "models.config")
    logs = os.path.join(folder, "log")
    os.mkdir(logs)
    with open(config, "w") as file:
        file.write('model_config_list { config { name: "m" base_path: "%s" model_platform: "tensorflow" logging_config { '
                   'log_collector_config { filename_prefix: "%s/r" } sampling_config { sampling_rate: 1 } } } }' % (base, logs))
    with Server(program, base, ["--model_config_file=" + config], file_bytes=8192) as server:
        for _ in range(300):
            server.check_serves()
    assert all(os.path.getsize(os.path.join(logs, name)) <= 8192 for name in os.listdir(logs))


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(folder, "m")
        wire.export(base, 1)
        with Server(program, base) as server:
            for attack in (rapid_reset, control_floods, endless_headers, packed_bomb):
                attack(server)
                print(attack.__name__, "ok", flush=True)
        slow_clients(program, base)
        print("slow_clients ok", flush=True)
        killed_while_reloading(program, base)
        print("killed_while_reloading ok", flush=True)
        full_disk(program, folder, base)
        print("full_disk ok", flush=True)


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    main(*sys.argv[1:])

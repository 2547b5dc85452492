"""What the tests of programs share. A test is programs/FOLDER/FOLDER_test.py, called with the folder of the programs:

    from program_testing import Programs, check, near, skip
    programs = Programs()                               # in a directory of their own, removed at the end
    out = programs.run("linear_regression", "--seed", 5)
    check(programs.refusal("linear_regression", "--steps=0", code=2) == "...", "what must hold")
"""
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def near(got, wanted, tolerance, what):
    check(abs(got - wanted) <= tolerance, "%s: %r is not within %g of %r" % (what, got, tolerance, wanted))


def skip(reason):
    """Ends the test as skipped: the product says itself that it cannot yet, or data is missing."""
    print("SKIPPED: " + reason)
    sys.exit(SKIPPED)


def free_ports(count):
    """Ports of this machine that nobody has."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Programs:
    def __init__(self, folder=None):
        self.bin = pathlib.Path(folder or sys.argv[1]).resolve()
        self._directory = tempfile.TemporaryDirectory()
        self.directory = pathlib.Path(self._directory.name)

    def process(self, program, *arguments, env=None):
        """Runs a program to its end in self.directory; stdout and stderr are texts."""
        return subprocess.run([self.bin / program, *map(str, arguments)], cwd=self.directory, text=True, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **(env or {})})

    def run(self, program, *arguments, env=None):
        """The standard output of a program that must succeed."""
        process = self.process(program, *arguments, env=env)
        check(process.returncode == 0, "%s %s ended with %d: %s" % (program, arguments, process.returncode, process.stderr))
        return process.stdout

    def refusal(self, program, *arguments, code=1):
        """What a program says of bad input: one line on stderr, without its name in front."""
        process = self.process(program, *arguments)
        check(process.returncode == code, "%s %s must end with %d, not %d: %s" % (program, arguments, code, process.returncode, process.stderr))
        lines = process.stderr.splitlines()
        check(len(lines) == 1 and lines[0].startswith(program + ": "), "one sentence is said: %r" % process.stderr)
        return lines[0][len(program) + 2:]

    def path(self, *parts):
        return self.directory.joinpath(*parts)


def records(path):
    """The records of a TFRecord or event file, checksums unread."""
    data = pathlib.Path(path).read_bytes()
    at = 0
    while at < len(data):
        size, = struct.unpack_from("<Q", data, at)
        yield data[at + 12:at + 12 + size]
        at += 16 + size


def fields(message):
    """(number, value) of each field of a serialized protobuf message; values are ints, floats or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, varint()
        elif kind == 1:
            yield key >> 3, struct.unpack_from("<d", message, at)[0]
            at += 8
        elif kind == 2:
            size = varint()
            yield key >> 3, message[at:at + size]
            at += size
        else:
            yield key >> 3, struct.unpack_from("<f", message, at)[0]
            at += 4


def events(folder):
    """(step, {tag: simple value or None}, graph or None) of each event in the event files of a folder."""
    for path in sorted(pathlib.Path(folder).glob("events.out.tfevents.*")):
        for record in records(path):
            event = dict(fields(record))
            values = {}
            for number, value in fields(event.get(5, b"")):
                if number == 1:
                    parts = dict(fields(value))
                    values[parts.get(1, b"").decode()] = parts.get(2)
            yield event.get(2, 0), values, event.get(4)

"""The bytes that the tests of the server send, made by hand: protocol buffers, HTTP/2 frames, a small SavedModel."""
import os
import struct


def varint(value):
    encoded = b""
    while value > 127:
        encoded += bytes([value & 127 | 128])
        value >>= 7
    return encoded + bytes([value])


def field(number, value):
    """A field of a message: an integer, or bytes or text."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def entry(key, value):
    """Of a map from texts to messages."""
    return field(1, key) + field(2, value)


FLOAT = 1
OPEN_SHAPE = field(2, field(1, (1 << 64) - 1))  # [-1]


def export(base, version):
    """y = x + x of any number of floats, under base/version. The directory appears complete."""
    def node(name, op, inputs, attrs):
        return field(1, field(1, name) + field(2, op) + b"".join(field(3, i) for i in inputs)
                     + b"".join(field(5, entry(key, value)) for key, value in attrs.items()))

    def info(name):
        return field(1, name) + field(2, FLOAT) + field(3, OPEN_SHAPE)

    graph = (node("x", "Placeholder", [], {"dtype": field(6, FLOAT), "shape": field(7, OPEN_SHAPE)})
             + node("y", "Add", ["x", "x"], {"T": field(6, FLOAT)}) + field(4, field(1, 24)))
    signature = (field(1, entry("x", info("x:0"))) + field(2, entry("y", info("y:0"))) + field(3, "tensorflow/serving/predict"))
    meta_graph = field(1, field(4, "serve")) + field(2, graph) + field(5, entry("serving_default", signature))
    staged = os.path.join(base, "staged-%d" % version)
    os.makedirs(staged)
    with open(os.path.join(staged, "saved_model.pb"), "wb") as file:
        file.write(field(1, 1) + field(2, meta_graph))
    os.rename(staged, os.path.join(base, str(version)))


def predict_request(values):
    tensor = field(1, FLOAT) + field(2, field(2, field(1, len(values)))) + field(4, struct.pack("<%df" % len(values), *values))
    return field(1, field(1, "m")) + field(2, entry("x", tensor))


PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 8, 9
INITIAL_WINDOW_SIZE = 4
END_STREAM, END_HEADERS, ACK = 1, 4, 1


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def header(name, value):
    """A header by HPACK, as a literal that no table keeps. REQUIRES: both are shorter than 127."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def call_headers(method, more=()):
    """Of a gRPC call."""
    fields = [(":method", "POST"), (":scheme", "http"), (":path", method), (":authority", "localhost"),
              ("content-type", "application/grpc"), ("te", "trailers"), *more]
    return b"".join(header(name, value) for name, value in fields)


def message(body, packed=False):
    """As gRPC sends it."""
    return bytes([packed]) + struct.pack(">I", len(body)) + body

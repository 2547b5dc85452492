"""Reads the golden op files without TensorFlow: TFRecord framing and as much of the protobuf wire format as names and op types need."""
import struct


def records(path):
    """Yields (frame, payload) of a plain TFRecord file: the frame is the payload with its length and checksums, ready to be copied."""
    with open(path, "rb") as f:
        data = f.read()
    at = 0
    while at < len(data):
        size = struct.unpack_from("<Q", data, at)[0]
        end = at + 12 + size + 4
        if end > len(data):
            raise ValueError("%s: truncated record at %d" % (path, at))
        yield data[at:end], data[at + 12:end - 4]
        at = end


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def submessages(data, field):
    """The length-delimited values of one field of a message."""
    at, found = 0, []
    while at < len(data):
        tag, at = _varint(data, at)
        kind = tag & 7
        if kind == 2:
            size, at = _varint(data, at)
            if tag >> 3 == field:
                found.append(data[at:at + size])
            at += size
        elif kind == 0:
            _, at = _varint(data, at)
        else:
            at += {1: 8, 5: 4}[kind]
    return found


def bytes_feature(example, key):
    """The values of a bytes feature of a tf.train.Example."""
    for entry in submessages(submessages(example, 1)[0], 1):
        if submessages(entry, 1) == [key.encode()]:
            return submessages(submessages(submessages(entry, 2)[0], 1)[0], 1)
    return []


def op_types(graph_def):
    """Op types of a serialized GraphDef, function library included."""
    nodes = submessages(graph_def, 1)
    for library in submessages(graph_def, 2):
        for function in submessages(library, 1):
            nodes += submessages(function, 3)
    return {submessages(node, 2)[0].decode() for node in nodes}

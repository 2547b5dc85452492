"""convert_to_records and fully_connected_reader on a small synthetic set of the form of MNIST."""
import re
import subprocess

from program_testing import Programs, check, fields, near, records

programs = Programs()
subprocess.run([programs.bin / "sextant", "data", "mnist", "--synthetic", "--train", "1000", "--validation", "100", "--test", "200", "--idx",
                "--out", programs.path("data")], check=True, stdout=subprocess.DEVNULL)
for name in ("train", "validation", "test"):
    programs.path("data", name + ".tfrecords").unlink()

out = programs.run("convert_to_records", "--directory=data", "--validation_size=100")
check(out == "Writing data/train.tfrecords\nWriting data/validation.tfrecords\nWriting data/test.tfrecords\n", "what is written is said: " + out)
idx = programs.path("data", "train-images-idx3-ubyte").read_bytes()[16:]
labels = programs.path("data", "train-labels-idx1-ubyte").read_bytes()[8:]
for name, count, first in (("validation", 100, 0), ("train", 1000, 100), ("test", 200, None)):
    rows = list(records(programs.path("data", name + ".tfrecords")))
    check(len(rows) == count, "%s has %d records" % (name, count))
    features = {}
    for _, entry in fields(dict(fields(rows[0]))[1]):
        key, feature = (value for _, value in sorted(fields(entry)))
        kind, values = next(fields(feature))
        features[key.decode()] = next(fields(values))[1]
    check(set(features) == {"height", "width", "depth", "label", "image_raw"}, "the features are the original's")
    number = lambda value: value if isinstance(value, int) else value[0]
    check([number(features[key]) for key in ("height", "width", "depth")] == [28, 28, 1], "the sizes")
    if first is not None:
        check(features["image_raw"] == idx[784 * first:784 * (first + 1)], "the pixels of the first image")
        check(number(features["label"]) == labels[first], "its label")

out = programs.run("fully_connected_reader", "--train_dir=data", "--num_epochs=30", "--learning_rate=0.1", "--seed=1")
lines = out.splitlines()
check(len(lines) == 4 and lines[-1] == "Done training for 30 epochs, 300 steps.", "the last line: " + out)
losses = [float(re.fullmatch(r"Step \d+: loss = (\d+\.\d\d) \(\d+\.\d{3} sec\)", line).group(1)) for line in lines[:-1]]
near(losses[0], 2.30, 0.15, "the first loss is that of guessing")
check(losses[2] < 0.7 * losses[0], "the loss falls: %r" % losses)
same = lambda text: re.sub(r"\(.*? sec\)", "", text)
check(same(programs.run("fully_connected_reader", "--train_dir=data", "--num_epochs=30", "--learning_rate=0.1", "--seed=1")) == same(out),
      "the same seed gives the same losses")
out = programs.run("fully_connected_reader", "--train_dir=data")
check(out.splitlines()[-1] == "Done training for 2 epochs, 20 steps.", "two epochs of ten batches: " + out)

check("train.tfrecords" in programs.refusal("fully_connected_reader", "--train_dir=nowhere"), "a missing file is named")
programs.path("empty").mkdir()
programs.path("empty", "train.tfrecords").touch()
check(programs.refusal("fully_connected_reader", "--train_dir=empty") == "empty/train.tfrecords holds no examples", "a file without examples")
check("--learning_rate must be at most 3.4" in programs.refusal("fully_connected_reader", "--train_dir=data", "--learning_rate=inf", code=2), "an endless rate")
check("--batch_size must be at most" in programs.refusal("fully_connected_reader", "--train_dir=data", "--batch_size=%d" % (2 ** 63 - 1), code=2), "a batch beyond all counting")
said = programs.refusal("fully_connected_reader", "--train_dir=data", "--hidden1=%d" % 10 ** 11)
check("cannot allocate" in said, "a layer that no memory holds: " + said)
check(programs.refusal("convert_to_records", "--directory=") == "--directory must name a folder, not ''", "no directory")
data = bytearray(programs.path("data", "train.tfrecords").read_bytes())
data[5000] ^= 1
programs.path("data", "train.tfrecords").write_bytes(data)
check("train.tfrecords" in programs.refusal("fully_connected_reader", "--train_dir=data"), "a damaged record is found")
check("1101 images" in programs.refusal("convert_to_records", "--directory=data", "--validation_size=1101"), "too large a validation set")

"""mnist_convnet on a small synthetic set (say so: --synthetic): its lines, what it learns, the largest batch, bad input."""
import re
import subprocess

from program_testing import Programs, check

programs = Programs()
subprocess.run([programs.bin / "sextant", "data", "mnist", "--synthetic", "--train", "600", "--validation", "50", "--test", "200", "--idx",
                "--out", programs.path("MNIST_data")], check=True, stdout=subprocess.DEVNULL)
small = ["--validation_size=50", "--batch_size=20"]

out = programs.run("mnist_convnet", *small, "--iterations=201")
lines = out.splitlines()
check([re.sub(r"[0-9.]+$", "x", line) for line in lines] ==
      ["step 0, training accuracy x", "step 100, training accuracy x", "step 200, training accuracy x", "test accuracy x"], "the lines of the original: " + out)
accuracy = float(lines[-1].split()[-1])
check(accuracy >= 0.6, "200 steps teach the digits: %g" % accuracy)
check(programs.run("mnist_convnet", *small, "--iterations=3", "--seed=4") ==
      programs.run("mnist_convnet", *small, "--iterations=3", "--seed=4"), "the same seed gives the same lines")
page = programs.path("logs", "mnist_convnet", "graph.html").read_text()
check('"n": "conv1/Conv2D"' in page and '"n": "keep/prob"' in page, "the page draws the graph, with scopes for underscores")

# The variables, Adam's two slots and the gradients are 52 MB: the batch is what is left.
out = programs.run("mnist_convnet", *small, "--find_batch_size", "--memory_limit", 100 << 20)
sizes = [int(n) for n in re.findall(r"batch (\d+): fits", out)]
check(sizes == [2 ** i for i in range(len(sizes))] and sizes, "sizes are doubled: " + out)
check("batch %d: RESOURCE_EXHAUSTED\nlargest batch %d\n" % (2 * sizes[-1], sizes[-1]) in out, "the next one does not fit: " + out)

check(programs.refusal("mnist_convnet", "--iteration=3", code=2) == "there is no flag --iteration; did you mean --iterations?", "a flag")
check("a batch of 601 cannot be taken from 600 images" in programs.refusal("mnist_convnet", "--validation_size=50", "--batch_size=601", "--logdir=refused"),
      "a batch larger than the set")
check(not programs.path("refused").exists(), "nothing is written")
programs.path("MNIST_data", "t10k-labels-idx1-ubyte").write_bytes(b"\0\0\x08\x01\0\0\0\xc8\x01\x02")
check("t10k-labels-idx1-ubyte is cut off" in programs.refusal("mnist_convnet", *small), "a file that is cut off")
said = programs.refusal("mnist_convnet", "--data_dir=MNIST_data/t10k-labels-idx1-ubyte/more")
check(said == "MNIST_data/t10k-labels-idx1-ubyte is a file, not a folder; choose another folder", "a file in place of a folder: " + said)
check(programs.refusal("mnist_convnet", "--logdir=") == "--logdir must name a folder, not ''", "no logdir")

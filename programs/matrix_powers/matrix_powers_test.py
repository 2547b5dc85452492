"""matrix_powers: one device and two give the same, about the expected, numbers; placement; bad input."""
import re

from program_testing import Programs, check

programs = Programs()
for arguments in ([], ["--tower_device=cpu"], ["--tower_device=cpu", "--sum_device=/cpu:1"]):
    out = programs.run("matrix_powers", "--size=300", "--power=4", *arguments)
    check(re.match(r"Single GPU computation time: \d:\d\d:\d\d\.\d{6}\nMulti GPU computation time: \d:\d\d:\d\d\.\d{6}\n", out),
          "the times are printed: " + out)
    one, two = map(float, re.search(r"mean of the sum ([0-9.e+]+) and ([0-9.e+]+)", out).groups())
    check(one == two, "both ways give the same: " + out)
    # A power has the mean ½ (N/2)ⁿ, the sum twice that; 300 rows are near it.
    check(abs(one / 150 ** 4 - 1) < 0.03, "the mean is about %g: %s" % (150 ** 4, out))

placed = programs.process("matrix_powers", "--size=8", "--power=2", "--tower_device=cpu", "--sum_device=/cpu:0", "--log_device_placement")
log = placed.stdout + placed.stderr
check(re.search(r"MatMul_\d+: \(MatMul\): .*CPU:1", log) and re.search(r"AddN_?\d*: \(AddN\): .*CPU:0", log), "the devices are printed: " + log)
programs.run("matrix_powers", "--size=8", "--logdir=page")
page = programs.path("page", "graph.html").read_text()
check(programs.path("logs", "matrix_powers", "graph.html").read_text(), "the page is written without a flag, too")
check('"n": "MatMul1"' in page and "stripped 256 bytes" not in page, "the page draws the graph without the matrices")

help_text = programs.run("matrix_powers", "--help")
check("with --target 100 unless given (default: 10000)" in help_text and "with --target 4 unless given (default: 10)" in help_text, "defaults: " + help_text)
programs.path("file").write_text("")
process = programs.process("matrix_powers", "--size=8", "--logdir=file/page")
check(process.returncode == 1 and not process.stdout and "file/page" in process.stderr, "a folder that cannot be is refused before the work: " + process.stdout)
check(programs.refusal("matrix_powers", "--size=0", code=2) == "--size must be at least 1, not 0", "no matrix")
said = programs.refusal("matrix_powers", "--size=2", "--power=10000000", code=2)
check(said == "--power must be at most 10000, not 10000000", "more products than a graph holds: " + said)
check("TPU" in programs.refusal("matrix_powers", "--tower_device=TPU", code=2), "a kind of device that there is not")

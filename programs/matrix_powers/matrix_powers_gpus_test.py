"""matrix_powers on two GPUs: a power on each, the sum on either. Waits for such devices."""
import re

from program_testing import Programs, check, skip

programs = Programs()
if len(set(re.findall(r"GPU:\d+", programs.run("sextant", "devices"), re.IGNORECASE))) < 2:
    skip("the powers of two matrices on /gpu:0 and /gpu:1 need two GPUs; `sextant devices` names fewer")
for sum_device in ("/cpu:0", "/gpu:0"):
    process = programs.process("matrix_powers", "--size=300", "--power=4", "--sum_device", sum_device, "--log_device_placement")
    log = process.stdout + process.stderr
    check(process.returncode == 0 and "GPU:0" in log and "GPU:1" in log, "the powers are on two GPUs: " + log)
    one, two = map(float, re.search(r"mean of the sum ([0-9.e+]+) and ([0-9.e+]+)", log).groups())
    check(abs(one / two - 1) < 1e-5 and abs(one / 150 ** 4 - 1) < 0.03, "both ways give about the expected mean: " + log)

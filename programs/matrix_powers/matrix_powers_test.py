"""matrix_powers: one device and two give the same, about the expected, numbers."""
import re

from program_testing import Programs, check

programs = Programs()
out = programs.run("matrix_powers", "--size", 200, "--power", 3)
one, two, expected = [float(x) for x in re.search(
    r"mean entry ([0-9.e+]+) on one device, ([0-9.e+]+) on two; expected about ([0-9.e+]+)", out).groups()]
check(one == two and abs(one / expected - 1) < 0.1, "both ways give about the expected mean: " + out)
check("Single device computation time: 0:00:0" in out, "the times are printed")

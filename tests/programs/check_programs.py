"""Runs a reference program and compares what it prints with what its README promises."""
import re
import subprocess
import sys


def run(program, *args):
    return subprocess.run([program, *args], stdout=subprocess.PIPE, check=True).stdout.decode()


def check(condition, what):
    if not condition:
        sys.exit("FAILED: " + what)


def warm_up(program):
    check(run(program) == "[[36.]]\n", "the product is [[36.]]")


def counter(program):
    check(run(program) == "0\n1\n2\n3\n", "the counter goes 0, 1, 2, 3")


def linear_regression(program):
    out = run(program, "--seed", "5")
    costs = [float(c) for c in re.findall(r"cost ([0-9.]+)", out)]
    check(len(costs) == 30, "30 costs are printed")
    # The distance from the floor shrinks by (1 - 0.2 * 0.34)^2 a step; three costs tell the floor.
    ratio = (1 - 0.2 * 0.34) ** 2
    floor = (costs[1] - ratio * costs[0]) / (1 - ratio)
    check(0.05 < floor < 0.14, "the floor is near 0.09, not %g" % floor)
    for a, b in zip(costs, costs[1:]):
        check(abs((b - floor) - ratio * (a - floor)) < 2e-5, "each step shrinks the cost by %g" % ratio)
    check(run(program, "--seed", "5") == out, "the same seed gives the same numbers")


def matrix_powers(program):
    out = run(program, "--size", "200", "--power", "3")
    one, two, expected = [float(x) for x in re.search(
        r"mean entry ([0-9.e+]+) on one device, ([0-9.e+]+) on two; expected about ([0-9.e+]+)", out).groups()]
    check(one == two and abs(one / expected - 1) < 0.1, "both ways give about the expected mean: " + out)
    check("Single device computation time: 0:00:0" in out, "the times are printed")


name = sys.argv[1].split("/")[-1]
{"warm_up": warm_up, "counter": counter, "linear_regression": linear_regression, "matrix_powers": matrix_powers}[name](sys.argv[1])
print(name, "ok")

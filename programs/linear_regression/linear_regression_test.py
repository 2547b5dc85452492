"""linear_regression: the law of its costs, for any seed."""
import re

from program_testing import Programs, check

programs = Programs()
RATIO = (1 - 0.2 * 0.34) ** 2  # mean x² is 0.34

for seed in (1, 5, 77):
    out = programs.run("linear_regression", "--seed", seed)
    costs = [float(c) for c in re.findall(r"cost ([0-9.]+)", out)]
    check(len(costs) == 30, "30 costs are printed")
    floor = (costs[1] - RATIO * costs[0]) / (1 - RATIO)
    check(0.05 < floor < 0.14, "the floor is near 0.09, not %g" % floor)
    for a, b in zip(costs, costs[1:]):
        check(abs((b - floor) - RATIO * (a - floor)) < 2e-5, "each step shrinks the cost by %g" % RATIO)
    check(programs.run("linear_regression", "--seed", seed) == out, "the same seed gives the same numbers")
check(programs.refusal("linear_regression", "--stepz=3", code=2) == "there is no flag --stepz; did you mean --steps?",
      "an unknown flag is refused")

"""The scenarios by name. Each is a function of a Run (the folder, the program, a random generator of
the seed) that returns the figures to report and raises Failed. Names are those of `run --list`.
"""

SCENARIOS = {}


class Skipped(Exception):
    """What this machine lacks for a scenario."""


CI = []  # those that ctest runs


def scenario(name, ci=False):
    def add(function):
        SCENARIOS[name] = function
        if ci:
            CI.append(name)
        return function
    return add


def finish(cluster, max_steps, trainers, lost=0):
    """What is true of every training that ended well."""
    after = cluster.await_exits()
    counted = cluster.expect_counted(max_steps, max_steps + trainers - 1, lost)
    cluster.expect_nothing_left()
    return {"step": counted["step"], "last_exit_after_chief": after}

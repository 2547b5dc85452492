"""What parameter servers do: their shares of the variables, the calls of a step."""

import json
import os
import pathlib
import re
import signal
import subprocess

from catalogue import scenario
from scenarios_sync import BITS, compare, train_together
from tasks import Failed


def status(cluster, task):
    """What `sextant status` says of a task."""
    command = [str(pathlib.Path(cluster.program).parent / "sextant"), "status", f"grpc://127.0.0.1:{task.port}", "--json"]
    environment = dict(os.environ, SEXTANT_TOKEN_FILE=str(cluster.token))
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=20)
    return json.loads(shown.stdout)


def calls_at_rest(cluster):
    """The step and the calls of each server while the only task that trains stands still."""
    chief = cluster.find("chief").process
    chief.send_signal(signal.SIGSTOP)
    try:
        cluster.await_true("servers without calls", lambda: not any(status(cluster, ps)["running"] for ps in cluster.of("ps")), 20)
        return cluster.step(), [status(cluster, ps)["calls"] for ps in cluster.of("ps")]
    finally:
        chief.send_signal(signal.SIGCONT)


@scenario("T3", ci=True)
def balanced_servers(run):
    """ResNet-44 on 3 servers: equal shares of the bytes, 2 calls a step, and one to count it."""
    steps = run.times(40, 200)
    flags = {"--model": "resnet44", "--step_ms": 0, "--save_steps": 100000, "--max_steps": 100000}
    with run.cluster(chief=True, ps=3, flags=flags) as cluster:
        cluster.start_all()
        cluster.await_step(3, limit=90)
        begin, before = calls_at_rest(cluster)
        cluster.await_step(begin + steps, limit=steps * 3)
        end, after = calls_at_rest(cluster)
        # A step that is under way when the chief is stopped has made some of its calls.
        calls = [(b - a) / (end - begin) for a, b in zip(before, after)]
        most = [(limit * (end - begin) + limit) / (end - begin) for limit in (3, 2, 2)]
        placed = re.search(r"on 3 parameter servers, bytes: ([\d, ]+)", cluster.find("chief").text())
        shares = [int(each) for each in placed.group(1).split(",")]
        balance = max(shares) * len(shares) / sum(shares)
        figures = {"steps": end - begin, "calls_per_step": [round(each, 2) for each in calls],
                   "bytes_most_by_mean": round(balance, 3)}
        if balance > 1.10:
            raise Failed(f"the shares are not equal: {figures}")
        if any(each > limit for each, limit in zip(calls, most)):
            raise Failed(f"there are more calls than 3 a step to ps 0 and 2 to the others: {figures}")
        return figures


@scenario("partitions", ci=True)
def partitioned_variables(run):
    """Layers cut over 3 servers train what whole ones do, to the bit; checkpoints of both go on as the other."""
    steps, tasks = 20, {"workers": 1, "ps": 3}
    flags = {"--model": "mlp", "--sync": 2, "--deterministic": None, "--save_steps": 10}
    cut = {**flags, "--partition_bytes": 1000}
    whole = {**flags, "--partition_bytes": 0}
    first = train_together(run, "whole", whole, steps, **tasks)
    second = train_together(run, "cut", cut, steps, **tasks)
    differences = [compare(run, second, first)]
    # Each goes on from what the other has saved.
    for name, other in ("whole", cut), ("cut", whole):
        train_together(run, name, other, 2 * steps, **tasks)
    differences.append(compare(run, second, first))
    for difference, step in zip(differences, (steps, 2 * steps)):
        if difference["step"] != step or difference["different"] or difference["variables"] < 12:
            raise Failed(f"parts and whole variables differ: {differences}")
    return {"variables": differences[0]["variables"]}


@scenario("max-staleness", ci=True)
def limited_staleness(run):
    """Asynchronous updates that are too stale are dropped, count less, or workers wait for the slowest; no step is lost."""
    steps, figures = run.times(200, 2000), {}
    for what in "drop", "scale", "block":
        flags = {"--model": "mlp", "--max_steps": steps, "--step_ms": 2, "--max_staleness": 1, "--stale_updates": what}
        with run.cluster(BITS, what, chief=True, workers=2, flags=flags) as cluster:
            for task in cluster.of("worker"):  # the chief updates while their gradients are on the way
                cluster.proxy("worker", task.index).set(delay=8)
            cluster.start_all()
            for task in cluster.trainers():
                cluster.await_step(1, task=task)
            cluster.await_step(steps * 3 // 4, limit=120)
            shown = cluster.status()
            cluster.await_exits()
            cluster.expect_nothing_left()
            stale = shown["training"]["p99_staleness"]
            figures[what] = {"step": cluster.saved_step(), "p99_staleness": stale, "dropped": shown["stale"]}
            if cluster.saved_step() < steps:
                raise Failed(f"steps are missing: {figures}")
            if (what == "drop") != (shown["stale"] > 0):
                raise Failed(f"updates were dropped, or not, against the rule: {figures}")
            if what == "drop" and stale > 1 or what == "scale" and stale < 2 or what == "block" and stale > 4:
                raise Failed(f"the staleness is not what it should be: {figures}")
    return figures

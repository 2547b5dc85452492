"""Synchronous steps: what they compute, who is too late, how they end."""

import contextlib
import json
import os
import subprocess
import time

from catalogue import scenario
from tasks import Failed

BITS = "replica-training"


def alone(run, name, flags):
    """Trains in one process; its model directory."""
    folder = run.folder / name
    arguments = [str(run.programs / BITS), "--model_dir", str(folder / "model")]
    for flag, value in flags.items():
        arguments += [flag] if value is None else [flag, str(value)]
    environment = {key: value for key, value in os.environ.items() if key != "TF_CONFIG"}
    done = subprocess.run(arguments, env=dict(environment, SEXTANT_THREADS="1"), capture_output=True,
                          text=True, timeout=600)
    if done.returncode != 0:
        raise Failed(f"{' '.join(arguments)} ended with {done.returncode}: {done.stderr[-500:]}")
    return folder / "model"


def compare(run, ours, theirs, everything=False):
    """How the newest checkpoints of two folders differ; everything: in moving averages too."""
    command = [str(run.programs / BITS), "--model_dir", str(ours), "--compare", str(theirs)]
    done = subprocess.run(command + ["--all"] * everything, capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise Failed(f"{ours} and {theirs} cannot be compared: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def train_together(run, name, flags, steps, **tasks):
    """Trains in a cluster to its end; its model directory."""
    with run.cluster(BITS, name, chief=True, flags={"--max_steps": steps, **flags}, **tasks) as cluster:
        cluster.start_all()
        cluster.await_exits(limit=600)
        cluster.expect_nothing_left()
        return cluster.model_dir


def like_mirrored(run, model, steps):
    """Two workers by synchronous steps against two devices of one process."""
    flags = {"--model": model, "--max_steps": steps, "--save_steps": 1000}
    mirrored = alone(run, "mirrored", {**flags, "--devices": 2})
    figures = {}
    for name, more in ("deterministic", {"--deterministic": None}), ("free", {}):
        together = train_together(run, name, {**flags, "--sync": 2, **more}, steps, workers=1, ps=2)
        difference = compare(run, together, mirrored)
        if difference["step"] != steps or difference["variables"] < 12:
            raise Failed(f"{name}: {difference} of {steps} steps")
        if difference["different"] if more else difference["most"] > 1e-5:
            raise Failed(f"{name} is not as mirrored: {difference}")
        figures[name] = difference
    return figures


@scenario("sync-mirrored", ci=True)
def mlp_like_mirrored(run):
    """An MLP with Adam: R = N = 2, each with its shard of the batches, is two devices to the bit."""
    return like_mirrored(run, "mlp", 50)


@scenario("sync-resnet", ci=True)
def resnet_like_mirrored(run):
    """The same of a ResNet-20 with momentum."""
    return like_mirrored(run, "resnet", run.times(10, 50))


def speed(cluster, begin, end):
    """Steps per second between two steps; and how many contributions came too late up to then."""
    cluster.await_step(begin, limit=120)
    started = time.monotonic()
    at = cluster.step()
    cluster.await_step(end, limit=120)
    rate = (cluster.step() - at) / (time.monotonic() - started)
    return round(rate, 1), (cluster.status() or {}).get("stale")


@scenario("T11", ci=True)
def straggler(run):
    """One of four workers runs a fifth of the time: R = 4 waits for it, R = 3 drops what comes too late."""
    steps = run.times(90, 600)
    rates, stale = {}, {}
    for name, workers, sync in ("none", 2, 3), ("R=4", 3, 4), ("R=3", 3, 3), ("async", 3, None):
        flags = {"--max_steps": steps, "--step_ms": 10, **({} if sync is None else {"--sync": sync})}
        with run.cluster(name=name, chief=True, workers=workers, flags=flags) as cluster:
            cluster.start_all()
            for task in cluster.trainers():
                cluster.await_step(0, task=task)
            with contextlib.ExitStack() as slow:
                if workers == 3:
                    slow.enter_context(cluster.slowed("worker", 2, 0.2))
                rates[name], stale[name] = speed(cluster, steps // 6, steps * 2 // 3)
            cluster.await_exits(limit=120)
            cluster.expect_counted(steps, steps if sync else steps + workers)
            cluster.expect_nothing_left()
    # With backups somebody is always too late, otherwise nobody is. None: the status came after the end.
    if stale["R=3"] == 0:
        raise Failed(f"no contribution came too late: {stale}")
    if stale["none"] or stale["R=4"] or stale["async"]:
        raise Failed(f"contributions were dropped that were needed: {stale}")
    return {"steps_per_second": rates, "stale": stale, "R=3_of_none": round(rates["R=3"] / rates["none"], 2)}


@scenario("T16-sync", ci=True)
def data_ends_in_steps(run):
    """The data of two of four workers ends early, R = 3: the others fill the steps; then that of all."""
    figures = {}
    for name, elements, steps in ("max_steps", (1000, 10, 15, 1000), 50), ("all", (60, 10, 15, 50), None):
        flags = {"--sync": 3} if steps is None else {"--sync": 3, "--max_steps": steps}
        with run.cluster(name=name, chief=True, workers=3, flags=flags) as cluster:
            for task, count in zip(cluster.trainers(), elements):
                task.flags = {"--elements": count}
            cluster.start_all()
            after = cluster.await_exits(limit=60)
            # Three elements are in every step; of the rest some came too late, or in no step.
            counted = cluster.expect_counted(steps or 10, steps or sum(elements) // 3)
            cluster.expect_nothing_left()
            figures[name] = {"step": counted["step"], "last_exit_after_chief": after}
    return figures


@scenario("T17-sync", ci=True)
def end_while_all_wait(run):
    """Max_steps are reached while all wait for tokens: all end within 5 s, at exactly that step."""
    with run.cluster(chief=True, workers=3, flags={"--max_steps": 60, "--sync": 4}) as cluster:
        cluster.start_all()
        cluster.await_step(40)
        cluster.pause("worker", 2, 2)  # meanwhile the others wait for tokens of the next step
        cluster.await_step(60)
        reached = time.monotonic()
        cluster.await_exits()
        seconds = round(time.monotonic() - reached, 2)
        if seconds > 5:
            raise Failed(f"the last task ended {seconds} s after the last step")
        cluster.expect_counted(60, 60)
        cluster.expect_monotone()
        cluster.expect_nothing_left()
        cluster.start_all()
        cluster.await_exits(limit=20)
        cluster.expect_counted(60, 60)
        return {"seconds": seconds}

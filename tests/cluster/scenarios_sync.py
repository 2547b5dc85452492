"""Synchronous steps: what they compute, who is too late, how they end."""

import json
import os
import subprocess

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


def compare(run, ours, theirs):
    """How the newest checkpoints of two folders differ."""
    done = subprocess.run([str(run.programs / BITS), "--model_dir", str(ours), "--compare", str(theirs)],
                          capture_output=True, text=True, timeout=60)
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

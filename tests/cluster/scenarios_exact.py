"""Deterministic synchronous training: whatever is killed when, the end has the same bits."""

import time

from catalogue import scenario
from scenarios_sync import BITS, compare, train_together
from tasks import Failed


def kill(cluster, tasks):
    for task in tasks:
        cluster.kill(task.job, task.index)


def disturbed(run, name, flags, steps, tasks, choose, kills):
    """Trains in a cluster of which some are killed several times; its model directory."""
    with run.cluster(BITS, name, chief=True, flags={"--max_steps": steps, **flags}, **tasks) as cluster:
        cluster.start_all()
        for _ in range(kills):
            # At any moment of the next steps, or of the start.
            saved = cluster.saved_step() if (cluster.model_dir / "checkpoint").exists() else 0
            cluster.await_step(saved + run.random.randrange((steps - 10) // kills), limit=60)
            time.sleep(run.random.uniform(0, 0.1))
            chosen = choose(cluster)
            kill(cluster, chosen)
            for task in chosen:
                cluster.start(task.job, task.index)
        cluster.await_exits(limit=200)
        cluster.expect_nothing_left()
        return cluster.model_dir


def same_bits(run, model, steps, kills):
    flags = {"--model": model, "--sync": 2, "--deterministic": None, "--save_steps": 5, "--shuffle": None,
             "--step_ms": 10, **({"--dropout": None} if model == "mlp" else {})}
    tasks = {"workers": 1, "ps": 2}
    undisturbed = train_together(run, "undisturbed", flags, steps, **tasks)
    ways = {"all": lambda cluster: cluster.tasks, "one": lambda cluster: [run.random.choice(cluster.tasks)]}
    figures = {}
    for name, choose in ways.items():
        other = disturbed(run, name, flags, steps, tasks, choose, kills)
        difference = compare(run, other, undisturbed, everything=True)
        if difference["step"] != steps or difference["different"]:
            raise Failed(f"{name} killed {kills} times: {difference}")
        figures[name] = difference
    return figures


@scenario("exact", ci=True)
def killed_mlp(run):
    """All tasks, or one at random, are killed several times: an MLP with dropout and shuffled data ends with the same bits."""
    return same_bits(run, "mlp", run.times(60, 200), run.times(3, 10))


@scenario("exact-resnet")
def killed_resnet(run):
    """The same of a ResNet-20, with the moving averages of its batch normalisation."""
    return same_bits(run, "resnet", run.times(40, 120), run.times(2, 10))

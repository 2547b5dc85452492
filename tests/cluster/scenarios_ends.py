"""How tasks end that cannot go on: the exit codes of facts that platforms decide by."""

import signal

from catalogue import scenario
from tasks import Failed


def await_code(cluster, task, code, limit=40):
    cluster.await_true(f"the end of {task.name}", lambda: task.process.poll() is not None, limit)
    if task.process.returncode != code:
        raise Failed(f"{task.name} ended with {task.process.returncode}, not {code}: {task.text()[-400:]}")


def end_of_worker(run, name, code, **options):
    """One worker of a cluster ends with this code; the others go on."""
    fault = options.pop("fault", None)
    with run.cluster(name=name, chief=True, workers=2, flags={"--step_ms": 5}) as cluster:
        worker = cluster.find("worker", 1)
        worker.flags = options
        cluster.start_all()
        if fault:
            cluster.await_steps_of(worker)
            fault(cluster)
        await_code(cluster, worker, code)
        cluster.await_steps_of(cluster.find("worker", 0))
        cluster.tasks = [task for task in cluster.tasks if task is not worker]
        cluster.expect_alive()
        cluster.stop()
        cluster.await_exits()


@scenario("exit-codes", ci=True)
def exit_codes(run):
    """Workers that end with 1, 2, 3, 4, 138, 143 and 130, each for its reason; the others go on, and end with 0."""
    end_of_worker(run, "internal", 1, **{"--fail": "internal"})
    end_of_worker(run, "exception", 1, **{"--fail": "exception"})
    end_of_worker(run, "flags", 2, **{"--save_steps": -1})
    end_of_worker(run, "no_data", 3, **{"--files": str(run.folder / "nothing" / "*.txt")})
    end_of_worker(run, "nan", 4, **{"--fail": "nan"})
    for number in signal.SIGTERM, signal.SIGINT:
        end_of_worker(run, number.name, 128 + number, fault=lambda cluster, number=number: cluster.kill("worker", 1, number))
    with run.cluster(name="lost", chief=True, workers=1, ps=2, flags={"--peers_lost": 3, "--lease": 1}) as cluster:
        cluster.start_all()
        cluster.await_step(20)
        cluster.kill("ps", 0)
        for task in [*cluster.trainers(), cluster.find("ps", 1)]:
            await_code(cluster, task, 138)
        for task in cluster.tasks:
            task.process = None
    return {}


@scenario("restarts-in-vain", ci=True)
def restarts_in_vain(run):
    """A chief that is killed and started again without a new checkpoint gives up after five times, with 5."""
    flags = {"--step_ms": 20, "--save_steps": 100000}
    with run.cluster(chief=True, workers=0, flags=flags) as cluster:
        cluster.start_all()
        chief = cluster.find("chief")
        for _ in range(6):
            cluster.await_step(1, task=chief)
            for task in cluster.tasks:
                cluster.kill(task.job, task.index)
            cluster.start_all()
        await_code(cluster, chief, 5)
        if "started again 5 times" not in chief.text():
            raise Failed(f"it does not say why: {chief.text()[-300:]}")
        # With a new checkpoint it counts from anew.
        (cluster.model_dir / "sextant_restarts.json").unlink()
        cluster.flags["--save_steps"] = 20
        for _ in range(7):
            cluster.kill("ps")
            cluster.start("ps")
            cluster.start("chief")
            at = cluster.saved_step()
            cluster.await_true("a checkpoint", lambda at=at: cluster.saved_step() > at, 20)
            cluster.kill("chief")
        cluster.start("chief")
        cluster.await_step(1, task=chief)
        cluster.stop()
        cluster.await_exits()
        return {}

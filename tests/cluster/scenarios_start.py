"""How trainings of clusters begin and end: roles, late tasks, wrong ones, ends of data."""

import json
import signal
import socket
import time

from catalogue import finish, scenario
from tasks import Failed, free_ports


@scenario("T1", ci=True)
def undisturbed(run):
    """Chief, 2 workers, 1 ps and an evaluator, to max_steps."""
    with run.cluster(chief=True, workers=2, evaluators=1, flags={"--max_steps": 300}) as cluster:
        cluster.start_all()
        figures = finish(cluster, 300, 3)
        if figures["last_exit_after_chief"] > 5:
            raise Failed(f"the last task ended {figures['last_exit_after_chief']} s after the chief")
        cluster.expect_monotone()
        evaluated = cluster.evaluated_steps()
        if len(evaluated) != len(set(evaluated)):
            raise Failed(f"steps were evaluated twice: {evaluated}")
        if not evaluated or evaluated[-1] != figures["step"]:
            raise Failed(f"evaluated were {evaluated}, the last step is {figures['step']}")
        return figures


@scenario("T1-master", ci=True)
def with_master(run):
    """A master evaluates in its own process."""
    with run.cluster(master=True, workers=1, ps=2, flags={"--max_steps": 200}) as cluster:
        cluster.start_all()
        figures = finish(cluster, 200, 2)
        if cluster.evaluated_steps()[-1:] != [figures["step"]]:
            raise Failed(f"evaluated were {cluster.evaluated_steps()}")
        return figures


@scenario("T1-workers")
def workers_alone(run):
    """Worker 0 is the chief where no task is called so."""
    with run.cluster(workers=3, ps=1, flags={"--max_steps": 200}) as cluster:
        cluster.start_all()
        return finish(cluster, 200, 3)


@scenario("T15", ci=True)
def late_joiner(run):
    """A worker that comes late joins at once; one that never comes holds nobody up."""
    with run.cluster(chief=True, workers=3, flags={"--max_steps": 600}) as cluster:
        cluster.start_all(("worker", 1), ("worker", 2))
        cluster.await_step(200)
        task = cluster.start("worker", 1)
        joined = cluster.await_step(200, task=task)
        tasks = [each for each in cluster.tasks if each.name != "worker-2"]
        cluster.await_exits(tasks=tasks)
        counted = cluster.expect_counted(600, 602)
        return {"step": counted["step"], "joined": round(joined, 2)}


@scenario("T16", ci=True)
def data_ends(run):
    """The data of two of four workers ends early, then that of all: everybody ends by itself."""
    with run.cluster(chief=True, workers=3) as cluster:
        for task, elements in zip(cluster.trainers(), (150, 40, 60, 150)):
            task.flags = {"--elements": elements}
        cluster.start_all()
        after = cluster.await_exits()
        counted = cluster.expect_counted(400, 400)
        cluster.expect_nothing_left()
        return {"step": counted["step"], "last_exit_after_chief": after}


@scenario("T17", ci=True)
def started_after_the_end(run):
    """Max_steps are reached; tasks that a platform starts again after that leave at once."""
    with run.cluster(chief=True, workers=1, evaluators=1, flags={"--max_steps": 60}) as cluster:
        cluster.start_all()
        figures = finish(cluster, 60, 2)
        begin = time.monotonic()
        cluster.start_all()
        cluster.await_exits(limit=20)
        cluster.expect_counted(figures["step"], figures["step"])
        return {**figures, "again": round(time.monotonic() - begin, 2)}


@scenario("T20", ci=True)
def duplicate_task(run):
    """A second process of a task is refused while the first lives, and harms nobody."""
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 5}) as cluster:
        cluster.start_all()
        cluster.await_step(30)
        worker = cluster.find("worker", 0)
        config = cluster.tf_config(worker)
        # At the same address, which is taken, or at another one.
        elsewhere = {"type": "worker", "index": 0}
        other = json.loads(json.dumps(config["cluster"]))
        other["worker"] = {"0": f"127.0.0.1:{free_ports(1)[0]}"}
        seconds = {}
        for name, spec in (("same", config), ("elsewhere", {"cluster": other, "task": elsewhere})):
            begin = time.monotonic()
            second = cluster.spawn(worker, spec, log=cluster.folder / f"{name}.log")
            code = second.wait(timeout=40)
            seconds[name] = round(time.monotonic() - begin, 2)
            if code != 2:
                raise Failed(f"the second process of worker 0 ended with {code}")
        cluster.await_steps_of(worker)
        cluster.expect_alive()
        cluster.stop()
        cluster.await_exits()
        cluster.expect_counted(1)
        return seconds


WRONG = {
    "no chief": {"cluster": {"ps": ["127.0.0.1:1"]}, "task": {"type": "worker", "index": 0}},
    "two chiefs": {"cluster": {"chief": ["127.0.0.1:1", "127.0.0.1:2"], "ps": ["127.0.0.1:3"]},
                   "task": {"type": "chief", "index": 0}},
    "chief and master": {"cluster": {"chief": ["127.0.0.1:1"], "master": ["127.0.0.1:2"]},
                         "task": {"type": "chief", "index": 0}},
    "index out of range": {"cluster": {"chief": ["127.0.0.1:1"], "ps": ["127.0.0.1:3"]},
                           "task": {"type": "ps", "index": 4}},
    "negative index": {"cluster": {"chief": ["127.0.0.1:1"], "ps": ["127.0.0.1:3"]},
                       "task": {"type": "ps", "index": -1}},
    "no task": {"cluster": {"chief": ["127.0.0.1:1"], "ps": ["127.0.0.1:3"]}},
    "list": [],
    "no JSON": '{"cluster": ',
    "no JSON object": "worker 0",
    "address without a port": {"cluster": {"chief": ["127.0.0.1"], "ps": ["127.0.0.1:3"]}, "task": {"type": "chief", "index": 0}},
    "task of no job": {"cluster": {"chief": ["127.0.0.1:1"], "ps": ["127.0.0.1:3"]}, "task": {"type": "worker", "index": 0}},
}


@scenario("T21", ci=True)
def wrong_specs(run):
    """A wrong TF_CONFIG ends every program with code 2 and a sentence, at once."""
    with run.cluster(chief=True) as cluster:
        seconds = []
        for name, config in WRONG.items():
            log = cluster.folder / f"{name}.log"
            begin = time.monotonic()
            code = cluster.spawn(cluster.find("chief"), config, log=log).wait(timeout=20)
            seconds.append(time.monotonic() - begin)
            if code != 2:
                raise Failed(f"{name}: exit code {code}, not 2")
            if "TF_CONFIG" not in log.read_text():
                raise Failed(f"{name}: the message does not name TF_CONFIG: {log.read_text()}")
        return {"specs": len(WRONG), "slowest": round(max(seconds), 2)}


@scenario("T22", ci=True)
def port_in_use(run):
    """The port of a server is taken when it starts: for ever, and for a moment. A name is not known."""
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 5}) as cluster:
        server, worker = cluster.find("ps", 0), cluster.find("worker", 0)
        with socket.socket() as taken:
            taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken.bind(("127.0.0.1", server.port))
            taken.listen()
            code = cluster.spawn(server).wait(timeout=60)
            if code != 2 or str(server.port) not in server.text():
                raise Failed(f"a server whose port is taken ended with {code}: {server.text()}")
            begin = time.monotonic()
            said = len(server.text())
            cluster.start_all(("worker", 0))
            cluster.await_text(server, "trying again", after=said)
        cluster.await_step(1)
        started = time.monotonic() - begin
        config = json.loads(json.dumps(cluster.tf_config(worker)))
        config["cluster"]["ps"] = ["no-such-machine.invalid:2222"]
        worker.process = cluster.spawn(worker, config)
        cluster.await_text(worker, "waiting for ps 0 at no-such-machine.invalid:2222")
        cluster.kill("worker", 0, signal.SIGTERM)
        if worker.process.wait(timeout=20) != 143:
            raise Failed(f"a worker that waits for a name ended with {worker.process.returncode} after SIGTERM")
        cluster.start("worker", 0)
        cluster.await_steps_of(worker)
        cluster.stop()
        cluster.await_exits()
        cluster.expect_counted(1)
        return {"code": code, "started": round(started, 2)}

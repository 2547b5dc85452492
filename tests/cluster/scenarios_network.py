"""Networks that cut, delay, lose and swallow what tasks say; a chief that is killed while it restores."""

import random
import socket
import time

from catalogue import finish, scenario
from scenarios_faults import LEASE, expect_detected
from tasks import Detection, Failed

MISSED = "is not heard of any more"


def expect_steps_end(cluster, figures):
    """Ends a training that has no last step."""
    cluster.stop()
    after = cluster.await_exits()
    counted = cluster.expect_counted(1)
    cluster.expect_monotone()
    cluster.expect_nothing_left()
    return {"step": counted["step"], "last_exit_after_chief": after, **figures}


@scenario("T7", ci=True)
def chief_killed_in_an_epoch(run):
    """The chief is killed between the begin and the commit of an epoch: nobody trains until the next one commits."""
    kills = run.times(1, 10)
    servers = run.random.choice((1, 2))
    flags = {"--max_steps": 300 + 200 * kills, "--save_steps": 25}
    with run.cluster(chief=True, workers=2, ps=servers, flags=flags) as cluster:
        lost = servers - 1  # the one that the chief restores slowly
        proxy = cluster.proxy("chief", 0, ps=lost)
        cluster.start_all()
        chief, workers = cluster.find("chief"), cluster.of("worker")
        for _ in range(kills):
            cluster.await_step(cluster.step() + run.random.randrange(30, 60))
            said = len(chief.text())
            proxy.set(delay=300)
            cluster.kill("ps", lost)
            cluster.start("ps", lost)
            # All servers have begun the epoch when its variables are restored.
            cluster.await_text(chief, "Restoring parameters from", after=said)
            proxy.set(stall=1)
            time.sleep(run.random.uniform(0, 0.5))
            cluster.kill("chief")
            before = [len(task.steps) for task in workers]
            time.sleep(run.random.uniform(1, 2))
            if [len(task.steps) for task in workers] != before:
                raise Failed("a worker trained in an epoch that no chief has committed")
            proxy.set()
            cluster.start("chief")
            for task in workers:
                cluster.await_steps_of(task)
        # A step that was under way at a checkpoint of two servers is counted by one of them only.
        return {**finish(cluster, flags["--max_steps"], 3, lost=0 if servers == 1 else 3 * kills),
                "kills": kills, "servers": servers}


@scenario("T12", ci=True)
def connections_cut(run):
    """Connections of a worker are cut in the middle of messages: no update is lost or made twice."""
    cuts = run.times(20, 1000)
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 5}) as cluster:
        cluster.find("chief").flags["--step_ms"] = 20
        proxy = cluster.proxy("worker", 0)
        cluster.start_all()
        worker = cluster.find("worker", 0)
        cluster.await_steps_of(worker)
        for _ in range(cuts):
            before = proxy.set()["cuts"]
            proxy.tell(f"cut {run.random.choice(('server', 'client'))} {run.random.randrange(4000)}")
            cluster.await_true("the cut", lambda: proxy.tell("")["cuts"] > before, 20)
            cluster.await_steps_of(worker, 1)
        return expect_steps_end(cluster, {"cuts": cuts, "connections": proxy.set()["connections"]})


@scenario("T13", ci=True)
def black_hole(run):
    """What one side says to the other disappears, for less than a lease, then for longer."""
    long = run.times(LEASE + 3, 30)
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 10}) as cluster:
        proxy = cluster.proxy("worker", 0)
        cluster.start_all()
        chief, worker = cluster.find("chief"), cluster.find("worker")
        back, found = [], {}
        ways = ("server", "client") if run.full else (run.random.choice(("server", "client")),)
        for way in ways:
            detected = []
            for seconds in (3, long):
                cluster.await_steps_of(worker)
                cluster.note(f"black hole to the {way}, {seconds} s", worker)
                server = cluster.find("ps")
                watch = Detection(server, len(server.text()), time.monotonic())
                proxy.set(hole=way)
                time.sleep(seconds)
                detected.append(watch.end())
                cluster.await_steps_of(chief)
                proxy.set()
                proxy.tell("reset")  # neither side knows what the other has got
                back.append(cluster.await_steps_of(worker))
            # What the worker says arrives as long as only answers disappear.
            found[way] = detected[1]
            if way == "server":
                expect_detected(detected)
        return expect_steps_end(cluster, {"detected": found, "back_most": round(max(back), 2)})


@scenario("T14", ci=True)
def slow_network(run):
    """50 ms of delay, 5 % of loss and 100 Mbit/s between all that train and the servers."""
    steps = run.times(30, 1000)
    with run.cluster(chief=True, workers=2, ps=2, flags={"--max_steps": steps}) as cluster:
        for task in cluster.trainers():
            for server in range(2):
                cluster.proxy(task.job, task.index, server).set(delay=50, lost=0.05, rate=12500000)
        cluster.start_all()
        begin = time.monotonic()
        cluster.await_step(5)
        at = (time.monotonic(), cluster.step())
        cluster.await_step(steps - 5, limit=600)
        rate = (cluster.step() - at[1]) / (time.monotonic() - at[0])
        figures = finish(cluster, steps, 3)
        cluster.expect_monotone()
        return {**figures, "steps_per_second": round(rate, 1), "started": round(at[0] - begin, 2)}


def send_junk(port, bytes_):
    with socket.socket() as client:
        client.settimeout(2)
        try:
            client.connect(("127.0.0.1", port))
            client.sendall(bytes_)
            client.recv(1000)
        except OSError:
            pass  # refused or cut, as it should be


@scenario("T25", ci=True)
def junk(run):
    """Strangers send junk to all ports: nobody is harmed."""
    messages = run.times(40, 2000)
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 5}) as cluster:
        cluster.start_all()
        cluster.await_step(10)
        ports = [task.port for task in cluster.tasks]
        for _ in range(messages):
            bytes_ = random.Random(run.random.random()).randbytes(run.random.choice((1, 9, 100, 5000)))
            kind = run.random.randrange(4)
            if kind == 1:
                bytes_ = preface + bytes_
            elif kind == 2:  # a frame of HTTP/2 with a length that is not kept, of a random type
                bytes_ = preface + b"\x00\xff\xff" + bytes([run.random.randrange(10)]) + b"\x00\x00\x00\x00\x01" + bytes_
            elif kind == 3:
                bytes_ = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" + bytes_
            send_junk(run.random.choice(ports), bytes_)
        cluster.await_step(cluster.step() + 20)
        cluster.expect_alive()
        return expect_steps_end(cluster, {"messages": messages})

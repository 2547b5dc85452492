"""Processes that are killed, stopped or told to end; checkpoints that are damaged."""

import json
import signal
import statistics
import time

from catalogue import finish, scenario
from tasks import Detection, Failed, free_ports

LEASE = 5  # seconds; RunConfig::cluster.lease_secs


def expect_detected(seconds):
    """Nobody is taken for dead within a lease, and later everybody within a second."""
    within, beyond = seconds
    if within is not None or beyond is None or beyond > LEASE + 1:
        raise Failed(f"tasks were taken for dead after {seconds} s")


@scenario("T4", ci=True)
def worker_killed(run):
    """A worker is killed and started again, several times."""
    kills = run.times(3, 20)
    with run.cluster(chief=True, workers=2, flags={"--max_steps": 200 + 150 * kills}) as cluster:
        cluster.start_all()
        back = []
        for _ in range(kills):
            worker = run.random.randrange(2)
            cluster.await_step(cluster.step() + run.random.randrange(20, 80))
            cluster.kill("worker", worker)
            task = cluster.start("worker", worker)
            back.append(cluster.await_step(1, task=task))
        figures = finish(cluster, 200 + 150 * kills, 3)
        cluster.expect_monotone()
        return {**figures, "kills": kills, "back_median": round(statistics.median(back), 2),
                "back_most": round(max(back), 2)}


@scenario("T5", ci=True)
def server_killed(run):
    """A parameter server is killed and started again: all return to one checkpoint."""
    kills = run.times(3, 20)
    flags = {"--max_steps": 150 + 150 * kills, "--save_steps": 25}
    with run.cluster(chief=True, workers=1, ps=2, flags=flags) as cluster:
        cluster.start_all()
        recovered, lost = [], []
        for _ in range(kills):
            server = run.random.randrange(2)
            cluster.await_step(cluster.step() + run.random.randrange(30, 90))
            before = cluster.step()
            saved = cluster.saved_step()  # an interval ago, or more while the next one is written
            cluster.kill("ps", server)
            killed = time.monotonic()
            cluster.start("ps", server)
            # It goes on when the step is one it had before, or a later one, by another step.
            seen = len(cluster.find("chief").steps)
            cluster.await_true("the next step", lambda: len(cluster.find("chief").steps) > seen + 2, 30)
            recovered.append(time.monotonic() - killed)
            back = min(step for _, step in cluster.find("chief").steps[seen:])
            if back < saved:
                raise Failed(f"it went back to step {back}, behind the checkpoint of step {saved}")
            lost.append(before - back)
        figures = finish(cluster, flags["--max_steps"], 2, lost=2 * kills)
        return {**figures, "kills": kills, "recovered_median": round(statistics.median(recovered), 2),
                "recovered_most": round(max(recovered), 2), "steps_lost_most": max(lost)}


@scenario("T6", ci=True)
def chief_killed(run):
    """The chief is killed and comes back later: the others go on, nothing is lost."""
    kills = run.times(2, 20)
    away = run.times(1, 5)
    # Three tasks take at most 750 steps a second: the training lasts longer than the kills.
    flags = {"--max_steps": (150 + 750 * away) * kills, "--step_ms": 4}
    with run.cluster(chief=True, workers=2, flags=flags) as cluster:
        cluster.start_all()
        done = []
        for _ in range(kills):
            cluster.await_step(cluster.step() + run.random.randrange(60, 120))
            cluster.kill("chief")
            workers = cluster.of("worker")
            before = max(task.step() for task in workers)
            time.sleep(away)
            done.append(max(task.step() for task in workers) - before)
            task = cluster.start("chief")
            cluster.await_step(1, task=task)
        figures = finish(cluster, flags["--max_steps"], 3)
        cluster.expect_monotone()
        if min(done) <= 0:
            raise Failed(f"the workers did not go on without the chief: {done} steps")
        return {**figures, "kills": kills, "steps_without_chief": done}


@scenario("T8", ci=True)
def all_killed(run):
    """All tasks are killed at once and started again."""
    flags = {"--max_steps": 400, "--save_steps": 40}
    with run.cluster(chief=True, workers=2, ps=2, flags=flags) as cluster:
        cluster.start_all()
        cluster.await_step(run.random.randrange(60, 200))
        for task in cluster.tasks:
            cluster.kill(task.job, task.index)
        saved = cluster.checkpoint()["step"]
        cluster.start_all()
        seconds = cluster.await_step(saved + 1, limit=20)
        figures = finish(cluster, 400, 3, lost=3)
        return {**figures, "resumed_at": saved, "first_step": round(seconds, 2)}


@scenario("T10", ci=True)
def worker_paused(run):
    """A worker is stopped for less than its lease, then for longer."""
    long = run.times(8, 20)
    flags = {"--max_steps": 600 + 100 * long, "--step_ms": 10}
    with run.cluster(chief=True, workers=1, flags=flags) as cluster:
        cluster.start_all()
        detected = []
        for seconds in (3, long):
            cluster.await_step(cluster.step() + run.random.randrange(30, 60))
            task = cluster.find("worker", 0)
            seen, server = len(task.steps), cluster.find("ps")
            said, begin = len(server.text()), time.monotonic()
            watch = Detection(server, said, begin)
            cluster.pause("worker", 0, seconds)
            detected.append(watch.end())
            cluster.await_true("a step of the worker that was stopped",
                               lambda: len(task.steps) > seen + 3, 20)
        figures = finish(cluster, flags["--max_steps"], 2)
        cluster.expect_monotone()
        expect_detected(detected)
        return {**figures, "detected": detected[1]}


@scenario("T10-chief", ci=True)
def chief_paused(run):
    """A chief is stopped for longer than its lease: it comes back, or finds a successor and saves nothing any more."""
    figures = {}
    for successor in False, True:
        flags = {"--step_ms": 10, "--save_steps": 30, "--max_steps": 100000}
        with run.cluster(name=f"successor {successor}", chief=True, workers=1, flags=flags) as cluster:
            chief, server = cluster.find("chief"), cluster.find("ps")
            config = {task.name: cluster.tf_config(task) for task in cluster.tasks}
            for each in config.values():
                cluster.tell_only_some(each["cluster"])
            for task in cluster.tasks:
                task.process = cluster.spawn(task, config[task.name])
            cluster.await_step(run.random.randrange(40, 80))
            time.sleep(run.random.uniform(0, 0.3))  # also while it saves
            cluster.note("SIGSTOP", chief)
            stopped, said = time.monotonic(), len(server.text())
            chief.process.send_signal(signal.SIGSTOP)
            cluster.await_text(server, "chief 0 is not heard of any more", limit=20, after=said)
            detected = round(time.monotonic() - stopped, 2)
            if detected > LEASE + 1:
                raise Failed(f"the lease of the chief ended after {detected} s")
            figures[f"detected_{successor}"] = detected
            old = chief.process
            if successor:
                elsewhere = json.loads(json.dumps(config[chief.name]))
                elsewhere["cluster"]["chief"] = [f"127.0.0.1:{free_ports(1)[0]}"]
                log = cluster.folder / "successor.log"
                chief.process = cluster.spawn(chief, elsewhere, log=log)
                cluster.await_true("steps of the successor", lambda: chief.step() > 0, 20)
                saved = cluster.saved_step()
                cluster.await_true("a checkpoint of the successor", lambda: cluster.saved_step() > saved, 20)
            saves = chief.text().count("Saving checkpoints for")
            old.send_signal(signal.SIGCONT)
            if successor:
                if old.wait(timeout=40) != 2:
                    raise Failed(f"the chief that was stopped ended with {old.returncode}, not with 2: its task is taken")
                if chief.text().count("Saving checkpoints for") > saves + 1:
                    raise Failed("the chief that was stopped has gone on saving")
            else:
                cluster.await_steps_of(chief)
            step = cluster.saved_step()
            cluster.await_true("a checkpoint", lambda: cluster.saved_step() > step, 20)
            cluster.stop()
            cluster.await_exits()
            cluster.expect_counted(step)
            cluster.expect_monotone()
    return figures


@scenario("T19", ci=True)
def damaged_checkpoint(run):
    """The newest checkpoints are damaged when all are started again: an earlier one is taken."""
    with run.cluster(chief=True, workers=1, flags={"--max_steps": 1000, "--save_steps": 30}) as cluster:
        cluster.start_all()
        cluster.await_step(run.random.randrange(130, 180))
        for task in cluster.tasks:
            cluster.kill(task.job, task.index)
        steps = sorted(int(path.stem.split("-")[1]) for path in cluster.model_dir.glob("model.ckpt-*.index"))
        data = [cluster.model_dir / f"model.ckpt-{step}.data-00000-of-00001" for step in steps]
        flipped = bytearray(data[-1].read_bytes())
        flipped[run.random.randrange(len(flipped) - 400)] ^= 1 << run.random.randrange(8)
        data[-1].write_bytes(bytes(flipped))
        data[-2].write_bytes(data[-2].read_bytes()[: run.random.randrange(data[-2].stat().st_size)])
        cluster.start_all()
        cluster.await_true("restoring the last whole checkpoint",
                           lambda: f"Restoring parameters from {cluster.model_dir}/model.ckpt-{steps[-3]}"
                           in cluster.find("chief").text(), 20)
        return {**finish(cluster, 1000, 2), "steps": steps, "resumed_at": steps[-3]}


@scenario("T18-term", ci=True)
def terminated(run):
    """SIGTERM of all: the chief saves, everybody ends with 143, and the training can go on."""
    with run.cluster(chief=True, workers=1, flags={"--max_steps": 100000, "--save_steps": 100000}) as cluster:
        cluster.start_all()
        cluster.await_step(80)
        before = cluster.step()
        for task in cluster.trainers():
            cluster.kill(task.job, task.index, signal.SIGTERM)
        cluster.await_exits(expected=143, tasks=cluster.trainers())
        for task in cluster.of("ps"):
            cluster.kill(task.job, task.index, signal.SIGTERM)
        cluster.await_exits(expected=143, tasks=cluster.of("ps"))
        counted = cluster.expect_counted(before)
        return {"step": counted["step"]}


@scenario("T9", ci=True)
def chaos(run):
    """A random task is killed or stopped every few seconds; the training reaches its end."""
    seconds = run.times(8, 600)
    with run.cluster(chief=True, workers=2, ps=2, flags={"--save_steps": 25, "--step_ms": 5}) as cluster:
        cluster.start_all()
        cluster.await_step(20)
        begin, first = time.monotonic(), cluster.step()
        time.sleep(run.times(2, 20))
        rate = (cluster.step() - first) / (time.monotonic() - begin)
        begin, first = time.monotonic(), cluster.step()
        faults = 0
        while time.monotonic() < begin + seconds:
            time.sleep(run.random.uniform(0.5, 2) if not run.full else run.random.uniform(5, 15))
            task = run.random.choice(cluster.tasks)
            cluster.expect_alive()
            if run.random.random() < 0.25:
                cluster.pause(task.job, task.index, run.random.uniform(0.5, 2))
            else:
                cluster.kill(task.job, task.index)
                cluster.start(task.job, task.index)
            faults += 1
        for task in cluster.trainers():
            cluster.await_true(f"steps of {task.name}", lambda task=task: task.step() > 0, 40)
        useful = (cluster.saved_step() - first) / (time.monotonic() - begin)
        cluster.stop()
        cluster.await_exits()
        counted = cluster.expect_counted(first, lost=3 * (faults + 1))
        cluster.expect_nothing_left()
        if run.full and useful < 0.6 * rate:
            raise Failed(f"{useful:.1f} useful steps a second, {rate:.1f} without faults")
        return {"step": counted["step"], "faults": faults, "availability": round(useful / rate, 2)}

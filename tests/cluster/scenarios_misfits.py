"""Tasks that do not fit: other models, other certificates, other clocks; and a long run."""

import glob
import os
import pathlib
import subprocess
import time

from catalogue import Skipped, finish, scenario
from scenarios_network import MISSED, expect_steps_end
from tasks import Failed


def expect_refused(cluster, task, code, text, limit=30):
    """The task ends with that code and says why; the others go on."""
    begin = time.monotonic()
    cluster.await_true(f"the end of {task.name}", lambda: task.process.poll() is not None, limit)
    if task.process.returncode != code or text not in task.text():
        raise Failed(f"{task.name} ended with {task.process.returncode}, not with {code} and \"{text}\"")
    task.process = None
    return round(time.monotonic() - begin, 2)


@scenario("T23", ci=True)
def other_models(run):
    """Tasks with another model or optimizer are refused, with the name of a variable; the others go on."""
    with run.cluster(chief=True, workers=3, flags={"--step_ms": 5}) as cluster:
        cluster.find("worker", 1).flags = {"--width": 17}
        cluster.find("worker", 2).flags = {"--momentum": None}
        cluster.start_all()
        expect_refused(cluster, cluster.find("worker", 1), 3, "variable a is float [16] there and float [17] here")
        expect_refused(cluster, cluster.find("worker", 2), 3, "variable a/Momentum is here and not there")
        cluster.await_step(cluster.step() + 20)
        # A chief that is started again with another model.
        chief = cluster.find("chief")
        cluster.kill("chief")
        chief.flags["--width"] = 17
        cluster.start("chief")
        expect_refused(cluster, chief, 3, "variable a is float [16] there and float [17] here")
        del chief.flags["--width"]
        cluster.start("chief")
        cluster.await_step(1, task=chief)
        cluster.tasks = [task for task in cluster.tasks if task.process]
        return expect_steps_end(cluster, {})


@scenario("T24", ci=True)
def certificates(run):
    """Mutual TLS; tasks with a wrong CA, a certificate of another CA, one that has expired, or none are refused."""
    with run.cluster(chief=True, workers=6, flags={"--step_ms": 5}) as cluster:
        subprocess.run([pathlib.Path(cluster.program).parent / "make-certificates", str(cluster.folder)], check=True)
        pem = {name: str(cluster.folder / name) for name in
               ("ca.pem", "other_ca.pem", "task.pem", "task.key", "expired.pem", "expired.key", "stranger.pem", "stranger.key")}

        def show(name, ca="ca"):
            return {"SEXTANT_TLS_CA": pem[f"{ca}.pem"], "SEXTANT_TLS_CERT": pem[f"{name}.pem"],
                    "SEXTANT_TLS_KEY": pem[f"{name}.key"], "SEXTANT_TLS_CLIENTS": "1"}

        wrong_token = cluster.folder / "wrong_token"
        wrong_token.write_text("wrong")
        strangers = {1: show("task", ca="other_ca"), 2: show("stranger"), 3: show("expired"), 4: {},
                     5: {**show("task"), "SEXTANT_TOKEN_FILE": str(wrong_token)}}
        for task in cluster.tasks:
            task.environment = show("task")
        for index, environment in strangers.items():
            cluster.find("worker", index).environment = environment
        cluster.start_all(*(("worker", index) for index in strangers))
        cluster.await_steps_of(cluster.find("worker", 0))
        seconds = {}
        for index in strangers:
            task = cluster.start("worker", index)
            seconds[index] = expect_refused(cluster, task, 2, "")
        cluster.await_steps_of(cluster.find("worker", 0))
        cluster.expect_alive()
        secrets = [cluster.token.read_text(), "wrong\n"] + [
            line for name in ("task.key", "expired.key", "stranger.key") for line in (cluster.folder / name).read_text().splitlines()[1:-1]]
        for task in cluster.tasks:
            if any(secret in task.text() for secret in secrets):
                raise Failed(f"{task.name} has printed a secret")
        why = {index: cluster.find("worker", index).text().strip().splitlines()[-1][-200:] for index in strangers}
        cluster.tasks = [task for task in cluster.tasks if task.process]
        return expect_steps_end(cluster, {"seconds": seconds, "why": why})


@scenario("T30", ci=True)
def clock_jumps(run):
    """The clock of one task jumps by an hour, forth and back: no lease ends."""
    libraries = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not libraries:
        raise Skipped("Debian's package faketime is not installed")
    with run.cluster(chief=True, workers=1, flags={"--step_ms": 10, "--save_steps": 50, "--lease": 60}) as cluster:
        clock = cluster.folder / "clock"
        clock.write_text("+0\n")
        task = run.random.choice(cluster.tasks)
        task.environment = {"LD_PRELOAD": libraries[0], "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
                            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}
        cluster.start_all()
        cluster.await_step(30)
        for hours in run.random.sample((1, -1, 0), 3):
            cluster.note(f"clock {hours:+} h", task)
            clock.with_suffix(".new").write_text(f"{hours * 3600:+}\n")
            os.replace(clock.with_suffix(".new"), clock)
            end = time.monotonic() + run.times(2, 15)
            while time.monotonic() < end:
                for each in cluster.trainers():
                    cluster.await_steps_of(each)
        if MISSED in cluster.find("ps").text():
            raise Failed("a lease has ended")
        return expect_steps_end(cluster, {"task": task.name})


def resources_of(process):
    """Kilobytes of memory and open files of a process."""
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return memory, len(os.listdir(f"/proc/{process.pid}/fd"))


@scenario("T26")
def long_run(run):
    """An hour of synchronous training: neither memory nor open files grow."""
    seconds = run.times(30, 3600)
    with run.cluster(chief=True, workers=1, flags={"--sync": 2, "--save_steps": 500}) as cluster:
        cluster.start_all()
        time.sleep(seconds / 4)
        before = {task.name: resources_of(task.process) for task in cluster.tasks}
        time.sleep(seconds * 3 / 4)
        cluster.expect_alive()
        after = {task.name: resources_of(task.process) for task in cluster.tasks}
        growth = {name: [after[name][0] - before[name][0], after[name][1] - before[name][1]] for name in before}
        if any(memory > 1024 or files > 3 for memory, files in growth.values()):
            raise Failed(f"kilobytes and open files have grown: {growth}")
        return expect_steps_end(cluster, {"growth": growth})

"""Disks that are full, checkpoints that are damaged or deleted, evaluators that read them."""

import os
import pathlib
import shutil
import subprocess
import time

from catalogue import Skipped, finish, scenario
from tasks import Failed


class SmallDisk:
    """A file system of a few hundred kilobytes that the tasks given share, in a mount namespace of its own."""

    def __init__(self, folder, kilobytes):
        folder.mkdir(parents=True, exist_ok=True)
        root = os.geteuid() == 0
        script = 'mount -t tmpfs -o size="$1"k none "$0" && echo ready && exec sleep infinity'
        self.process = subprocess.Popen(["unshare", "-m" if root else "-rm", "sh", "-c", script, str(folder), str(kilobytes)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise Skipped("this machine lets nobody mount a file system: " + self.process.stderr.read())
        self.prefix = ["nsenter", "-t", str(self.process.pid), "-m", *([] if root else ["-U", "--preserve-credentials"])]
        self.folder = pathlib.Path(f"/proc/{self.process.pid}/root") / folder.relative_to("/")

    def fill(self):
        """Leaves no room at all."""
        with open(self.folder / "filling", "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass

    def free(self):
        (self.folder / "filling").unlink()

    def close(self):
        self.process.kill()
        self.process.wait()


@scenario("T18", ci=True)
def disk_full(run):
    """The disk is full when checkpoints are saved, then has room again: the training goes on all the time."""
    with run.cluster(chief=True, workers=1, flags={"--save_steps": 20, "--step_ms": 5}) as cluster:
        disk = SmallDisk(cluster.model_dir, 512)
        try:
            cluster.saved_in = disk.folder
            cluster.prefix = disk.prefix
            for task in cluster.tasks:
                task.prefix = disk.prefix
            cluster.start_all()
            chief = cluster.find("chief")
            cluster.await_step(run.random.randrange(50, 90))
            disk.fill()
            cluster.note("disk full", chief)
            said = len(chief.text())
            cluster.await_text(chief, "no checkpoint is saved", after=said)
            cluster.await_step(cluster.step() + 50)  # it goes on
            saved = cluster.saved_step()
            counted = cluster.expect_counted(saved, saved)
            disk.free()
            cluster.await_true("the next checkpoint", lambda: cluster.saved_step() > saved, 20)
            cluster.stop()
            cluster.await_exits()
            cluster.expect_monotone()
            cluster.expect_nothing_left()
            last = cluster.expect_counted(saved + 1)
            return {"step": last["step"], "saved_while_full": counted["step"]}
        finally:
            disk.close()


@scenario("T19-bits", ci=True)
def flipped_bits(run):
    """Bits of a checkpoint are flipped, at many places: what is read is right, or an error."""
    flips = run.times(12, 1000)
    with run.cluster(chief=True, flags={"--max_steps": 40}) as cluster:
        cluster.start_all()
        finish(cluster, 40, 1)
        whole = cluster.checkpoint()
        copy = cluster.folder / "copy"
        shutil.copytree(cluster.model_dir, copy)
        cluster.model_dir = copy
        files = [copy / f"model.ckpt-{whole['step']}{suffix}" for suffix in (".index", ".data-00000-of-00001")]
        found = 0
        for _ in range(flips):
            path = run.random.choice(files)
            before = path.read_bytes()
            at, bit = run.random.randrange(len(before)), run.random.randrange(8)
            path.write_bytes(before[:at] + bytes([before[at] ^ 1 << bit]) + before[at + 1:])
            try:
                counted = cluster.checkpoint()
                if counted != whole:
                    raise Failed(f"bit {bit} of byte {at} of {path.name} was not noticed: {counted}")
            except subprocess.CalledProcessError as error:
                if error.returncode < 0 and error.returncode != -6:  # an Error that nobody catches aborts
                    raise Failed(f"bit {bit} of byte {at} of {path.name}: signal {-error.returncode}") from None
                found += 1
            path.write_bytes(before)
        return {"flips": flips, "errors": found}


@scenario("T19-files", ci=True)
def deleted_files(run):
    """Files of the newest checkpoint are deleted, or the state file is: the newest whole one is taken."""
    with run.cluster(chief=True, workers=1, flags={"--max_steps": 400, "--save_steps": 30}) as cluster:
        cluster.start_all()
        cluster.await_step(run.random.randrange(100, 150))
        for task in cluster.tasks:
            cluster.kill(task.job, task.index)
        steps = sorted(int(path.stem.split("-")[1]) for path in cluster.model_dir.glob("model.ckpt-*.index"))
        damage = run.random.choice(("index", "data", "state", "state cut"))
        if not damage.startswith("state"):  # then the files are asked, not the list
            steps = [step for step in steps if step <= cluster.saved_step()]
        newest = cluster.model_dir / f"model.ckpt-{steps[-1]}"
        whole = steps[-2]
        if damage == "index":
            newest.with_name(newest.name + ".index").unlink()
        elif damage == "data":
            newest.with_name(newest.name + ".data-00000-of-00001").unlink()
        elif damage == "state":
            (cluster.model_dir / "checkpoint").unlink()
            whole = steps[-1]
        else:
            state = cluster.model_dir / "checkpoint"
            state.write_text(state.read_text()[:run.random.randrange(10, 30)])
            whole = steps[-1]
        cluster.start_all()
        chief = cluster.find("chief")
        cluster.await_text(chief, f"Restoring parameters from {cluster.model_dir}/model.ckpt-{whole}\n")
        return {**finish(cluster, 400, 2), "damage": damage, "steps": steps, "resumed_at": whole}


@scenario("T29", ci=True)
def evaluators(run):
    """Two evaluators, one of them killed, while checkpoints are deleted: each step is evaluated once."""
    flags = {"--max_steps": run.times(300, 2000), "--save_steps": 20, "--keep": 2, "--eval_ms": 60, "--step_ms": 10}
    with run.cluster(chief=True, workers=1, evaluators=2, flags=flags) as cluster:
        cluster.start_all()
        for _ in range(run.times(2, 10)):
            seen = len(cluster.evaluated_steps())
            cluster.await_true("an evaluation", lambda: len(cluster.evaluated_steps()) > seen, 20)
            time.sleep(run.random.uniform(0, 0.2))
            evaluator = run.random.randrange(2)
            cluster.kill("evaluator", evaluator)
            cluster.start("evaluator", evaluator)
        figures = finish(cluster, flags["--max_steps"], 2)
        evaluated = cluster.evaluated_steps()
        if len(evaluated) != len(set(evaluated)):
            raise Failed(f"steps were evaluated twice: {evaluated}")
        if evaluated[-1:] != [figures["step"]]:
            raise Failed(f"evaluated were {evaluated}, the last step is {figures['step']}")
        return {**figures, "evaluated": len(evaluated)}

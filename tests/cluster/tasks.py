"""Tasks: the processes of a cluster on this machine, with faults and oracles.

    with Cluster(folder, program, workers=2, ps=1, chief=True, flags={"--max_steps": 300}) as cluster:
        cluster.start_all()
        cluster.await_step(100)
        cluster.kill("worker", 1)
        cluster.start("worker", 1)
        cluster.await_exits()

Every wait has a limit, after which the scenario has failed: it hung. Leaving the block ends what
still runs.
"""

import contextlib
import json
import os
import pathlib
import secrets
import signal
import socket
import subprocess
import threading
import time


class Failed(Exception):
    """What a scenario expects and does not find."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Task:
    def __init__(self, job, index, port, folder):
        self.job, self.index, self.port = job, index, port
        self.name = f"{job}-{index}"
        self.log = folder / f"{self.name}.log"
        self.progress = folder / f"{self.name}.step"
        self.process = None
        self.flags = {}  # beside those of all
        self.environment = {}  # beside that of all
        self.prefix = []  # of its command
        self.proxies = {}  # in front of parameter servers, by index
        self.steps = []  # (time, step), as watched

    def step(self):
        """The global step that the running process saw last; -1: none yet."""
        try:
            pid, step = self.progress.read_text().split()
        except (FileNotFoundError, ValueError):
            return -1
        running = self.process is not None and int(pid) == self.process.pid
        return int(step) if running else -1

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Detection:
    """When a server says that a task is not heard of any more: seconds since `begin`; None: it has not."""

    def __init__(self, server, said, begin):
        self.server, self.said, self.begin = server, said, begin
        self.seconds, self.ended = None, threading.Event()
        self.thread = threading.Thread(target=self._watch, daemon=True)
        self.thread.start()

    def _watch(self):
        while not self.ended.wait(0.02):
            if "is not heard of any more" in self.server.text()[self.said:]:
                self.seconds = round(time.monotonic() - self.begin, 2)
                return

    def end(self):
        self.ended.set()
        self.thread.join()
        return self.seconds


class Proxy:
    """fault_proxy_command.cc in front of a port."""

    def __init__(self, programs, port):
        self.process = subprocess.Popen([programs / "fault-proxy", str(port)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.port = int(self.process.stdout.readline())

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def set(self, **faults):
        return self.tell(" ".join(["set", *(f"{name}={value}" for name, value in faults.items())]))

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Cluster:
    def __init__(self, folder, program, *, workers=0, ps=1, evaluators=0, chief=False, master=False,
                 flags=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.program = str(pathlib.Path(program).resolve())
        self.model_dir = self.folder / "model"
        self.flags = dict(flags or {})
        self.faults = []  # what was done, for the report
        self.spawned = []
        self.proxies = []
        self.prefix = []  # of commands that look at checkpoints
        self.saved_in = self.model_dir  # where this process finds them
        names = [("chief", i) for i in range(int(chief))] + [("master", i) for i in range(int(master))]
        names += [("worker", i) for i in range(workers)] + [("ps", i) for i in range(ps)]
        names += [("evaluator", i) for i in range(evaluators)]
        ports = free_ports(len(names))
        self.tasks = [Task(job, i, port, self.folder) for (job, i), port in zip(names, ports)]
        self.stop_file = self.folder / "stop"
        for task in self.of("chief"):
            task.flags["--stop_file"] = self.stop_file
        self.token = self.folder / "token"
        self.token.write_text(secrets.token_hex(16))
        self.token.chmod(0o600)
        self.begin = time.monotonic()
        self.watching = True
        self.watcher = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self):
        self.watcher.start()
        return self

    def __exit__(self, *_):
        self.watching = False
        self.watcher.join()
        for process in self.spawned:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()
        for proxy in self.proxies:
            proxy.close()

    def _watch(self):
        while self.watching:
            for task in self.tasks:
                step = task.step()
                if step >= 0 and (not task.steps or task.steps[-1][1] != step):
                    task.steps.append((time.monotonic() - self.begin, step))
            time.sleep(0.01)

    # ---- tasks

    def find(self, job, index=0):
        return next(task for task in self.tasks if (task.job, task.index) == (job, index))

    def of(self, *jobs):
        return [task for task in self.tasks if task.job in jobs]

    def trainers(self):
        return self.of("chief", "master", "worker")

    def tf_config(self, task):
        cluster = {}
        for each in self.tasks:
            if each.job != "evaluator":
                cluster.setdefault(each.job, []).append(f"127.0.0.1:{each.port}")
        if task.proxies:
            for index, proxy in task.proxies.items():
                cluster["ps"][index] = f"127.0.0.1:{proxy.port}"
            self.tell_only_some(cluster)
        return {"cluster": cluster, "task": {"type": task.job, "index": task.index}}

    @staticmethod
    def tell_only_some(cluster):
        """A cluster in which tasks come and go: then it may differ from that of the others."""
        cluster["worker"] = {str(index): address for index, address in enumerate(cluster.get("worker", []))}

    def proxy(self, job, index=0, ps=0):
        """What the task says to a parameter server goes through a proxy from now on."""
        self.proxies.append(Proxy(pathlib.Path(self.program).parent, self.find("ps", ps).port))
        self.find(job, index).proxies[ps] = self.proxies[-1]
        return self.proxies[-1]

    def config_text(self, task, tf_config):
        config = self.tf_config(task) if tf_config is None else tf_config
        return config if isinstance(config, str) else json.dumps(config)

    def spawn(self, task, tf_config=None, log=None):
        """A process of the task; its output goes behind what is in the log."""
        flags = {"--model_dir": self.model_dir, "--progress": task.progress, **self.flags, **task.flags}
        arguments = [*task.prefix, self.program]
        for name, value in flags.items():
            arguments += [name] if value is None else [name, str(value)]
        environment = {**os.environ, "TF_CONFIG": self.config_text(task, tf_config),
                       "SEXTANT_TOKEN_FILE": str(self.token), "SEXTANT_THREADS": "1", **task.environment}
        with open(log or task.log, "ab") as out:
            process = subprocess.Popen(arguments, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        self.spawned.append(process)
        return process

    def start(self, job, index=0):
        task = self.find(job, index)
        task.process = self.spawn(task)
        return task

    def stop(self):
        """The chief ends the training, with its next step."""
        self.stop_file.touch()

    def start_all(self, *but):
        for task in self.tasks:
            if (task.job, task.index) not in but:
                self.start(task.job, task.index)

    # ---- faults

    def note(self, fault, task):
        self.faults.append([round(time.monotonic() - self.begin, 2), self.step(), fault, task.name])

    def kill(self, job, index=0, number=signal.SIGKILL):
        task = self.find(job, index)
        self.note(signal.Signals(number).name, task)
        task.process.send_signal(number)
        if number == signal.SIGKILL:
            task.process.wait()
        return task

    def pause(self, job, index, seconds):
        task = self.find(job, index)
        self.note(f"SIGSTOP {seconds} s", task)
        task.process.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        task.process.send_signal(signal.SIGCONT)

    @contextlib.contextmanager
    def slowed(self, job, index, share):
        """Inside, the task runs only in this share of every tenth of a second."""
        task = self.find(job, index)
        self.note(f"runs {share:.0%} of the time", task)
        ended = threading.Event()

        def slow():
            while not ended.is_set() and task.process.poll() is None:
                task.process.send_signal(signal.SIGSTOP)
                ended.wait(0.1 * (1 - share))
                task.process.send_signal(signal.SIGCONT)
                ended.wait(0.1 * share)

        thread = threading.Thread(target=slow, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    # ---- waits

    def step(self):
        return max((task.step() for task in self.trainers()), default=-1)

    def saved_step(self):
        """The step of the newest checkpoint that is in place."""
        state = (self.saved_in / "checkpoint").read_text()
        return int(state.split('"')[1].rsplit("-", 1)[1])

    def await_true(self, what, condition, limit):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.01)
        raise Failed(f"{what}: not within {limit} s")

    def await_step(self, step, limit=40, task=None):
        """The seconds until the cluster, or the task, was that far."""
        begin = time.monotonic()
        name = task.name if task else "the cluster"

        def there():
            self.expect_alive()
            return (task.step() if task else self.step()) >= step

        self.await_true(f"step {step} of {name}", there, limit)
        return time.monotonic() - begin

    def await_text(self, task, text, limit=30, after=0):
        """The seconds until the task has said that, behind so many characters of its log."""
        begin = time.monotonic()

        def said():
            self.expect_alive()
            return text in task.text()[after:]

        self.await_true(f"{task.name}: {text}", said, limit)
        return time.monotonic() - begin

    def await_steps_of(self, task, more=3, limit=30):
        """The seconds until the task has made some more steps."""
        seen, begin = len(task.steps), time.monotonic()
        self.await_true(f"steps of {task.name}", lambda: len(task.steps) >= seen + more, limit)
        return time.monotonic() - begin

    def expect_alive(self):
        """Nobody has ended with an error unasked."""
        for task in self.tasks:
            code = task.process.poll() if task.process is not None else None
            if code not in (None, 0, -signal.SIGKILL):
                raise Failed(f"{task.name} has ended with {code}")

    def await_exits(self, limit=40, expected=0, tasks=None):
        """How long after the chief the last of them ended."""
        tasks = self.tasks if tasks is None else tasks
        ends = {}

        def ended():
            for task in tasks:
                if task.name not in ends and task.process.poll() is not None:
                    ends[task.name] = time.monotonic()
            return len(ends) == len(tasks)

        try:
            self.await_true("the end of all tasks", ended, limit)
        except Failed as failed:
            left = [task.name for task in tasks if task.name not in ends]
            raise Failed(f"{failed}; {', '.join(left)} still run") from None
        for task in tasks:
            if task.process.returncode != expected:
                raise Failed(f"{task.name} ended with {task.process.returncode}, not {expected}")
        chief = next((ends[t.name] for t in tasks if t.job in ("chief", "master")), min(ends.values()))
        return round(max(ends.values()) - chief, 2)

    # ---- oracles

    def checkpoint(self):
        """What the newest checkpoint counted: step, least and most of its variables."""
        command = [*self.prefix, self.program, "--model_dir", str(self.model_dir), "--show"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
        return json.loads(shown.stdout)

    def expect_counted(self, at_least, at_most=None, lost=0):
        """Every update was applied once on every server. With several servers `lost` steps may have
        been done on some of them only, by a worker that was killed or when a checkpoint was taken."""
        counted = self.checkpoint()
        step = counted["step"]
        if step < at_least or (at_most is not None and step > at_most):
            raise Failed(f"the last checkpoint is of step {step}, not in [{at_least}, {at_most}]")
        if abs(counted["least"] - step) > lost or abs(counted["most"] - step) > lost:
            raise Failed(f"the updates do not match the steps: {counted}, {lost} may be lost")
        return counted

    def status(self, job="ps", index=0):
        """What `sextant status` says of a task; None when it is gone."""
        program = pathlib.Path(self.program).parent / "sextant"
        shown = subprocess.run([str(program), "status", f"grpc://127.0.0.1:{self.find(job, index).port}", "--json"],
                               env=dict(os.environ, SEXTANT_TOKEN_FILE=str(self.token)), capture_output=True,
                               text=True, timeout=30)
        return json.loads(shown.stdout) if shown.returncode == 0 else None

    def expect_monotone(self):
        for task in self.trainers():
            for (_, before), (at, after) in zip(task.steps, task.steps[1:]):
                if after < before:
                    raise Failed(f"{task.name} went back from step {before} to {after} at {at:.2f} s")

    def expect_nothing_left(self):
        for task in self.tasks:
            if task.process is not None and task.process.poll() is None:
                raise Failed(f"{task.name} still runs")
            if task.job != "evaluator" and not port_is_free(task.port):
                raise Failed(f"the port of {task.name} is held")

    def evaluated_steps(self):
        steps = []
        for path in sorted(self.model_dir.glob("sextant_ledger*.json")):
            steps += [each["step"] for each in json.loads(path.read_text())["evaluations"]]
        return sorted(steps)

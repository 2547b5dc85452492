"""Two parameter servers and two workers on this machine: the loss falls, calls are few, late workers join at once."""
import json
import os
import re
import signal
import subprocess
import time

from program_testing import Programs, check, free_ports

programs = Programs()
STEPS = 200


class Cluster:
    def __init__(self):
        ports = free_ports(4)
        self.ps = ["127.0.0.1:%d" % port for port in ports[:2]]
        self.workers = ["127.0.0.1:%d" % port for port in ports[2:]]
        self.processes = []

    def start(self, job, index, *arguments):
        process = subprocess.Popen(
            [programs.bin / "mnist_replica", "--ps_hosts", *self.ps, "--worker_hosts", *self.workers, "--job_name=" + job,
             "--task_index=%d" % index, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "SEXTANT_LOG_LEVEL": "info"})
        self.processes.append(process)
        return process

    def finish(self, process):
        out, err = process.communicate(timeout=200)
        check(process.returncode == 0, "a task ended with %d: %s" % (process.returncode, err))
        self.processes.remove(process)
        return out

    def calls(self, address):
        return json.loads(programs.run("sextant", "status", "grpc://" + address, "--json"))["calls"]

    def stop(self):
        for process in self.processes:
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            process.communicate(timeout=60)


def entropies(text):
    before, after = re.search(r"cross entropy = ([\d.]+) before, ([\d.]+) after", text).groups()
    return float(before), float(after)


cluster = Cluster()
try:
    for index in range(2):
        cluster.start("ps", index)
    workers = [cluster.start("worker", index, "--train_steps=%d" % STEPS) for index in range(2)]
    outputs = [cluster.finish(worker) for worker in workers]
    # A worker that starts a little later evaluates a net that the other has trained already.
    measured = [entropies(output) for output in outputs]
    before = max(first for first, _ in measured)
    for _, after in measured:
        check(after < before / 3, "the cross entropy falls below a third: %g, %g" % (before, after))
    # Beside the steps there are the initialisation, the waiting for it and the two evaluations.
    for index, per_step in ((0, 3), (1, 2)):
        calls = cluster.calls(cluster.ps[index])
        check(calls <= per_step * (STEPS + 2) + 60, "%d calls of ps %d in %d steps" % (calls, index, STEPS))

    late = cluster.start("worker", 1, "--train_steps=%d" % (STEPS + 30))
    while "Started server" not in late.stderr.readline():
        pass
    start = time.monotonic()
    while "training step 1 done" not in late.stdout.readline():
        pass
    check(time.monotonic() - start <= 2, "a late worker trains after %.1f s" % (time.monotonic() - start))
    cluster.finish(late)
finally:
    cluster.stop()

in_graph = Cluster()
try:
    for index in range(2):
        in_graph.start("ps", index)
        in_graph.start("worker", index, "--in_graph")
    client = in_graph.start("client", 0, "--target=grpc://" + in_graph.workers[0], "--train_steps=60")
    before, after = entropies(in_graph.finish(client))
    check(after < before / 3, "in-graph, the cross entropy falls below a third: %g, %g" % (before, after))
finally:
    in_graph.stop()

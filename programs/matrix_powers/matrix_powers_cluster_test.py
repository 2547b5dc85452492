"""matrix_powers on two tasks of a cluster: a power on each, the sum on the task that is asked."""
import os
import re
import signal
import subprocess

from program_testing import Programs, check, free_ports, near

programs = Programs()
ports = free_ports(2)
spec = "worker|127.0.0.1:%d;127.0.0.1:%d" % tuple(ports)
target = "--target=grpc://127.0.0.1:%d" % ports[0]
logs = [programs.path("task%d.log" % task) for task in range(2)]
servers = []
try:
    for task, log in enumerate(logs):
        servers.append(subprocess.Popen(
            [programs.bin / "sextant", "server", "--cluster_spec", spec, "--job_name=worker", "--task_id=%d" % task],
            stdout=subprocess.DEVNULL, stderr=log.open("w"), env={**os.environ, "SEXTANT_LOG_LEVEL": "info"}))
    # A client waits until the tasks are there.
    for seed in (1, 2):
        out = programs.run("matrix_powers", target, "--size=100", "--power=4", "--seed=%d" % seed, "--log_device_placement")
        check(re.match(r"Multi node computation time: \d:\d\d:\d\d\.\d{6}\n", out), "the time is printed: " + out)
        # Twice the mean of a power, ½ (N/2)ⁿ.
        near(float(re.search(r"mean of the sum ([0-9.e+]+)", out)[1]), 50 ** 4, 0.02 * 50 ** 4, "the mean of the sum")
    check(programs.run("matrix_powers", target).splitlines()[1] == "mean of the sum " + re.search(
        r"mean of the sum (\S+)", programs.run("matrix_powers", target, "--size=100", "--power=4"))[1],
        "100 rows and 4 products are the lab's")
    placed = logs[0].read_text()
    for node, task in (("MatMul", 0), ("MatMul_4", 1), ("AddN", 0)):
        check(re.search(r"^.*\b%s: \(\w+\): /job:worker/replica:0/task:%d/" % (node, task), placed, re.M),
              "task 0 logs that %s is on task %d: %s" % (node, task, placed))
    servers[1].send_signal(signal.SIGTERM)
    check(servers[1].wait(60) == 143, "the task ends with the signal")
    refused = programs.refusal("matrix_powers", target)
    check("/job:worker/task:1 is gone" in refused or "/job:worker/replica:0/task:1" in refused, "the lost task is named: " + refused)
finally:
    for server in servers:
        server.terminate()
        server.wait(60)
check("localhost" in programs.refusal("matrix_powers", "--target=localhost"), "a target of no known kind")

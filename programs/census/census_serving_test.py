"""census, served: the answer over REST is that of the local prediction."""
import http.client
import json
import pathlib
import re
import signal
import socket
import subprocess

from program_testing import Programs, check, skip

HERE = pathlib.Path(__file__).parent
programs = Programs()
asked = programs.process("sextant", "serve", "--help")
if asked.returncode != 0:
    skip("this build serves no models: " + (asked.stderr.splitlines() or ["no `sextant serve`"])[0])

programs.run("sextant", "data", "census", "--synthetic", "--train", 400, "--test", 100, "--out", "data")
programs.run("census_task", "--train-files", "data/adult.data.csv", "--eval-files", "data/adult.test.csv", "--train-steps", 20,
             "--eval-steps", 2, "--seed", 1, "--job-dir", "job")
local = json.loads(programs.run("sextant", "predict", "--model-dir", programs.path("job/export/census"), "--output", "json",
                                "--json-instances", HERE / "test.json"))

path = str(programs.path("rest.sock"))
server = subprocess.Popen([programs.bin / "sextant", "serve", "--port", "0", "--rest_api_socket", path, "--model_name", "census",
                           "--model_base_path", programs.path("job/export/census")], stderr=subprocess.PIPE, text=True)
try:
    log = []
    for line in server.stderr:
        log.append(line)
        if re.search(r"\bready$", line):
            break
    check(log and log[-1].rstrip().endswith("ready"), "the server is ready: " + "".join(log))
    connection = http.client.HTTPConnection("localhost")
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(path)
    request = {"signature_name": "predict", "instances": [json.loads((HERE / "test.json").read_text())]}
    connection.request("POST", "/v1/models/census:predict", json.dumps(request))
    answer = connection.getresponse()
    body = answer.read().decode()
    check(answer.status == 200, body)
    served = json.loads(body)["predictions"][0]
    check(set(served) == set(local), "the same outputs: %s %s" % (served, local))
    for key, value in local.items():
        for a, b in zip(value, served[key]):
            check(a == b or abs(float(a) - float(b)) <= 1e-6 * abs(float(a)), "%s: %s, served %s" % (key, value, served[key]))
finally:
    server.send_signal(signal.SIGTERM)
    server.communicate()

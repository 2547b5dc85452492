"""`sextant train --serve`: exports go live while training runs, and no request fails once the first was answered.

usage: train_and_serve_test.py SEXTANT
"""
import atexit
import json
import os
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

from hostile_clients_test import PATIENCE, until

ROW = {"age": 39.0, "workclass": "State-gov", "education": "Bachelors", "education_num": 13.0, "marital_status": "Never-married",
       "occupation": "Adm-clerical", "relationship": "Not-in-family", "race": "White", "gender": "Male", "capital_gain": 2174.0,
       "capital_loss": 0.0, "hours_per_week": 40.0, "native_country": "United-States"}


def free_port():
    import socket
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        data, log = os.path.join(folder, "data"), os.path.join(folder, "log")
        subprocess.run([program, "data", "census", "--synthetic", "--out", data], check=True, stdout=subprocess.DEVNULL)
        port = free_port()
        url = "http://127.0.0.1:%d/v1/models/census" % port
        with open(log, "w") as output:
            training = subprocess.Popen(
                [program, "train", "wide_deep", "--data", data, "--model_dir", os.path.join(folder, "run"), "--train_steps", "40000",
                 "--save_checkpoints_steps", "4000", "--throttle_secs", "0", "--export_format", "json", "--serve", str(port)],
                stdout=output, stderr=output)
        atexit.register(training.kill)

        def said(text):
            assert training.poll() is None, open(log).read()
            return text in open(log).read()

        def answered():
            body = json.dumps({"signature_name": "predict", "instances": [ROW]}).encode()
            try:
                with urllib.request.urlopen(url + ":predict", body, timeout=PATIENCE) as answer:
                    return len(json.load(answer)["predictions"][0]["probabilities"]) == 2
            except urllib.error.HTTPError as error:
                assert error.code in (404, 503), error.read()  # nothing has been exported yet
            except urllib.error.URLError:
                pass
            return False

        until(lambda: training.poll() is None and answered(), "nothing is served")
        versions = set()

        def replaced():
            assert answered(), "a request failed after others had been answered"
            statuses = json.load(urllib.request.urlopen(url, timeout=PATIENCE))["model_version_status"]
            versions.update(status["version"] for status in statuses if status["state"] == "AVAILABLE")
            return len(versions) > 1

        until(replaced, "no newer version goes live")
        until(lambda: said("training has ended"), "training does not end")
        assert answered()
        training.terminate()
        assert training.wait(PATIENCE) == 0, open(log).read()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""census: one call trains, evaluates and exports; the export shows and predicts as the document prints it. Synthetic rows."""
import json
import pathlib
import re
import signal
import subprocess

from program_testing import Programs, check, near

HERE = pathlib.Path(__file__).parent
programs = Programs()
TEXTS = ["gender", "race", "education", "marital_status", "relationship", "workclass", "occupation", "native_country"]
NUMBERS = ["age", "education_num", "capital_gain", "capital_loss", "hours_per_week"]
# What saved_model_cli shows, but for its indentation.
OUTPUTS = """The given SavedModel SignatureDef contains the following output(s):
outputs['class_ids'] tensor_info:
dtype: DT_INT64
shape: (-1, 1)
name: head/predictions/classes:0
outputs['classes'] tensor_info:
dtype: DT_STRING
shape: (-1, 1)
name: head/predictions/str_classes:0
outputs['logistic'] tensor_info:
dtype: DT_FLOAT
shape: (-1, 1)
name: head/predictions/logistic:0
outputs['logits'] tensor_info:
dtype: DT_FLOAT
shape: (-1, 1)
name: head/predictions/logits:0
outputs['probabilities'] tensor_info:
dtype: DT_FLOAT
shape: (-1, 2)
name: head/predictions/probabilities:0
Method name is: tensorflow/serving/predict
"""


def shown():
    names = {name: "Placeholder" + ("_%d" % i if i else "") for i, name in enumerate(TEXTS + NUMBERS)}
    text = "The given SavedModel SignatureDef contains the following input(s):\n"
    for name in sorted(names):
        text += "inputs['%s'] tensor_info:\ndtype: DT_%s\nshape: (-1)\nname: %s:0\n" % (
            name, "STRING" if name in TEXTS else "FLOAT", names[name])
    return text + OUTPUTS


def arguments(job, *more):
    return ["--train-files", "data/adult.data.csv", "--eval-files", "data/adult.test.csv", "--job-dir", job, *more]


def log_of(*given):
    process = programs.process("census_task", *given)
    check(process.returncode == 0, process.stderr)
    return process.stderr


def export(job):
    folders = list(programs.path(job, "export", "census").iterdir())
    check(len(folders) == 1, "there is one export: %s" % folders)
    return folders[0]


def predictions(job, *instances):
    lines = programs.run("sextant", "predict", "--model-dir", export(job), "--output", "json", *instances).splitlines()
    return [json.loads(line) for line in lines]


programs.run("sextant", "data", "census", "--synthetic", "--train", 400, "--test", 100, "--out", "data")
few = ["--train-steps", 30, "--eval-steps", 2, "--seed", 1]

# One call: train, evaluate, export.
log = log_of(*arguments("job", *few))
for line in ("Running training and evaluation locally (non-distributed).",
             "Start train and evaluate loop. The evaluate will happen after 600 secs (eval_spec.throttle_secs) or training is finished.",
             "Create CheckpointSaverHook.", "Saving checkpoints for 30 into job/model.ckpt.", "Evaluation [1/2]", "Evaluation [2/2]",
             "Performing the final export in the end of training."):
    check("INFO:tensorflow:%s\n" % line in log, "the log says: " + line)
check(re.search(r"Using config: \{'_save_checkpoints_secs': 600, .*'_master': ''\}", log), "the config is a dictionary")
labels = [row.rsplit(",", 1)[1].strip() for row in programs.path("data", "adult.test.csv").read_text().splitlines()[:80]]
measured = float(re.search(r"label/mean = ([0-9.]+)", log).group(1))
near(measured, labels.count(">50K") / 80, 1e-5, "two batches of 40 rows, in order, are evaluated")
check(programs.path("job", "eval_census-eval").is_dir(), "evaluations go to eval_census-eval")

# The export, as saved_model_cli and the local prediction show it.
folder = export("job")
text = programs.run("sextant", "saved-model", "show", "--dir", folder, "--tag", "serve", "--signature_def", "predict")
check(re.sub(r"(?m)^ +", "", text) == shown(), "the signature is the document's:\n" + text)
keys = programs.run("sextant", "saved-model", "show", "--dir", folder, "--tag", "serve")
check(re.findall(r'SignatureDef key: "(.*)"', keys) == ["predict"], "a JSON export has predict only: " + keys)
table = programs.run("sextant", "predict", "--model-dir", folder, "--json-instances", HERE / "test.json").splitlines()
check(len(table) == 2 and re.split("  +", table[0]) == ["CLASS_IDS", "CLASSES", "LOGISTIC", "LOGITS", "PROBABILITIES"], "five columns: %s" % table)
NUMBER = r"-?\d\.\d+(e-\d+)?"
check(re.fullmatch(r'\[[01]\] +\["[01]"\] +\[%s\]  \[%s\]  \[%s, %s\]' % ((NUMBER,) * 4), table[1]), "a row of lists: " + table[1])
check([m.start() for m in re.finditer(r"(?<=  )\S", table[0])] == [m.start() for m in re.finditer(r"(?<=  )\S", table[1])],
      "the columns are aligned: %s" % table)

# The same seed gives the same losses; other formats of export serve the same model.
losses = re.findall(r"(?:loss|step) = [^ ,]+|Loss for final step: .*", log)
for kind, keys_wanted, instances in (("CSV", 4, ["--text-instances", HERE / "test.csv"]), ("EXAMPLE", 4, None)):
    again = log_of(*arguments(kind, *few, "--export-format", kind))
    check(re.findall(r"(?:loss|step) = [^ ,]+|Loss for final step: .*", again) == losses, "the same seed gives the same losses")
    keys = programs.run("sextant", "saved-model", "show", "--dir", export(kind), "--tag", "serve")
    check(re.findall(r'SignatureDef key: "(.*)"', keys) == ["classification", "predict", "regression", "serving_default"], keys)
    if instances:
        got = predictions(kind, *instances)
        wanted = predictions("job", "--json-instances", HERE / "test.json")
        check(len(got) == 2 and got[0] == wanted[0], "test.csv's first row is test.json: %s %s" % (got, wanted))
    else:
        text = programs.run("sextant", "saved-model", "show", "--dir", export(kind), "--tag", "serve", "--signature_def", "predict")
        check("inputs['example_proto'] tensor_info:" in text, "examples come in example_proto: " + text)

# Killed, the same command goes on and ends as if nothing had happened.
killed = subprocess.Popen([programs.bin / "census_task", *arguments("killed", *map(str, ["--train-steps", 100000, "--seed", 1]))],
                          cwd=programs.directory, stderr=subprocess.PIPE, text=True)
for line in killed.stderr:
    if "step = 100 " in line:
        break
killed.send_signal(signal.SIGKILL)
killed.communicate()
check(not programs.path("killed", "export").exists(), "nothing is exported before the end")
log_of(*arguments("killed", *few))
check(predictions("killed", "--json-instances", HERE / "test.json") == predictions("job", "--json-instances", HERE / "test.json"),
      "after kill -9 the training gives the same model")

# Other sizes and shuffles are taken.
log_of(*arguments("other", "--train-steps", 3, "--eval-steps", 1, "--num-epochs", 2, "--embedding-size", 4, "--first-layer-size", 10,
                  "--num-layers", 2, "--scale-factor", 0.5, "--train-batch-size", 7, "--shuffle-buffer", 400, "--num-parallel-calls", 2,
                  "--prefetch_buffer_size", 16, "--verbosity", "WARN"))

# Bad input: one sentence.
said = programs.refusal("census_task", "--job-dir", "x", code=2)
check(said == "--train-files is required", said)
said = programs.refusal("census_task", *arguments("", *few))
check(said == "--job-dir must name a folder, not ''", said)
said = programs.refusal("census_task", *arguments("x", "--export-format", "XML"), code=2)
check("JSON" in said and "XML" in said, said)
said = programs.refusal("census_task", *arguments("x", "--train-step", "5"), code=2)
check(said == "there is no flag --train-step; did you mean --train-steps?", said)
quiet = ["--train-steps", 5, "--verbosity", "FATAL"]
said = programs.refusal("census_task", "--train-files", "none.csv", "--eval-files", "nor.csv", "--job-dir", "x", *quiet)
check("none.csv" in said, "the missing training file is named: " + said)
check(not list(programs.path().glob("x/model.ckpt*")), "nothing is written by what was refused")
programs.path("bad.csv").write_text("39, State-gov, 77516\n")
said = programs.refusal("census_task", "--train-files", "bad.csv", "--eval-files", "data/adult.test.csv", "--job-dir", "x", *quiet)
check("columns" in said or "fields" in said, "a row with too few columns is refused: " + said)
programs.path("label.csv").write_text(programs.path("data", "adult.data.csv").read_text().replace("<=50K", "50K"))
said = programs.refusal("census_task", "--train-files", "label.csv", "--eval-files", "data/adult.test.csv", "--job-dir", "x", *quiet)
check("label ' 50K' in column income_bracket is neither" in said, said)

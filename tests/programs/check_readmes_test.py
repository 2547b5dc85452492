"""tools/check_readmes accepts what is within the tolerance, and code that is in a source, and refuses, naming the place, what is not."""
import pathlib
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]


def result(readme):
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "README.md")
        pathlib.Path(directory, "main.cc").write_text("int main() {\n  return Run();\n}\n")
        path.write_text(readme)
        run = subprocess.run([sys.executable, TOOL, "--bin", directory, path], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return run.returncode, run.stdout + run.stderr


def block(mark, command, *printed):
    return "# x\n\n<!-- rerun %s -->\n```console\n$ %s\n%s\n```\n" % (mark, command, "\n".join(printed))


def accepted(readme, count=1):
    code, text = result(readme)
    assert code == 0 and "%d commands" % count in text, text


def refused(readme, *words):
    code, text = result(readme)
    assert code == 1 and all(word in text for word in words), text


accepted(block("exactly", "echo loss 0.25", "loss 0.25"))
refused(block("exactly", "echo loss 0.25", "loss 0.250001"), "README.md:4", "loss 0.25")
accepted(block("within 1%", "echo loss 0.2501 at 1e3", "loss 0.25 at 1001"))
refused(block("within 1%", "echo loss 0.26", "loss 0.25"), "0.26")
accepted(block("within 0.02", "echo a 0.01 b -0.01", "a 0 b 0"))
refused(block("within 0.02", "echo a 0.01", "b 0.01"), "b 0.01")
refused(block("within 0.02", "echo w2 1", "w3 1"))                          # part of a name, not a number
accepted(block("exactly", "echo 'step 5 (0.013 sec), 2017-03-30 06:18:48'", "step 5 (9.1 sec), 2026-11-17 01:02:03"))
refused(block("exactly", "echo 'step 5 (0.013 sec)'", "step 6 (0.013 sec)"))
accepted(block("exactly", "seq 5", "1", "...", "5"))
refused(block("exactly", "seq 5", "1", "...", "6"))
refused(block("exactly", "seq 2", "1"), "'2', which the README has not")
refused(block("exactly", "seq 1", "1", "2"), "'2' is missing")
accepted(block("exactly", "touch f") + block("exactly", "ls", "f"), 2)      # one directory
accepted(block("exactly", "echo bad >&2; false", "bad"))                    # of errors too
accepted("```console\n$ false\nnever run\n```\n", 0)
refused("<!-- rerun about 3 -->\n```\n$ true\n```\n", "a mark reads")
refused("<!-- rerun exactly -->\n\n", "must follow")
accepted("```cpp\nint main() {\n  ...\nreturn Run();\n\n```\n\n```text\nnot code\n```\n", 0)
refused("# x\n\n```cpp\nreturn Walk();\n```\n", "README.md:4", "return Walk();")  # code that no source has
print("check_readmes ok")

"""clang-tidy with the checks of .clang-tidy, on the sources that differ from the main branch, on those that are named, or on all.

It needs the commands that compile a source: those of build/dev, where each source is a unit of its own. Most of the time goes into
the headers that a source includes. To check everything, the sources of a folder are therefore included by one unit, as in a build
with SEXTANT_UNITY. clang's static analyzer, which looks at the main file of a unit only, is left out then.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess

from checks.tree import Problem

DATABASE = "build/dev/compile_commands.json"
UNITS = "build/dev/tidy"
FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:error|warning): (.*)")


def changed(tree):
    """Sources that differ from main, in commits or in the working tree."""
    for base in ("origin/main", "main", "HEAD"):
        run = subprocess.run(["git", "-C", tree.root, "diff", "--name-only", "--diff-filter=d", f"{base}..."],
                             capture_output=True, text=True)
        if run.returncode == 0:
            break
    local = subprocess.run(["git", "-C", tree.root, "diff", "--name-only", "--diff-filter=d", "HEAD"],
                           check=True, capture_output=True, text=True)
    return sorted({name for name in (run.stdout + local.stdout).splitlines() if name.endswith(".cc")})


def unite(tree):
    """Writes a unit for the sources of each folder of sextant/ that are linked together, and how it is compiled; returns the units."""
    folders, seen = {}, set()
    for entry in json.loads(tree.text(DATABASE)):
        name = os.path.relpath(entry["file"], tree.root)
        if not name.startswith("sextant/") or name in seen:
            continue
        seen.add(name)
        target = re.search(r"CMakeFiles/(\w[\w-]*)\.dir/", entry["command"]).group(1)
        # Highway includes such a source again for each instruction set.
        alone = pathlib.Path(name).stem if "#define HWY_TARGET_INCLUDE" in tree.text(name) else ""
        key = "-".join(filter(None, (target, *os.path.dirname(name).split("/")[1:], alone)))
        unit = folders.setdefault(key, {"directory": entry["directory"], "flags": [], "sources": []})
        command = re.sub(r" -o \S+ -c \S+$", "", entry["command"]).replace("-isystem ", "-isystem")
        # Warnings are the compiler's own: it sees each source with its own names only.
        unit["flags"] += [flag for flag in command.split() if flag not in unit["flags"] and not flag.startswith("-W")]
        unit["sources"].append(name)
    folder = tree.root / UNITS
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    commands = []
    for key, unit in folders.items():
        file = str(folder / f"{key}.cc")
        pathlib.Path(file).write_text("".join(f'#include "{tree.root / name}"\n' for name in unit["sources"]))
        commands.append({"directory": unit["directory"], "file": file, "command": " ".join([*unit["flags"], "-c", file])})
    (folder / "compile_commands.json").write_text(json.dumps(commands, indent=1))
    return [entry["file"] for entry in commands]


def tidy_file(program, tree, name, options):
    run = subprocess.run([program, "-quiet", *options, name], cwd=tree.root, capture_output=True, text=True)
    matches = list(filter(None, map(FINDING.match, run.stdout.splitlines())))
    found = []
    for path, line, text in (match.groups() for match in matches):
        path = os.path.relpath(path, tree.root) if os.path.isabs(path) else path
        if not path.startswith("build/") or "clang-diagnostic-error" in text:  # there are units and what is generated
            found.append(Problem(path, int(line), text))
    if run.returncode < 0 or (run.returncode > 0 and not matches):
        found.append(Problem(name, 0, f"clang-tidy failed: {run.stderr.strip()}"))
    return found


def check(tree, names=(), everything=False, jobs=None):
    program = os.environ.get("CLANG_TIDY") or shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if program is None:
        print("clang-tidy is not installed: its checks are left out")
        return
    if not tree.exists(DATABASE):
        yield Problem(DATABASE, 0, "not there: run cmake --preset dev, and build its targets sextant_proto_headers and "
                      "sextant_network_proto_headers")
        return
    options = ["-p", UNITS, "--checks=-clang-analyzer-*"] if everything else ["-p", os.path.dirname(DATABASE)]
    names = unite(tree) if everything else names or changed(tree)
    with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
        seen = set()
        for found in pool.map(lambda name: tidy_file(program, tree, name, options), names):
            for problem in found:
                if problem not in seen:
                    seen.add(problem)
                    yield problem

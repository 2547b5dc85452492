"""clang-tidy with the checks of .clang-tidy, on the sources that differ from the main branch, or on those that are named.

It needs the commands that compile a source: those of build/dev, where each source is a unit of its own.
"""
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

from checks.tree import Problem

DATABASE = "build/dev/compile_commands.json"
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


def tidy_file(program, tree, name):
    run = subprocess.run([program, "-quiet", "-p", str(pathlib.Path(DATABASE).parent), name], cwd=tree.root,
                         capture_output=True, text=True)
    found = []
    for line in run.stdout.splitlines():
        if match := FINDING.match(line):
            path = os.path.relpath(match.group(1), tree.root) if os.path.isabs(match.group(1)) else match.group(1)
            found.append(Problem(path, int(match.group(2)), match.group(3)))
    if run.returncode != 0 and not found:
        found.append(Problem(name, 0, f"clang-tidy failed: {run.stderr.strip()}"))
    return found


def check(tree, names=()):
    program = shutil.which("clang-tidy-14") or shutil.which("clang-tidy")
    if program is None:
        print("clang-tidy is not installed: its checks are left out")
        return
    if not tree.exists(DATABASE):
        yield Problem(DATABASE, 0, "not there: run cmake --preset dev, and build its target sextant_proto_headers")
        return
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seen = set()
        for found in pool.map(lambda name: tidy_file(program, tree, name), names or changed(tree)):
            for problem in found:
                if problem not in seen:
                    seen.add(problem)
                    yield problem

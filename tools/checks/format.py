"""clang-format leaves every C++ source as it is. Versions differ in what they do, so it is Debian 12's, 14.

Files that were found in order are remembered by the hash of their content in build/, so that a second run takes no time.
"""
import concurrent.futures
import hashlib
import os
import re
import shutil
import subprocess

from checks.tree import Problem

VERSION = "14"
MEMORY = "build/clang_format_ok"
FINDING = re.compile(r"^(.*?):(\d+):\d+: (?:error|warning): code should be clang-formatted")


def find_program():
    for program in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(program)
        if path:
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
            if re.search(rf"version {VERSION}\.", said):
                return path
    return None


def hashes(tree, names):
    style = (tree.root / ".clang-format").read_bytes() if tree.exists(".clang-format") else b""
    return {name: hashlib.sha256(style + (tree.root / name).read_bytes()).hexdigest() for name in names}


def format_batch(program, tree, names):
    """The problems of some files: the first place in each that would change."""
    run = subprocess.run([program, "--dry-run", "--style=file", *names], cwd=tree.root, capture_output=True, text=True)
    first = {}
    for line in run.stderr.splitlines():
        if match := FINDING.match(line):
            first.setdefault(match.group(1), int(match.group(2)))
    if run.returncode != 0 and not first:
        return [Problem(names[0], 0, f"clang-format failed: {run.stderr.strip()}")]
    return [Problem(name, line, f"not formatted: run clang-format -i {name}") for name, line in first.items()]


def check(tree):
    names = tree.select(".h", ".cc")
    program = find_program()
    if program is None:
        yield Problem(".clang-format", 0, f"clang-format {VERSION} is not installed: run scripts/setup.sh")
        return
    memory = tree.root / MEMORY
    known = set(memory.read_text().split()) if memory.exists() else set()
    by_name = hashes(tree, names)
    unknown = [name for name in names if by_name[name] not in known]
    batches = [unknown[i:i + 16] for i in range(0, len(unknown), 16)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [p for found in pool.map(lambda batch: format_batch(program, tree, batch), batches) for p in found]
    wrong = {problem.path for problem in problems}
    if memory.parent.is_dir():
        memory.write_text("\n".join(sorted(by_name[name] for name in names if name not in wrong)))
    yield from problems

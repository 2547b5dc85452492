"""Texts for everybody: no path of one machine, no reference to a file that users do not have.

Tests, CI and the checks themselves may look for recorded data beside the repository and skip where there is none.
"""
import re

from checks.tree import Problem, is_test

MACHINE_PATH = re.compile(r"(?<![\w.$}~/-])/(?:home|root|work|opt|mnt|Users|private)/\w[\w./-]*")
ABSENT_FILE = re.compile(r"\.\./shared\b|(?<![\w/])facts/\w*|\(facts:")
EXEMPT = ("tests/", ".ci/", "testdata/", "tools/checks/")


def check(tree):
    for name in tree.files:
        if name.startswith(EXEMPT) or is_test(name):
            continue
        try:
            text = (tree.root / name).read_bytes().decode()
        except UnicodeDecodeError:
            continue  # not a text
        for number, line in enumerate(text.splitlines(), 1):
            if match := MACHINE_PATH.search(line):
                yield Problem(name, number, f"'{match.group()}' is a path of one machine: use a relative path or an option")
            if match := ABSENT_FILE.search(line):
                yield Problem(name, number, f"'{match.group()}' names a file that users do not have: "
                              "say what it holds, or put it into the repository")

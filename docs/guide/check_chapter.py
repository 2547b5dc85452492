"""Holds a chapter of the guide and its program together.

usage: check_chapter.py CHAPTER.md PROGRAM [ARGUMENT ...]

Every ```cpp block of the chapter must be lines of the program's source, beside it; what the program prints must be the ```text
block, if there is one. The program runs in a directory of its own. Tables behind a line "<!-- from FILE -->" must be rows of that file.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def blocks(text, kind):
    return re.findall(r"^```%s\n(.*?)^```$" % kind, text, re.MULTILINE | re.DOTALL)


def main(chapter, program, *arguments):
    text = pathlib.Path(chapter).read_text()
    source = pathlib.Path(chapter).with_suffix(".cc").read_text()
    for block in blocks(text, "cpp"):
        for part in re.split(r"\n\s*\n", block.strip("\n")):
            if part not in source:
                sys.exit("%s quotes what is not in its program:\n%s" % (chapter, part))
    for file, table in re.findall(r"^<!-- from (\S+) -->\n+((?:\|.*\n)+)", text, re.MULTILINE):
        known = pathlib.Path(chapter).parent.joinpath(file).read_text().splitlines()
        for row in table.splitlines():
            if row not in known:
                sys.exit("%s has a row that is not in %s:\n%s" % (chapter, file, row))
    with tempfile.TemporaryDirectory() as directory:
        run = subprocess.run([program, *arguments], cwd=directory, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit("%s ended with %d" % (program, run.returncode))
    for expected in blocks(text, "text"):
        if run.stdout != expected:
            sys.exit("%s prints\n%s\nbut its chapter says\n%s" % (program, run.stdout, expected))


if __name__ == "__main__":
    main(*sys.argv[1:])

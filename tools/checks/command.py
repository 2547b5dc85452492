"""The command line of tools/check."""
import argparse
import pathlib

from checks import format, layers, op_headers, public_headers, readmes, sizes, tidy, words  # pylint: disable=redefined-builtin
from checks.tree import Tree

RULES = {
    "format": format.check,
    "layers": layers.check,
    "op_headers": op_headers.check,
    "public_headers": public_headers.check,
    "readmes": readmes.check,
    "sizes": sizes.check,
    "words": words.check,
}


def main():
    parser = argparse.ArgumentParser(
        prog="tools/check", description="Checks the repository by its own rules. Prints file, line and what to do; "
        "ends with 1 if there is anything.")
    parser.add_argument("--only", action="append", choices=sorted(RULES), metavar="RULE",
                        help="this rule only (may be repeated): " + ", ".join(RULES))
    parser.add_argument("--tidy", action="store_true", help="also clang-tidy, on sources that differ from main")
    parser.add_argument("--all", action="store_true", help="with --tidy: all sources of sextant/")
    parser.add_argument("--jobs", type=int, help="with --tidy: how many sources at a time; as many as there are processors when not given")
    parser.add_argument("--root", default=pathlib.Path(__file__).parents[2], help="the repository to check")
    parser.add_argument("files", nargs="*", help="with --tidy: these sources instead")
    arguments = parser.parse_args()
    if arguments.files and not arguments.tidy:
        parser.error("files are named with --tidy only: the other rules look at the whole repository")
    if arguments.all and (arguments.files or not arguments.tidy):
        parser.error("--all goes with --tidy, and without files")

    tree = Tree(arguments.root)
    problems = []
    for name in arguments.only or RULES:
        problems += RULES[name](tree)
    if arguments.tidy:
        problems += tidy.check(tree, arguments.files, arguments.all, arguments.jobs)
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "ok: " + ", ".join(arguments.only or RULES))
    return 1 if problems else 0

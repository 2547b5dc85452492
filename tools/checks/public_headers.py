"""One public boundary, as sextant/base/export.h describes it.

What sextant.h and the headers of libsextant_serving include, directly or through others, is public: such headers hold their
declarations between the visibility pragmas, and their classes say SEXTANT_API. The build installs the headers with the pragmas, so no other header has them.
"""
import re

from checks.tree import Problem

UMBRELLA = "sextant/sextant.h"
SERVING = ("sextant/serving/client.h", "sextant/serving/server.h")
MACRO_HEADER = "sextant/base/export.h"
PUSH = re.compile(r"^#pragma GCC visibility push\(default\)$", re.MULTILINE)
POP = re.compile(r"^#pragma GCC visibility pop$", re.MULTILINE)
INCLUDE = re.compile(r'^#include "(sextant/[^"]+)"', re.MULTILINE)
CLASS = re.compile(r"^(?:class|struct) (?!SEXTANT_API\b)(\w+)\b(?!<)[^;]*(?:\{|$)")


def closure(tree):
    """Public headers, each with the one that includes it."""
    waiting = [name for name in (UMBRELLA, *SERVING) if tree.exists(name)]
    reached = {name: name for name in waiting}
    while waiting:
        header = waiting.pop()
        for name in INCLUDE.findall(tree.text(header)):
            if name not in reached and tree.exists(name):
                reached[name] = header
                waiting.append(name)
    return reached


def why(name, public):
    return "public" if public[name] == name else f"public, as {public[name]} includes it"


def check_classes(tree, name):
    template = False
    for number, line in tree.lines(name):
        match = CLASS.match(line)
        if match and not template:
            yield Problem(name, number, f"a class of a public header is exported: write SEXTANT_API before {match.group(1)}")
        template = line.startswith("template") or (template and line.startswith(("requires", " ")))


def check(tree):
    if not tree.exists(UMBRELLA):
        return
    public = closure(tree)
    for name in tree.select(".h", under="sextant/"):
        if name in (UMBRELLA, MACRO_HEADER):
            continue
        text = tree.text(name)
        pushed = PUSH.search(text)
        if name in public:
            if not pushed or not POP.search(text):
                yield Problem(name, 0, f"{why(name, public)}: put its declarations between "
                              "'#pragma GCC visibility push(default)' and '#pragma GCC visibility pop'")
            yield from check_classes(tree, name)
        elif pushed:
            line = text.count("\n", 0, pushed.start()) + 1
            yield Problem(name, line, "exports its names, but nothing public includes it: "
                          "remove the visibility pragmas, or include it in sextant/sextant.h")

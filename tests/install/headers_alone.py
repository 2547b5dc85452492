#!/usr/bin/env python3
"""headers_alone.py INCLUDE CXX [FLAGS...]: every header under INCLUDE compiles without another in front of it.

Most of the time of a header is what it includes. So headers that many others include are precompiled, and in front of a
header comes the largest of them that it includes itself: it gets nothing that it would not get alone.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

include, compiler, flags = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
command = [compiler, "-std=c++20", f"-I{include}", *flags]
PRECOMPILED = 12


def closures(headers):
    """Each header with all that it includes of ours, itself among them."""
    direct = {name: set(re.findall(r'^#include "(sextant/[^"]+)"', (include / name).read_text(), re.MULTILINE)) & set(headers)
              for name in headers}
    reached = {}

    def reach(name):
        if name not in reached:
            reached[name] = {name}
            for other in direct[name]:
                reached[name] |= reach(other)
        return reached[name]

    return {name: reach(name) for name in headers}


def choose(reached):
    """The headers to precompile: one after another, that which spares most, by the includes that need not be followed."""
    includes = {name: (include / name).read_text().count("#include") for name in reached}
    size = {name: sum(includes[other] for other in reached[name]) for name in reached}
    spared = dict.fromkeys(reached, 0)
    chosen = []
    for _ in range(PRECOMPILED):
        def gain(name):
            return sum(max(0, size[name] - spared[user]) for user in reached if name in reached[user] and name != user)

        best = max(reached, key=gain)
        chosen.append(best)
        for user in reached:
            if best in reached[user] and best != user:
                spared[user] = max(spared[user], size[best])
    return chosen


def run(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stderr


def main():
    headers = sorted(str(path.relative_to(include)) for path in include.rglob("*.h"))
    reached = closures(headers)
    chosen = choose(reached)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def stub(name):
            return f"{folder}/{name.replace('/', '_')}"

        def precompile(name):
            pathlib.Path(stub(name)).write_text(f'#include "{name}"\n')
            return run([*command, "-x", "c++-header", stub(name), "-o", stub(name) + ".gch"])

        def compile_alone(name):
            usable = [other for other in chosen if other in reached[name] and other != name]
            best = max(usable, key=lambda other: len(reached[other]), default=None)
            front = ["-include", stub(best)] if best else []
            source = stub(name) + ".cc"
            pathlib.Path(source).write_text(f'#include "{name}"\n')
            return run([*command, "-fsyntax-only", *front, source])

        problems = [text for text in pool.map(precompile, chosen) if text]
        problems += [f"{name} does not compile alone:\n{text}" for name, text in zip(headers, pool.map(compile_alone, headers))
                     if text]
    print("\n".join(problems) or f"{len(headers)} headers compile alone")
    return 1 if problems else 0


sys.exit(main())

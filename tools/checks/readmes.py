"""Documentation that leads somewhere: every header is named in the README of its folder, every relative link has a target, and
every source that a document or a comment names is there.
"""
import pathlib
import re

from checks.tree import Problem, is_test

# The text of a link may begin on a line before.
LINK = re.compile(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)|^ {0,3}\[[^\]^]+\]:\s+<?([^\s>]+)|<(?:a|img)\s[^>]*?(?:href|src)=\"([^\"]+)\"")
FENCE = re.compile(r"^\s*(```|~~~)")
# A path or its end, in small letters: "x.cc", "stem.h" and NAME.cc stand for any file.
SOURCE = re.compile(r"(?<![\w./*{}<>-])((?:[a-z0-9_]+/)*[a-z]\w*\.(?:h|cc|py))(?![\w/]|\.\w)")
PLACEHOLDER = re.compile(r"(?:.*/)?(?:x|stem)(?:_\w+)?\.\w+$")


def readme_of(tree, name):
    """README.md of the nearest folder above that has one."""
    for folder in pathlib.PurePosixPath(name).parents:
        readme = str(folder / "README.md")
        if tree.exists(readme):
            return readme
    return None


def check_headers(tree):
    for name in tree.select(".h", under="sextant/"):
        if is_test(name) or name.count("/") == 1:
            continue
        readme = readme_of(tree, name)
        stem = pathlib.PurePosixPath(name).stem
        if readme is None or readme == "README.md":
            yield Problem(name, 0, "its module has no README.md: write one that names its files")
        elif not re.search(rf"(?<!\w){re.escape(stem)}(?!\w)", tree.text(readme)):
            yield Problem(name, 0, f"not named in {readme}: say there what it is for")


def slug(heading):
    """The anchor that GitHub gives a heading."""
    text = re.sub(r"[`*]", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(tree, name):
    fenced = False
    for _, line in tree.lines(name):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and line.startswith("#"):
            yield slug(line.lstrip("#"))


def check_links(tree):
    for name in tree.select(".md"):
        fenced = False
        for number, line in tree.lines(name):
            if FENCE.match(line):
                fenced = not fenced
            if fenced:
                continue
            for found in LINK.findall(re.sub(r"`[^`]*`", "``", line)):
                target = "".join(found)
                if re.match(r"[a-z]+:", target):
                    continue  # of the web
                path, _, anchor = target.partition("#")
                file = (tree.root / name).parent / path if path else tree.root / name
                if not file.exists():
                    yield Problem(name, number, f"the link to {target} leads nowhere: correct or remove it")
                elif anchor and file.suffix == ".md":
                    relative = str(file.resolve().relative_to(tree.root))
                    if anchor not in anchors(tree, relative):
                        yield Problem(name, number, f"{relative} has no heading #{anchor}: correct the link")


def check_sources(tree):
    ends = set()
    for name in tree.files:
        parts = name.split("/")
        ends |= {"/".join(parts[i:]) for i in range(len(parts))}
    for name in tree.select(".md", ".h", ".cc"):
        if is_test(name):
            continue
        for number, line in tree.lines(name):
            text = line if name.endswith(".md") else line.partition("//")[2]
            for source in SOURCE.findall(text):
                if source not in ends and not PLACEHOLDER.match(source):
                    yield Problem(name, number, f"there is no {source}: name the file that is meant")


def check(tree):
    yield from check_headers(tree)
    yield from check_links(tree)
    yield from check_sources(tree)

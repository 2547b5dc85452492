"""The files that rules look at, and what a rule finds."""
import dataclasses
import functools
import pathlib
import subprocess


@dataclasses.dataclass(frozen=True)
class Problem:
    """What is wrong in a line of a file, and what to do. Line 0 stands for the whole file."""

    path: str
    line: int
    text: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.text}"


class Tree:
    """The tracked and the new files under a root, by names relative to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()

    @functools.cached_property
    def files(self):
        listed = subprocess.run(
            ["git", "-C", self.root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"],
            check=True, capture_output=True, text=True).stdout.split("\0")
        return sorted(name for name in listed if name and (self.root / name).is_file())

    def select(self, *suffixes, under=""):
        return [name for name in self.files if name.startswith(under) and name.endswith(suffixes)]

    @functools.lru_cache(maxsize=None)
    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name):
        """(number, line) from 1 on."""
        return enumerate(self.text(name).splitlines(), 1)

    def exists(self, name):
        return (self.root / name).exists()


def is_test(name):
    """Sources that are compiled into tests only."""
    return name.startswith("tests/") or name.endswith(("_test.cc", "_test.h", "_test_helpers.h", "_test_helpers.cc"))

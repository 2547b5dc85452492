"""Op headers that can be searched: the first line of a header whose source registers ops begins with the name of one of them."""
import re

from checks.tree import Problem

REGISTERS = re.compile(r"\bvoid Register\w+\(OpRegistry&")
FIRST_NAME = re.compile(r"// (_?[A-Z]\w*)(?=[,:]| and | \()")


def check(tree):
    for name in tree.select(".h", under="sextant/ops/"):
        source = name[:-2] + ".cc"
        if not tree.exists(source) or not REGISTERS.search(tree.text(source)):
            continue
        match = FIRST_NAME.match(tree.text(name))
        # The line may leave out a version: "TopK" for TopKV2.
        if not match or not re.search(rf'"{match.group(1)}(V\d+)?"', tree.text(source)):
            yield Problem(name, 1, f"the first line names no op that {source} registers: "
                          "begin it with their names, as in '// ArgMax, ArgMin: the index of ...'")

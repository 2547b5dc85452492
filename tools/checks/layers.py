"""Modules are one-way: a module includes only those that tools/layers.txt allows it. Tests may include all.

Two rules are finer. Definitions of ops (ops/**/x.cc and x.h, where x is a family named with sextant_op_family) see no device:
kernels are in x_cpu.cc and in sources of their own. And the runtime sees devices by their interface, not device/cpu. Headers
are named from the root, in quotes, so that no other spelling passes by these rules.
"""
import posixpath
import re

from checks.tree import Problem, is_test

INCLUDE = re.compile(r'\s*#\s*include\s*(["<])([^">]+)[">]')
FAMILY = re.compile(r"^\s*sextant_op_family\((\w+)\s", re.MULTILINE)


def read_layers(tree):
    allowed = {}
    for _, line in tree.lines("tools/layers.txt"):
        if line.strip() and not line.startswith("#"):
            module, _, others = line.partition(":")
            allowed[module.strip()] = set(others.split()) | {module.strip()}
    return allowed


def definitions(tree):
    """The sources that define ops, by the families of each folder's CMakeLists.txt."""
    found = set()
    for lists in tree.select("/CMakeLists.txt", under="sextant/ops/"):
        folder = lists.removesuffix("CMakeLists.txt")
        for family in FAMILY.findall(tree.text(lists)):
            found |= {f"{folder}{family}.h", f"{folder}{family}.cc"}
    return found


def included(tree, name, line):
    """The header of ours that a line includes, by its name from the root, and whether the line says that name; or None."""
    match = INCLUDE.match(line)
    if not match:
        return None
    quote, header = match.groups()
    if posixpath.normpath(header).startswith("sextant/"):
        return posixpath.normpath(header), quote == '"' and header == posixpath.normpath(header)
    beside = posixpath.normpath(posixpath.join(posixpath.dirname(name), header))
    return (beside, False) if quote == '"' and beside.startswith("sextant/") and tree.exists(beside) else None


def check(tree):
    allowed = read_layers(tree)
    op_definitions = definitions(tree)
    for name in tree.select(".h", ".cc", under="sextant/"):
        parts = name.split("/")
        module = parts[1]
        if len(parts) == 2:
            continue  # sextant.h, which includes all
        if module not in allowed:
            yield Problem(name, 0, f"module '{module}' is not in tools/layers.txt: add a line with what it may include")
            continue
        if is_test(name):
            continue
        for number, line in tree.lines(name):
            header, as_it_should = included(tree, name, line) or (None, True)
            if not as_it_should:
                yield Problem(name, number, f'headers are included by their names from the root: write #include "{header}"')
            if header is None or header.count("/") < 2:
                continue
            _, target, rest = header.split("/", 2)
            if target not in allowed[module]:
                yield Problem(name, number, f"{module} may not include {target} (tools/layers.txt): "
                              "move the code, or pass what is needed through an interface")
            elif name in op_definitions and target == "device":
                yield Problem(name, number, "the definition of an op sees no device: "
                              "put what needs one into a source of the kernel")
            elif module == "runtime" and target == "device" and rest.startswith("cpu/"):
                yield Problem(name, number, "the runtime does not include device/cpu: ask the device by its interface")

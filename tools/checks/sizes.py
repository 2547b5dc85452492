"""Small pieces: a file has at most 400 lines, a function at most 80.

Functions are found by their braces: a block at namespace or class level whose head has a parameter list. What is in strings,
characters and comments is blanked first; lambdas and local classes count as part of the function they are in, lambdas that are in
none as functions.
"""
import bisect
import re

from checks.tree import Problem

FILE_LINES = 400
FUNCTION_LINES = 80

BLANKED = re.compile(
    r'R"(?P<mark>[^()\s\\]*)\(.*?\)(?P=mark)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-FxX])'(?:\\.|[^'\\\n])*'"
    r"|//[^\n]*|/\*.*?\*/"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",  # directives, whose macros may have single braces
    re.DOTALL | re.MULTILINE)
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*$")
LAMBDA = re.compile(r"=\s*\[[^\]]*\]\s*(?:[(<].*)?$", re.DOTALL)
NAME = re.compile(r"([~\w:]+|operator\s*\S+?)\s*\(")


def blank(text):
    return BLANKED.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)


def is_scope(head):
    """Whether the block after "head" holds declarations: of a namespace or a class."""
    head = re.sub(r"\b(?:alignas|__attribute__)\s*\(+[^()]*\)+", "", head)
    head = re.sub(r"template\s*<[^{};]*>", "", head) if "template" in head else head
    return bool(SCOPE.search(head)) or not head.strip()


def functions(text):
    """(first line, number of lines, name) of each function."""
    code = blank(text)
    newlines = [match.start() for match in re.finditer("\n", code)]
    line_of = lambda at: bisect.bisect_left(newlines, at) + 1
    depth = 0  # of braces inside a block that is no scope
    head_start = 0
    begun = 0
    name = None
    for match in re.finditer(r"[{};]", code):
        at, sign = match.start(), match.group()
        if depth > 0:
            depth += {"{": 1, "}": -1}.get(sign, 0)
            if depth == 0:
                if name is not None:
                    yield begun, line_of(at) - begun + 1, name
                head_start = at + 1
            continue
        if sign == "{":
            head = code[head_start:at]
            if not is_scope(head):
                depth = 1
                stripped = re.sub(r"^(?:\s*(?:public|protected|private):)*\s*", "", head)
                begun = line_of(at - len(stripped))
                called = NAME.search(re.sub(r"^(?:template\s*<.*?>|requires[^\n]*)\s*", "", stripped, flags=re.DOTALL))
                table = re.search(r"=\s*$", head)
                name = called.group(1) if called and not table else None
                if LAMBDA.search(head):
                    name = "a lambda"
                continue
        head_start = at + 1


def check(tree):
    for name in tree.select(".h", ".cc", ".py", ".sh", ".js", ".css", ".cmake", "CMakeLists.txt", "tools/check"):
        text = tree.text(name)
        lines = text.count("\n")
        if lines > FILE_LINES:
            yield Problem(name, FILE_LINES + 1, f"the file has {lines} lines, {FILE_LINES} are allowed: split it by purpose")
        if name.endswith((".h", ".cc")):
            for begun, count, function in functions(text):
                if count > FUNCTION_LINES:
                    yield Problem(name, begun, f"{function} has {count} lines, {FUNCTION_LINES} are allowed: "
                                  "give its parts functions of their own")

#!/usr/bin/env python3
"""comments_for_doxygen.py HEADER: prints a header with its comments in the form that Doxygen reads.

Headers are written with plain comments. A comment above a declaration becomes `///`, one behind it `///<`. A comment also
documents the declarations that follow its first one without an empty line, so it is repeated for each of them; the comment at
the top documents the file, and the classes and functions in it that have none of their own. Some lines say enough by
themselves, and their words are made of them: a struct XOptions, a field with a value, an enumerator, an alias, a constructor, a
function of one line. Members that are defaulted or deleted, and what is private, need no words.
"""
import pathlib
import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/) ?(.*)$")
TRAILING = re.compile(r'^((?:[^"]|"(?:[^"\\]|\\.)*")*?\S)\s+// ?(.*)$')
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum)\b[^()=;]*\{$")
OPTIONS = re.compile(r"^struct (?:SEXTANT_API )?(\w+)(?:Options|Config)\b.*\{")
FIELD = re.compile(r"^\s+[\w:<>,&*\s()]*?[\s>&*]\w+(?:\[\w+\])?(?: = (.*?)|\{(.*?)\})?;$")
ENUMERATOR = re.compile(r"^\s+k\w+(?: = ([\w -]+))?,?$")
CONSTRUCTOR = re.compile(r"^\s+(?:explicit |constexpr )*(~?)([A-Z]\w*)\([^)]*(?:\)|$)")
ONE_LINE = re.compile(r"^\s+\S.*\).* \{ (?:return )?(.*); \}$")
OPERATOR = re.compile(r"\boperator(=|==)\(")
TENSORS = re.compile(r"^\s+Output (\w+(?:, \w+)*);$")
SEVERAL = re.compile(r"^(\s+)([\w:<>, ]*[\w>]) ([*]?\w+(?: = [^,;(]+)?(?:, [*]?\w+(?: = [^,;(]+)?)+);$")
LABEL = re.compile(r"\s*(?:public|protected|private):$")


def plain(text):
    """Words in which Doxygen finds no command, tag or link."""
    return re.sub(r"([\\<>@#&%]|::)", r"\\\1", text)


class Rewriter:
    def __init__(self, file_comment):
        self.file_comment = file_comment
        self.out = ["/// @file"] + ["/// " + plain(line) for line in file_comment]
        self.block = []        # comment lines just seen, not yet written
        self.group = []        # the comment that the next declarations share
        self.scopes = []       # of open braces: namespace, class, struct, union, enum, options or body
        self.open_code = ""    # a declaration that goes on over lines
        self.trailing = False  # the line before ended with a comment

    def declares(self):
        return "body" not in self.scopes

    def write(self, lines, mark, indent):
        self.out += [f"{indent}{mark} {plain(line)}".rstrip() for line in lines]

    def comment(self, indent, text):
        if self.trailing and not self.open_code and len(indent) > 4:  # goes on with the comment behind the line before
            self.out.append(f"{indent}///< {plain(text)}")
        else:
            self.block.append(text)

    def empty(self):
        self.write(self.block, "//", "")  # belongs to nothing that follows
        self.block, self.group, self.trailing = [], [], False
        self.out.append("")

    def implied(self, bare):
        """What a line without a comment says by itself."""
        if re.match(r"\s*(?:class|struct|friend) [\w:]+;", bare):
            return []  # declared only
        if match := OPTIONS.match(bare):
            return [f"Options of {match.group(1)}."]
        inside = self.scopes[-1] if self.scopes else "namespace"
        if match := FIELD.match(bare) if inside in ("struct", "options") else None:
            if tensors := TENSORS.match(bare):
                return [f"TensorFlow's output {tensors.group(1)}."]
            value = match.group(1) or match.group(2)
            if value and value != "{}":
                return [f"If not given: {value}."]
            return ["Empty if not given."] if value or inside == "options" else []
        if match := ENUMERATOR.match(bare) if inside == "enum" else None:
            return [f"Value {match.group(1)}." if match.group(1) else "By its name."]
        if inside in ("class", "struct", "options") and (match := CONSTRUCTOR.match(bare)):
            return [f"Ends a {match.group(2)}." if match.group(1) else f"Makes a {match.group(2)}."]
        if match := ONE_LINE.match(bare):
            return [f"Is `{match.group(1)}`."]
        if re.match(r"\s+using \w+ =", bare):
            return ["A short name for the type."]
        if match := OPERATOR.search(bare):
            return ["Takes over the value of another." if match.group(1) == "=" else "Whether both are equal."]
        if not any(scope != "namespace" for scope in self.scopes) and not bare.startswith("namespace"):
            return self.file_comment
        return []

    def code(self, line, following):
        indent = re.match(r"\s*", line).group()
        match = TRAILING.match(line)
        bare, behind = (match.group(1), match.group(2)) if match else (line, None)
        starts = (not self.open_code and self.declares() and not LABEL.match(bare) and
                  (not re.match(r"\s*[}#]", bare) or bare.startswith("#define")))
        if behind is not None and behind.startswith(("NOLINT", "namespace")):
            behind = None
        if self.block:
            self.group = self.block
            self.write(self.block, "///" if starts else "//", indent)
            self.block = []
        elif starts and behind is None:
            self.write(self.group or self.words_of(bare, following), "///", indent)
        elif starts and re.search(r"[{>]$|^\s*(?:enum|struct|class) ", bare):
            self.write([behind], "///", indent)
            behind = None
        if starts and (several := SEVERAL.match(bare)):
            self.one_by_one(several, behind)
        else:
            self.out.append(bare if behind is None else f"{bare}  {'///<' if self.declares() else '//'} {plain(behind)}")
        self.trailing = behind is not None
        if LABEL.match(bare):
            self.group = []
        else:
            self.follow(bare)

    def one_by_one(self, several, behind):
        """Declares several fields of a line each with the words of all."""
        indent, kind, names = several.groups()
        words = []
        if behind is None:
            while self.out and self.out[-1].startswith(f"{indent}///"):
                words.insert(0, self.out.pop())
        else:
            words = [f"{indent}/// {plain(behind)}"]
        for name in names.split(", "):
            self.out += [*words, f"{indent}{kind} {name};"]

    def words_of(self, bare, following):
        if re.match(r"\s*template <.*>$", bare):
            following = re.sub(r"requires .* (?=[A-Z]\w*\([^()]*\)$)", "", following)
            return self.implied(f"{bare} {following.strip()}") or self.implied(following)
        return self.implied(bare)

    def follow(self, bare):
        """Keeps track of braces and of declarations that are not ended."""
        text = re.sub(r'"(?:\\.|[^"\\])*"' + r"|'(?:\\.|[^'\\])'", "", bare).strip()
        if text.startswith("#"):
            return
        before = self.open_code
        self.open_code = f"{before} {text}".strip()
        for i, sign in enumerate(text):
            if sign == "{":
                opened = SCOPE.search(f"{before} {text[:i + 1]}".strip())
                kind = opened.group(1) if opened else "body"
                self.scopes.append("options" if OPTIONS.match(bare) else kind)
            elif sign == "}" and self.scopes:
                self.scopes.pop()
        inside = self.scopes[-1] if self.scopes else "namespace"
        if text.endswith((";", "}")) or text.endswith("{") and inside != "body" or text.endswith(",") and inside == "enum":
            self.open_code = ""
            if text.endswith("{"):
                self.group = []
        elif inside == "body" and text.endswith("{"):
            self.open_code = ""


def is_silent(line):
    return re.search(r"= (?:delete|default);", line) is not None


def main():
    lines = pathlib.Path(sys.argv[1]).read_text().splitlines()
    start = 0
    while start < len(lines) and lines[start].startswith("//"):
        start += 1
    rewriter = Rewriter([line[2:].strip() for line in lines[:start]])
    for number, line in enumerate(lines[start:], start + 1):
        comment = COMMENT.match(line)
        if comment:
            rewriter.comment(*comment.groups())
        elif not line.strip():
            rewriter.empty()
        elif is_silent(line) and rewriter.declares() and not rewriter.open_code:
            rewriter.block = []
        else:
            rewriter.code(line, lines[number] if number < len(lines) else "")
    print("\n".join(rewriter.out))


main()

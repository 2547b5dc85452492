#!/usr/bin/env python3
"""tools/check on small repositories: one in order, and the same with one file broken in each way a rule is there for."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "tools" / "check"

ORDERED = {
    ".clang-format": "BasedOnStyle: Google\nColumnLimit: 100\n",
    "README.md": "# Small\n\nSee [base](sextant/base/README.md) and [the web](https://example.org).\n",
    "tools/layers.txt": "# module: what it may include\nbase:\ndevice: base\nops: base device\nruntime: base device\n",
    "sextant/sextant.h": '#pragma once\n\n#include "sextant/base/error.h"\n',
    "sextant/base/README.md": "# base\n\n`error.h` and `export.h`.\n",
    "sextant/base/export.h": '#pragma once\n\n#define SEXTANT_API __attribute__((visibility("default")))\n',
    "sextant/base/error.h": """#pragma once

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

class Forward;

class SEXTANT_API Error {
 public:
  int code() const { return 1; }
};

template <typename T>
struct Holder {
  T value;
};

void Throw(const Error& error);

}  // namespace sextant

#pragma GCC visibility pop
""",
    "sextant/device/README.md": "# device\n\n`device.h`; `cpu/gemm.h`.\n",
    "sextant/device/device.h": '#pragma once\n\n#include "sextant/base/error.h"\n',
    "sextant/device/cpu/gemm.h": "#pragma once\n",
    "sextant/ops/README.md": "# ops\n\n`add.h`\n",
    "sextant/ops/CMakeLists.txt": "sextant_op_family(add Add)\n",
    "sextant/ops/add.h": '#pragma once\n\n#include "sextant/base/error.h"\n',
    "sextant/ops/add_cpu.cc": '#include "sextant/device/device.h"\n',
    "sextant/runtime/README.md": "# runtime\n\n`session.h`\n",
    "sextant/runtime/session.h": '#pragma once\n\n#include "sextant/device/device.h"\n',
    "sextant/runtime/session_test.cc": '#include "sextant/device/cpu/gemm.h"\n\n// ../shared/golden\n',
}

LONG_FUNCTION = "namespace sextant {{\n\nint Sum(int x) {{\n{}  return x;\n}}\n\n}}  // namespace sextant\n"
LONG_METHOD = "class Adder {{\n public:\n  int Sum(int x) const {{\n{}    return x;\n  }}\n}};\n"


class ChecksTest(unittest.TestCase):
    def check(self, *arguments, **changed):
        """What tools/check prints, and its status, for the ordered repository with these files changed."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in {**ORDERED, **changed}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            subprocess.run(["git", "init", "-q", root], check=True)
            run = subprocess.run([sys.executable, CHECK, "--root", root, *arguments], capture_output=True, text=True)
            self.assertEqual(run.stderr, "")
            return run.stdout, run.returncode

    def expect(self, place, text, **changed):
        """One problem, at this place, with these words."""
        said, status = self.check(**changed)
        lines = said.splitlines()
        self.assertEqual((status, len(lines)), (1, 2), said)
        self.assertTrue(lines[0].startswith(place + ": "), said)
        self.assertIn(text, lines[0])

    def test_an_ordered_repository_passes(self):
        said, status = self.check()
        self.assertEqual((status, said.startswith("ok: ")), (0, True), said)

    def test_format(self):
        self.expect("sextant/ops/add.cc:1", "run clang-format -i sextant/ops/add.cc",
                    **{"sextant/ops/add.cc": "int  x ;\n"})

    def test_layers(self):
        self.expect("sextant/base/clock.cc:1", "base may not include device",
                    **{"sextant/base/clock.cc": '#include "sextant/device/device.h"\n'})
        self.expect("sextant/other/x.cc", "'other' is not in tools/layers.txt",
                    **{"sextant/other/x.cc": "int x;\n", "sextant/other/README.md": "x\n"})

    def test_no_spelling_of_an_include_passes_by_the_layers(self):
        for line in ("<sextant/device/device.h>", '"../device/device.h"', '"sextant/base/../device/device.h"'):
            said, status = self.check("--only", "layers", **{"sextant/base/clock.cc": f"#include {line}\n"})
            self.assertEqual((status, len(said.splitlines())), (1, 3), said)
            self.assertIn('sextant/base/clock.cc:1: headers are included by their names from the root: write #include "sextant/device/device.h"', said)
            self.assertIn("sextant/base/clock.cc:1: base may not include device", said)
        said, status = self.check("--only", "layers", **{"sextant/ops/add.cc": '#  include "sextant/device/device.h"\n'})
        self.assertIn("the definition of an op sees no device", said)
        # Of the system, though a file of that name lies beside.
        self.assertEqual(self.check(**{"sextant/ops/add.cc": "#include <add.h>\n"})[1], 0)

    def test_op_definitions_see_no_device(self):
        self.expect("sextant/ops/add.cc:1", "the definition of an op sees no device",
                    **{"sextant/ops/add.cc": '#include "sextant/device/device.h"\n'})

    def test_op_headers_begin_with_the_names_of_their_ops(self):
        source = 'void RegisterAdd(OpRegistry& registry) { registry.Add(OpDef("AddV2")); }\n'
        said = "the first line names no op that sextant/ops/add.cc registers"
        for line in ("// Sums of two tensors.", "// Add", "// Adding, with broadcasting.", "// Sub: differences.", "#pragma once"):
            self.expect("sextant/ops/add.h:1", said,
                        **{"sextant/ops/add.cc": source, "sextant/ops/add.h": line + "\n#pragma once\n"})
        for line in ("// Add: sums of two tensors.", "// AddV2, AddN: sums.", "// AddV2 and its gradient: sums."):
            self.assertEqual(self.check(**{"sextant/ops/add.cc": source, "sextant/ops/add.h": line + "\n#pragma once\n"})[1], 0)

    def test_the_runtime_sees_no_cpu(self):
        self.expect("sextant/runtime/session.cc:1", "the runtime does not include device/cpu",
                    **{"sextant/runtime/session.cc": '#include "sextant/device/cpu/gemm.h"\n'})

    def test_files_have_400_lines(self):
        self.expect("sextant/ops/add.cc:401", "the file has 401 lines", **{"sextant/ops/add.cc": "// x\n" * 401})
        self.assertEqual(self.check(**{"sextant/ops/add.cc": "// x\n" * 400})[1], 0)

    def test_functions_have_80_lines(self):
        self.expect("sextant/ops/add.cc:3", "Sum has 81 lines",
                    **{"sextant/ops/add.cc": LONG_FUNCTION.format("  x += '{';\n" * 78)})
        self.assertEqual(self.check(**{"sextant/ops/add.cc": LONG_FUNCTION.format("  x += '{';\n" * 77)})[1], 0)
        self.expect("sextant/ops/add.cc:3", "Sum has 81 lines",
                    **{"sextant/ops/add.cc": LONG_METHOD.format("    x += 1;  // {\n" * 78)})
        self.expect("sextant/ops/add.cc:1", "a lambda has 81 lines",
                    **{"sextant/ops/add.cc": "auto sum = [](int x) {\n" + "  x += 1;\n" * 78 + "  return x;\n};\n"})

    def test_tables_are_no_functions(self):
        table = "const int kTable[] = {\n" + "    1,  //\n" * 90 + "};\n"
        self.assertEqual(self.check(**{"sextant/ops/add.cc": table})[1], 0)

    def test_readmes_name_headers(self):
        self.expect("sextant/ops/sub.h", "not named in sextant/ops/README.md", **{"sextant/ops/sub.h": "#pragma once\n"})

    def test_links_lead_somewhere(self):
        self.expect("docs/guide.md:2", "the link to ../sextant/ops/mul.md leads nowhere",
                    **{"docs/guide.md": "# Guide\n[mul](../sextant/ops/mul.md)\n"})
        self.expect("docs/guide.md:3", "the link to mul.md leads nowhere", **{"docs/guide.md": "# Guide\n[the\nproduct](mul.md)\n"})
        self.expect("docs/guide.md:3", "the link to mul.md leads nowhere", **{"docs/guide.md": "[mul][1]\n\n[1]: mul.md\n"})
        self.expect("docs/guide.md:1", "the link to mul.png leads nowhere", **{"docs/guide.md": '<img src="mul.png"/>\n'})
        self.expect("docs/guide.md:2", "has no heading #second", **{"docs/guide.md": "# First\n[there](#second)\n"})
        self.assertEqual(self.check(**{"docs/guide.md": "# The `first` one\n[there](#the-first-one)\n"})[1], 0)

    def test_sources_that_are_named_are_there(self):
        self.expect("docs/guide.md:2", "there is no sextant/ops/mul.cc", **{"docs/guide.md": "# Guide\nSee `sextant/ops/mul.cc`.\n"})
        self.expect("sextant/ops/add.cc:1", "there is no gemn.h", **{"sextant/ops/add.cc": "// As in gemn.h.\n"})
        there = "Read `runtime/session.h`, device/cpu/gemm.h; `x.cc` and `ops/x_cpu.cc` stand for any, as NAME.cc does.\n"
        self.assertEqual(self.check(**{"docs/guide.md": there, "sextant/ops/add.cc": "int x;  // ops/add.h\n"})[1], 0)

    def test_no_path_of_a_machine(self):
        self.expect("docs/guide.md:1", "'/home/me/data' is a path of one machine",
                    **{"docs/guide.md": "Put it into /home/me/data first.\n"})

    def test_no_file_that_users_lack(self):
        self.expect("sextant/ops/add.cc:1", "'../shared' names a file that users do not have",
                    **{"sextant/ops/add.cc": "// As in ../shared/x.\n"})
        self.expect("sextant/ops/add.cc:1", "'facts/ops' names a file that users do not have",
                    **{"sextant/ops/add.cc": "// Spelled as in facts/ops.tsv.\n"})

    def test_public_headers_are_exported(self):
        included = ORDERED["sextant/sextant.h"] + '#include "sextant/ops/add.h"\n'
        self.expect("sextant/ops/add.h", "public, as sextant/sextant.h includes it", **{"sextant/sextant.h": included})
        plain = ORDERED["sextant/base/error.h"].replace("class SEXTANT_API", "class")
        self.expect("sextant/base/error.h:11", "write SEXTANT_API before Error", **{"sextant/base/error.h": plain})
        pushed = "#pragma once\n\n#pragma GCC visibility push(default)\n#pragma GCC visibility pop\n"
        self.expect("sextant/ops/add.h:3", "nothing public includes it", **{"sextant/ops/add.h": pushed})

    def test_one_rule_alone(self):
        said, status = self.check("--only", "words", **{"sextant/ops/add.cc": "int  x ;\n"})
        self.assertEqual((said, status), ("ok: words\n", 0))


if __name__ == "__main__":
    unittest.main()

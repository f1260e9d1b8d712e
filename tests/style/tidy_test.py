#!/usr/bin/env python3
"""Every rule of tools/tidy.py refuses what it is for and passes what is right."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import tidy  # noqa: E402

TABLE = "set(HOLDFAST_MAY_USE_base)\nset(HOLDFAST_MAY_USE_core base)\n"


def findings(rule, **files):
    """Files are given as path with slashes spelled __ and dots spelled _DOT_."""
    tree = {k.replace("__", "/").replace("_DOT_", "."): v for k, v in files.items()}
    return list(rule(tidy.Tree(tree)))


class TidyTest(unittest.TestCase):
    def refuses(self, rule, **files):
        self.assertTrue(findings(rule, **files), f"{rule.__name__} passed {files}")

    def passes(self, rule, **files):
        self.assertEqual(findings(rule, **files), [])

    def test_lines_and_whitespace(self):
        self.refuses(tidy.lines_and_whitespace, src__a_DOT_cc="int a; \n")
        self.refuses(tidy.lines_and_whitespace, src__a_DOT_cc="int a;")
        self.refuses(tidy.lines_and_whitespace, src__a_DOT_cc="\tint a;\n")
        self.refuses(tidy.lines_and_whitespace, src__a_DOT_cc="x" * 101 + "\n")
        self.passes(tidy.lines_and_whitespace, src__a_DOT_cc="x" * 100 + "\n")
        self.passes(tidy.lines_and_whitespace, README_DOT_md="x" * 101 + "\n")

    def test_banned_calls(self):
        for call in (
            "std::this_thread::sleep_for(1s);",
            "usleep(5);",
            "auto t = std::chrono::steady_clock::now();",
            "std::random_device seed;",
            "int r = rand();",
            "assert(x);",
            "using namespace std;",
            "throw Oops{};",
        ):
            self.refuses(tidy.banned_calls, src__core__a_DOT_cc=call)
        self.refuses(tidy.banned_calls, tests__a_test_DOT_cc="GTEST_SKIP();")
        self.refuses(tidy.banned_calls, tests__a_test_DOT_cc="TEST(A, DISABLED_b) {")
        for call in (
            "static_assert(x);",
            "HOLDFAST_ASSERT(x);",
            "co_await env.sleep_for(1s);",
            "// never assert(x)",
            "auto r = source.rand();",
        ):
            self.passes(tidy.banned_calls, src__core__a_DOT_cc=call)
        self.passes(tidy.banned_calls, src__base__a_DOT_cc="steady_clock::now()")
        self.passes(tidy.banned_calls, src__core__a_test_DOT_cc="throw Oops{};")

    def test_leftovers(self):
        self.refuses(tidy.leftovers, src__a_DOT_cc="// TODO later\n")
        self.refuses(tidy.leftovers, README_DOT_md="see /home/ann/x\n")
        self.passes(tidy.leftovers, README_DOT_md="see ~/work/x and todo lists\n")

    def test_sizes(self):
        self.refuses(tidy.sizes, src__a_DOT_cc="int a;\n" * 401)
        self.passes(tidy.sizes, src__a_DOT_cc="int a;\n" * 400)
        self.refuses(tidy.sizes, src__a_DOT_cc="void f() {\n" + "  g();\n" * 69 + "}\n")
        self.passes(tidy.sizes, src__a_DOT_cc="void f() {\n" + "  g();\n" * 68 + "}\n")
        self.refuses(
            tidy.sizes,
            src__a_DOT_h="class A {\n  void f() {\n" + "    g();\n" * 69 + "  }\n};\n",
        )
        self.passes(tidy.sizes, src__a_DOT_h="class A {\n" + "  int a;\n" * 99 + "};\n")

    def test_headers(self):
        self.refuses(tidy.headers, src__a_DOT_h="#pragma once\n")
        self.refuses(tidy.headers, src__a_DOT_h="// What it is.\n\nint a;\n")
        self.passes(tidy.headers, src__a_DOT_h="// What it is.\n\n#pragma once\n")

    def test_directions(self):
        table = {"cmake__HoldfastModule_DOT_cmake": TABLE}
        up = '#include "core/b.h"\n'
        down = '#include "base/b.h"\n#include "holdfast/token.h"\n#include <vector>\n'
        self.refuses(tidy.directions, src__base__a_DOT_cc=up, **table)
        self.refuses(tidy.directions, src__core__a_DOT_cc='#include "engines/local/x.h"\n', **table)
        self.refuses(tidy.directions, src__new__a_DOT_cc="", **table)
        self.passes(tidy.directions, src__core__a_DOT_cc=down + up, **table)
        self.passes(tidy.directions, src__base__a_test_DOT_cc=up, **table)

    def test_public_face(self):
        boost = "#include <boost/asio/awaitable.hpp>\n"
        self.refuses(tidy.public_face, include__holdfast__a_DOT_h='#include "base/hex.h"\n')
        self.refuses(tidy.public_face, include__holdfast__a_DOT_h=boost)
        self.passes(tidy.public_face, include__holdfast__async_DOT_h=boost)

    def test_built(self):
        lists = {"src__core__CMakeLists_DOT_txt": "holdfast_module(core SOURCES a.cc)\n"}
        self.refuses(tidy.built, src__core__b_DOT_cc="", **lists)
        self.refuses(tidy.built, src__core__extra_a_DOT_cc="", **lists)
        self.passes(tidy.built, src__core__a_DOT_cc="", **lists)

    def test_names(self):
        self.refuses(tidy.names, src__core__Big_DOT_cc="")
        self.refuses(tidy.names, src__core__a_DOT_cpp="")
        self.passes(tidy.names, src__core__a_b2_DOT_cc="")

    def test_links(self):
        self.refuses(tidy.links, README_DOT_md="[x](docs/none.md)\n")
        self.refuses(tidy.links, README_DOT_md="[x](#none)\n# Some\n")
        self.refuses(tidy.links, src__a_DOT_cc="// docs/adr/0001-none.md\n")
        self.passes(
            tidy.links,
            README_DOT_md="[x](docs/a.md#the-one) [y](https://example.org) [z](docs)\n",
            docs__a_DOT_md="## The `one`\n",
        )

    def test_readme_example(self):
        code = "int main() {}\n"
        readme = f"text\n```cpp\n{code}```\n"
        self.refuses(tidy.readme_example, README_DOT_md=readme)
        self.refuses(tidy.readme_example, README_DOT_md=readme, examples__quickstart_DOT_cc="x\n")
        self.passes(tidy.readme_example, README_DOT_md=readme, examples__quickstart_DOT_cc=code)

    def test_decisions(self):
        parts = "# 1\n\n## Context\n\n## Decision\n\n## Alternatives\n\n## Consequences\n"
        self.refuses(tidy.decisions, **{"docs__adr__0001-a_DOT_md": "# 1\n"})
        self.refuses(tidy.decisions, **{"docs__adr__a_DOT_md": parts})
        self.passes(tidy.decisions, **{"docs__adr__0001-a_DOT_md": parts})

    def test_every_rule_has_a_test(self):
        for rule in tidy.RULES:
            self.assertTrue(hasattr(self, f"test_{rule.__name__}"), rule.__name__)


if __name__ == "__main__":
    unittest.main()

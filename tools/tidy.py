#!/usr/bin/env python3
"""Checks how the repository reads. Prints one line per finding; exit status 1 if there is any.

Each rule is a function from a Tree to findings. What clang-format and the compiler already see is
not repeated here. tests/style/tidy_test.py shows for every rule a text it refuses.
"""

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

COLUMNS = 100
FILE_LINES = 400
FUNCTION_LINES = 70
SKIPPED_FOLDERS = {".git", ".cache", "build", "__pycache__"}
CODE_FOLDERS = ("include/", "src/", "tests/", "examples/", "bench/", "lab/")


@dataclass(frozen=True)
class Ban:
    pattern: str
    instead: str
    # Places where it is right: prefixes of paths.
    allowed: tuple = ()
    tests_too: bool = True


BANS = (
    Ban(r"\bthis_thread::sleep_|\b(u|nano)sleep\(", "wait for a condition, or use Env",
        ("src/engines/local/token_mint", "src/engines/local/file_lock", "bench/")),
    Ban(r"\b(steady|system|high_resolution|file|utc)_clock::now\b",
        "use BootClock or Env::now", ("src/base/", "src/runtime/"), tests_too=False),
    Ban(r"\bstd::random_device\b|(?<![\w.>:])s?rand\(", "use Env's chance or fresh_owner",
        ("src/base/", "src/runtime/")),
    Ban(r"(?<![\w_])assert\(", "use HOLDFAST_ASSERT"),
    Ban(r"\busing namespace std;", "name what you use"),
    Ban(r"\bGTEST_SKIP\b|\bDISABLED_", "a test runs, or it goes"),
    Ban(r"(?<![\w_])throw\b(?! *;)", "return a Result",
        ("src/client/mutex", "include/holdfast/mutex.h"), tests_too=False),
)


class Tree:
    """The text files of a checkout, by path relative to its root."""

    def __init__(self, files):
        self.files = files

    @classmethod
    def read(cls, root):
        files = {}
        for folder, names, leaves in os.walk(root):
            names[:] = [name for name in names if name not in SKIPPED_FOLDERS]
            for leaf in leaves:
                path = Path(folder, leaf)
                try:
                    files[path.relative_to(root).as_posix()] = path.read_text()
                except UnicodeDecodeError:
                    continue
        return cls(files)

    def matching(self, *suffixes, under=("",)):
        for path, text in sorted(self.files.items()):
            if path.endswith(suffixes) and path.startswith(tuple(under)):
                yield path, text

    def code(self):
        return self.matching(".h", ".cc", under=CODE_FOLDERS)


def without_comment(line):
    return line.split("//", 1)[0]


def lines_and_whitespace(tree):
    for path, text in tree.files.items():
        if text and not text.endswith("\n"):
            yield path, 0, "does not end with a newline"
        for number, line in enumerate(text.split("\n"), 1):
            tabbed = "\t" in line and not path.endswith((".go", "go.mod"))
            if line != line.rstrip() or tabbed:
                yield path, number, "has a tab or a space at its end"
    for path, text in tree.matching(".h", ".cc", ".cmake", ".in", ".py", ".sh", "CMakeLists.txt"):
        for number, line in enumerate(text.split("\n"), 1):
            if len(line) > COLUMNS:
                yield path, number, f"is longer than {COLUMNS} columns"


def banned_calls(tree):
    for path, text in tree.code():
        for ban in BANS:
            in_test = path.startswith("tests/") or path.endswith("_test.cc")
            if path.startswith(ban.allowed) or (in_test and not ban.tests_too):
                continue
            for number, line in enumerate(text.split("\n"), 1):
                found = re.search(ban.pattern, without_comment(line))
                if found:
                    yield path, number, f"has {found.group().strip('(')}: {ban.instead}"


def leftovers(tree):
    # Spelled apart, so that this file passes its own rule.
    words = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b")
    machine = re.compile(r"(?<![\w.~}$-])/(home|work|root|Users)/\w")
    for path, text in tree.files.items():
        if path.startswith("tests/style/"):
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if words.search(line):
                yield path, number, "leaves work behind: do it, or file an issue"
            if machine.search(line):
                yield path, number, "names a path of one machine"


def sizes(tree):
    for path, text in tree.code():
        count = text.count("\n")
        if count > FILE_LINES:
            yield path, 0, f"has {count} lines, more than {FILE_LINES}: split it"
        yield from long_functions(path, text.split("\n"))


def long_functions(path, lines):
    """Formatted code closes a function with a brace under the first column of its head."""
    head = re.compile(r"^(  )?\S.*\{$")
    not_function = re.compile(r"^\s*(namespace|class|struct|enum|union|extern|template)\b|= \{$")
    for start, line in enumerate(lines):
        if not head.match(line) or not_function.search(line):
            continue
        indent = line[: len(line) - len(line.lstrip())]
        for end in range(start + 1, len(lines)):
            if re.match(rf"^{indent}\}}", lines[end]):
                if end - start + 1 > FUNCTION_LINES:
                    yield path, start + 1, f"begins a function of {end - start + 1} lines"
                break


def headers(tree):
    for path, text in tree.matching(".h", under=CODE_FOLDERS):
        rest = [line for line in text.split("\n") if line and not line.startswith("//")]
        if not text.startswith("//"):
            yield path, 1, "does not open with what it is"
        if not rest or rest[0] != "#pragma once":
            yield path, 1, "does not begin with #pragma once"


def module_of(path):
    """The folder's name; a part of an engine with a module of its own has both names."""
    part = re.match(r"src/engines/(\w+)/(driver|store|doctor)/", path)
    if part:
        return f"{part.group(1)}_{part.group(2)}"
    found = re.match(r"src/(?:engines/)?(\w+)/", path)
    return found.group(1) if found else None


def directions(tree):
    """Includes follow the table that CMake links by."""
    table = tree.files.get("cmake/HoldfastModule.cmake", "")
    allowed = {
        name: set(uses.split())
        for name, uses in re.findall(r"^set\(HOLDFAST_MAY_USE_(\w+)([^)]*)\)", table, re.M)
    }
    for path, text in tree.matching(".h", ".cc", under=("src/",)):
        module = module_of(path)
        if path.endswith(("_test.cc", "_testing.cc", "_testing.h")):
            continue
        if module not in allowed:
            yield path, 0, f"is in module {module}, which cmake/HoldfastModule.cmake does not name"
            continue
        for number, line in enumerate(text.split("\n"), 1):
            found = re.match(
                r'#include "(engines/\w+/(?:driver|store|doctor)|engines/\w+|\w+)/', line)
            used = module_of(f"src/{found.group(1)}/") if found else None
            if used and used not in allowed[module] | {module, "holdfast"}:
                yield path, number, f"may not include {found.group(1)}: see ARCHITECTURE.md"


def public_face(tree):
    for path, text in tree.matching(".h", under=("include/",)):
        for number, line in enumerate(text.split("\n"), 1):
            if not line.startswith("#include"):
                continue
            if '"' in line and '"holdfast/' not in line:
                yield path, number, "includes what is not installed"
            if "<boost/" in line and not path.startswith("include/holdfast/async"):
                yield path, number, "brings Boost to programs that block"


def built(tree):
    """A source nobody compiles is not a source."""
    for path, _ in tree.matching(".cc", under=CODE_FOLDERS):
        folder, name = path.rsplit("/", 1)
        while folder:
            text = tree.files.get(f"{folder}/CMakeLists.txt", "")
            stem = name.removesuffix(".cc")
            if re.search(rf"(?<![\w]){re.escape(stem)}(?![\w])", text):
                break
            folder = folder.rpartition("/")[0]
        else:
            yield path, 0, "is named in no CMakeLists.txt"


def names(tree):
    for path, _ in tree.matching("", under=CODE_FOLDERS):
        leaf = path.rsplit("/", 1)[1]
        if leaf.endswith((".cpp", ".hpp", ".cxx", ".c++")):
            yield path, 0, "should end with .h or .cc"
        if leaf.endswith((".h", ".cc")) and not re.fullmatch(r"[a-z0-9_]+\.(h|cc)", leaf):
            yield path, 0, "should be named in snake_case"


def anchor(heading):
    text = re.sub(r"[`*]", "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def links(tree):
    for path, text in tree.matching(".md"):
        prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
        for target in re.findall(r"\]\(([^)\s]+)\)", prose):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, part = target.partition("#")
            full = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            known = full in tree.files or any(f.startswith(full + "/") for f in tree.files)
            if not known:
                yield path, 0, f"links to {target}, which does not exist"
            elif part and part not in map(
                anchor, re.findall(r"^#+ (.*)$", tree.files.get(full, ""), re.M)
            ):
                yield path, 0, f"links to {target}: there is no such heading"
    for path, text in tree.code():
        for target in re.findall(r"\bdocs/[\w/-]+\.md\b", text):
            if target not in tree.files:
                yield path, 0, f"names {target}, which does not exist"


def readme_example(tree):
    readme = tree.files.get("README.md", "")
    example = tree.files.get("examples/quickstart.cc")
    blocks = re.findall(r"^```cpp\n(.*?)^```$", readme, re.M | re.S)
    if example is None:
        yield "examples/quickstart.cc", 0, "is missing"
    elif example not in blocks:
        yield "README.md", 0, "does not show examples/quickstart.cc as it is"


def decisions(tree):
    for path, text in tree.matching(".md", under=("docs/adr/",)):
        if not re.fullmatch(r"docs/adr/\d{4}-[a-z0-9-]+\.md", path):
            yield path, 0, "should be named NNNN-title.md"
        for part in ("Context", "Decision", "Alternatives", "Consequences"):
            if f"\n## {part}\n" not in text:
                yield path, 0, f"has no section {part}"


RULES = (
    lines_and_whitespace,
    banned_calls,
    leftovers,
    sizes,
    headers,
    directions,
    public_face,
    built,
    names,
    links,
    readme_example,
    decisions,
)


def check(tree):
    return [finding for rule in RULES for finding in rule(tree)]


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent)
    findings = check(Tree.read(root))
    for path, number, text in findings:
        print(f"{path}:{number}: {text}" if number else f"{path}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

"""Every defect has its line in docs/internals/peer_defects.md, and every test named there is."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/internals/peer_defects.md"
EXPECTED = {f"D{i}" for i in range(1, 21)} | {str(i) for i in range(9, 27)}
EXPECTED |= {f"E{i}" for i in (1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 27, 28, 30, 31, 32)}
EXPECTED |= {f"Z{i}" for i in (*range(10, 22), 32)}


def rows():
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 3 and re.fullmatch(r"[DEZ]?\d+", cells[0]):
            yield cells[0], re.findall(r"`(\w+)\.(\w+)`", cells[2])


def defined_tests():
    found = set()
    for folder in ("src", "tests", "lab"):
        for path in (ROOT / folder).rglob("*_test.cc"):
            found.update(re.findall(r"TEST(?:_[FP])?\((\w+),\s*(\w+)\)", path.read_text()))
    return found


def main():
    defined = defined_tests()
    table = dict(rows())
    problems = [f"{number}: no line in {PAGE.name}" for number in sorted(EXPECTED - table.keys())]
    for number, tests in table.items():
        if not tests:
            problems.append(f"{number}: names no test")
        missing = [test for test in tests if test not in defined]
        problems += [f"{number}: no test {'.'.join(test)}" for test in missing]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

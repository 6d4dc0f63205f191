"""tests/README.md names only tests that exist."""
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def defined():
    """Suite.Name of all GoogleTest tests."""
    found = set()
    for path in glob.glob(os.path.join(HERE, "*_test.cpp")):
        with open(path, encoding="utf-8") as file:
            for suite, name in re.findall(r"^(?:TYPED_)?TEST(?:_P|_F)?\((\w+),\s*(\w+)\)", file.read(), re.M):
                found.add(f"{suite}.{name}")
    return found


with open(os.path.join(HERE, "README.md"), encoding="utf-8") as file:
    named = set(re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", file.read()))
missing = sorted(named - defined())
assert len(named) > 20, named
if missing:
    print("README.md names tests that are not there:", ", ".join(missing))
    sys.exit(1)

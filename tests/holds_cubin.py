"""Exits 0 if a program holds machine code (a cubin) for an architecture, else 1.

    holds_cubin.py build/release/arbench sm_120 [--cuobjdump PATH]

Asks cuobjdump where there is one, and else reads the fat binaries itself: a container header, then
one header and payload per cubin or PTX text.
"""
import argparse
import re
import shutil
import struct
import subprocess
import sys

MAGIC = struct.pack("<I", 0xBA55ED50)
CONTAINER = struct.Struct("<IHHQ")  # magic, version, header size, size of what follows
ENTRY = struct.Struct("<HHIQ12xI")  # kind, version, header size, payload size, ..., architecture
CUBIN = 2


def scanned(data: bytes) -> set[str]:
    """The architectures of all cubins in the fat binaries that `data` holds."""
    found = set()
    start = data.find(MAGIC)
    while start >= 0 and start + CONTAINER.size <= len(data):
        _, version, header_size, size = CONTAINER.unpack_from(data, start)
        at, end = start + header_size, start + header_size + size
        if version != 1 or header_size < CONTAINER.size or end > len(data):
            at = end = start + len(MAGIC)  # the same four bytes by chance
        while at + ENTRY.size <= end:
            kind, _, entry_header, payload, architecture = ENTRY.unpack_from(data, at)
            if entry_header < ENTRY.size:
                break
            if kind == CUBIN:
                found.add(f"sm_{architecture}")
            at += entry_header + payload
        start = data.find(MAGIC, end)
    return found


def listed(cuobjdump: str, program: str) -> set[str]:
    """The same, by NVIDIA's tool."""
    run = subprocess.run([cuobjdump, "--list-elf", program], capture_output=True, text=True)
    return set(re.findall(r"\.(sm_\d+[af]?)\.cubin", run.stdout))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("architecture")
    parser.add_argument("--cuobjdump", default="cuobjdump")
    args = parser.parse_args()
    cuobjdump = shutil.which(args.cuobjdump)
    if cuobjdump:
        found = listed(cuobjdump, args.program)
    else:
        with open(args.program, "rb") as file:
            found = scanned(file.read())
    print(f"{args.program} holds {', '.join(sorted(found)) or 'no GPU code'}"
          f" (by {cuobjdump or 'its fat binaries'})")
    return 0 if args.architecture in found else 1


if __name__ == "__main__":
    sys.exit(main())

"""What programs built by different CUDA toolkits hold. Used by build_matrix.sh.

built_code.py CUOBJDUMP PROGRAM... prints, for each program, its compilers, cubins and PTX by
architecture, then a table of the kernels whose resources differ between the programs.
"""
import os
import re
import subprocess
import sys


def output(*command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def cached(program, name):
    """A variable of the build's CMakeCache.txt."""
    with open(os.path.join(os.path.dirname(program), "CMakeCache.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith(name + ":"):
                return line.split("=", 1)[1].strip()
    return ""


def last_line(command):
    try:
        return output(command, "--version").strip().splitlines()[-1]
    except (OSError, subprocess.CalledProcessError, IndexError):
        return "unknown"


def code(listing):
    """{"sm_90": 7} out of cuobjdump's list of cubins or PTX files."""
    counts = {}
    for name in re.findall(r"\.(sm_\w+)\.(?:cubin|ptx)$", listing, re.M):
        counts[name] = counts.get(name, 0) + 1
    return counts


def short(kernel):
    """Without what is the same everywhere: "OneShotPull, float, 0"."""
    name = re.sub(r"\(anonymous namespace\)::|arbench::|port_cuda::|^void ", "", kernel)
    inner = re.match(r"\w*<(.*)>\(", name)
    return inner.group(1) if inner else re.sub(r"\(.*", "", name)


def resources(listing):
    """{(architecture, kernel): (registers, stack, shared)} out of `cuobjdump -res-usage`."""
    found, architecture, mangled = {}, "", ""
    for line in listing.splitlines():
        if match := re.match(r"arch = (\w+)", line):
            architecture = match.group(1)
        elif match := re.match(r"\s*Function (\S+):$", line):
            mangled = match.group(1)
        elif match := re.match(r"\s*REG:(\d+) STACK:(\d+) SHARED:(\d+)", line):
            found[architecture, mangled] = tuple(int(n) for n in match.groups())
    names = output("c++filt", text="\n".join(name for _, name in found)).splitlines()
    return {(architecture, short(name)): value
            for ((architecture, _), value), name in zip(found.items(), names)}


def describe(cuobjdump, program):
    nvcc = cached(program, "CMAKE_CUDA_COMPILER")
    host = cached(program, "CMAKE_CUDA_HOST_COMPILER") or cached(program, "CMAKE_CXX_COMPILER")
    print(program)
    print(f"  nvcc           {last_line(nvcc)}")
    print(f"  ptxas          {last_line(os.path.join(os.path.dirname(nvcc), 'ptxas'))}")
    print(f"  host compiler  {output(host, '--version').splitlines()[0]}")
    print(f"  flags          {cached(program, 'CMAKE_BUILD_TYPE')}, architectures "
          f"{cached(program, 'ARBENCH_ARCHITECTURES')}")
    for kind, option in (("cubins", "-lelf"), ("PTX", "-lptx")):
        held = ", ".join(f"{count} {name}" for name, count in
                         sorted(code(output(cuobjdump, option, program)).items()))
        print(f"  {kind:<13}  {held or 'none'}")


def compare(programs, tables):
    """Lines of a table: registers / stack bytes / shared bytes of kernels that are not alike."""
    keys = sorted(set().union(*tables))
    different = [key for key in keys if len({table.get(key) for table in tables}) > 1]
    yield (f"{len(keys)} kernels, {len(different)} with other resources from one build to another "
           "(registers / stack bytes, for spills too / shared bytes):")
    names = [os.path.basename(os.path.dirname(program)) for program in programs]
    rows = [("architecture", "kernel", *names)]
    for key in different:
        rows.append((*key, *("/".join(map(str, table[key])) if key in table else "-"
                             for table in tables)))
    if not different:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip()


def main():
    cuobjdump, *programs = sys.argv[1:]
    for program in programs:
        describe(cuobjdump, program)
    tables = [resources(output(cuobjdump, "-res-usage", program)) for program in programs]
    for line in compare(programs, tables):
        print(line)


if __name__ == "__main__":
    main()

#!/usr/bin/env bash
# Puts a CUDA toolkit, made of NVIDIA's Python wheels, into a folder of its own; nothing is installed.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/fetch_toolkit.sh VERSION PREFIX
Makes the folder PREFIX/cuda-VERSION, checks it by compiling a kernel for sm_120, and prints it on
stdout. VERSION is major.minor, 12.8 or later; its newest patch is taken, from the package index
that pip is configured for. Needs python3 with pip. Nothing is done if the folder is there already.
From 13.0 on the wheels hold a whole compiler, for build.sh --cuda and build_matrix.sh. Those of 12
hold no nvcc, but NVRTC, ptxas, headers and the runtime.
END
}

say() { echo "fetch_toolkit: $*" >&2; }
fail() { say "$*" && exit 1; }
case ${1:-} in -h | --help) usage && exit 0 ;; esac
(($# == 2)) || { usage >&2 && exit 2; }
version=$1 prefix=$2
if ! [[ $version =~ ^([0-9]+)\.([0-9]+)$ ]] ||
  ((BASH_REMATCH[1] < 12 || BASH_REMATCH[1] == 12 && BASH_REMATCH[2] < 8)); then
  say "VERSION is '$version'; accepts major.minor from 12.8 on, such as 13.0"
  exit 2
fi
major=${version%.*}
toolkit=$prefix/cuda-$version
if [[ -d $toolkit ]]; then
  say "is there already: $toolkit"
  echo "$toolkit"
  exit
fi
python3 -m pip --version >/dev/null 2>&1 || fail "needs pip: apt-get install python3-pip"

mkdir -p "$prefix"
work=$(mktemp -d "$prefix/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
parts=nvcc,cudart,cccl,nvrtc
((major < 13)) || parts+=,cuobjdump
say "downloading the wheels of $version"
if ! python3 -m pip download --quiet --disable-pip-version-check --only-binary :all: \
  --dest "$work/wheels" "cuda-toolkit[$parts]==$version.*" >"$work/log" 2>&1; then
  cat "$work/log" >&2
  fail "no wheels of CUDA $version"
fi

# Wheels of 13 share one folder, those of 12 have one each.
for wheel in "$work"/wheels/*.whl; do python3 -m zipfile -e "$wheel" "$work/files"; done
mkdir "$work/toolkit"
for folder in "$work"/files/nvidia/*/; do
  rm -f "$folder/__init__.py"
  cp -a "$folder/." "$work/toolkit/"
done
find "$work/toolkit" -path '*/bin/*' -type f -exec chmod +x {} +
ln -s lib "$work/toolkit/lib64"
for library in "$work"/toolkit/lib/lib*.so.*; do # the names that linkers and dlopen() look for
  name=$(basename "$library")
  ln -sf "$name" "$work/toolkit/lib/${name%%.so.*}.so"
done

# compile SOURCE: with the toolkit's NVRTC, to a cubin for sm_120.
nvrtc_compiles() {
  python3 - "$work/toolkit/lib" "$version" "$1" <<'END'
import ctypes
import sys

folder, version, source = sys.argv[1:]
nvrtc = ctypes.CDLL(folder + "/libnvrtc.so")
major, minor = ctypes.c_int(), ctypes.c_int()
program, size = ctypes.c_void_p(), ctypes.c_size_t()
option = (ctypes.c_char_p * 1)(b"--gpu-architecture=sm_120")
assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
assert f"{major.value}.{minor.value}" == version, f"NVRTC is {major.value}.{minor.value}"
assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), None, 0, None, None) == 0
assert nvrtc.nvrtcCompileProgram(program, 1, option) == 0, "NVRTC does not compile for sm_120"
assert nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)) == 0 and size.value > 0
END
}

kernel='extern "C" __global__ void add(float* x) { x[threadIdx.x] += 1; }'
nvrtc_compiles "$kernel" || fail "the NVRTC of these wheels does not work"
if [[ -x $work/toolkit/bin/nvcc ]]; then
  "$work/toolkit/bin/nvcc" --version | grep -q "release $version," || fail "nvcc is not $version"
  printf '#include <cuda/atomic>\n%s\nint main() { add<<<1, 1>>>(nullptr); }\n' "$kernel" >"$work/check.cu"
  "$work/toolkit/bin/nvcc" -arch=sm_120 -o "$work/check" "$work/check.cu" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    fail "the nvcc of these wheels does not work"
  }
else
  say "the wheels of $version hold no nvcc: this folder serves NVRTC alone"
fi
mv "$work/toolkit" "$toolkit"
echo "$toolkit"

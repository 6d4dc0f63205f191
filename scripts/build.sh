#!/usr/bin/env bash
# Configures and builds arbench. Prints the build folder on stdout and all else on stderr.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/build.sh [--preset NAME] [--cuda PATH] [--arch LIST] [--target NAME]... [-DNAME=VALUE]...
Builds into build/NAME, or build/cuda-VERSION with --cuda, and prints that folder on stdout.
  --preset NAME  release (default), debug, tsan or asan-ubsan
  --cuda PATH    toolkit folder, the one with bin/nvcc in it; without it CMake looks for one
  --arch LIST    GPU code, as in CMAKE_CUDA_ARCHITECTURES, by commas: 90-real,120
  --target NAME  builds this target instead of what the preset builds
  -DNAME=VALUE   goes to CMake
END
}

say() { printf 'build: %s\n' "$*" >&2; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=release cuda='' targets=()
# Without --arch a value of an earlier call does not stay.
options=(-UARBENCH_ARCHITECTURES)
while (($#)); do
  case $1 in
    --preset) preset=${2:?--preset needs a name} && shift ;;
    --cuda) cuda=${2:?--cuda needs a folder} && shift ;;
    --arch) options[0]=-DARBENCH_ARCHITECTURES=${2:?--arch needs a list} && shift ;;
    --target) targets+=(--target "${2:?--target needs a name}") && shift ;;
    -D?*) options+=("$1") ;;
    -h | --help) usage && exit 0 ;;
    *) say "unknown argument '$1'" && usage >&2 && exit 2 ;;
  esac
  shift
done
options[0]=${options[0]//,/;}

name=$preset
if [[ -n $cuda ]]; then
  nvcc=$cuda/bin/nvcc
  version=$("$nvcc" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p') || version=''
  if [[ -z $version ]]; then
    say "no toolkit in '$cuda': $nvcc does not run"
    exit 2
  fi
  nvcc=$(cd "$cuda/bin" && pwd)/nvcc
  options+=("-DCMAKE_CUDA_COMPILER=$nvcc" -DARBENCH_CUDA=ON)
  name=cuda-$version
  [[ $preset == release ]] || name=$preset-$name
fi
folder=$root/build/$name
mkdir -p "$folder"

if [[ ! -e $folder/CMakeCache.txt ]] && command -v ninja >/dev/null; then
  options+=(-G Ninja)
fi
if ! cmake -S "$root" --preset "$preset" -B "$folder" "${options[@]}" >"$folder/configure.log" 2>&1; then
  sed -n '/CMake Error/,$p' "$folder/configure.log" >&2
  say "configuring failed; the whole log is $folder/configure.log"
  exit 1
fi
sed -n 's/^-- arbench: /build: /p' "$folder/configure.log" >&2

if [[ $preset == tsan && ${#targets[@]} == 0 ]]; then
  targets=(--target arbench_tests)
fi
build=(cmake --build "$folder" --parallel "$(nproc)" "${targets[@]}")
if [[ -t 2 ]]; then
  "${build[@]}" >&2
elif ! "${build[@]}" >"$folder/build.log" 2>&1; then
  tail -n 60 "$folder/build.log" >&2
  say "failed; the whole log is $folder/build.log"
  exit 1
fi
printf '%s\n' "$folder"

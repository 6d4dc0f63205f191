#!/usr/bin/env bash
# One build per CUDA toolkit from the same sources and flags, and what the builds hold.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/build_matrix.sh [--prefix DIR] [--arch LIST] [--allow-dirty] TOOLKIT TOOLKIT...
Builds arbench into build/cuda-VERSION with each toolkit, from the present commit, and prints what
the programs hold: compilers, GPU code, registers and memory of each kernel, and in which kernels
the builds differ. A TOOLKIT is a version, found in /usr/local/cuda-VERSION or DIR/cuda-VERSION
(scripts/fetch_toolkit.sh VERSION DIR puts it there), or the path of a toolkit folder.
  --prefix DIR   folder of fetched toolkits (default: toolkits, beside the sources)
  --arch LIST    GPU code, as for build.sh
  --allow-dirty  build although files differ from the commit
END
}

say() { echo "build_matrix: $*" >&2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
prefix=$root/toolkits dirty=no arch=() toolkits=()
while (($#)); do
  case $1 in
    --prefix) prefix=${2:?--prefix needs a folder} && shift ;;
    --arch) arch=(--arch "${2:?--arch needs a list}") && shift ;;
    --allow-dirty) dirty=yes ;;
    -h | --help) usage && exit 0 ;;
    -*) say "unknown argument '$1'" && usage >&2 && exit 2 ;;
    *) toolkits+=("$1") ;;
  esac
  shift
done
((${#toolkits[@]})) || { say "needs a toolkit, by version or path" && usage >&2 && exit 2; }

# The folder of toolkit $1.
folder_of() {
  local candidate
  for candidate in "$1" "/usr/local/cuda-$1" "$prefix/cuda-$1"; do
    [[ ! -x $candidate/bin/nvcc ]] || { echo "$candidate" && return; }
  done
  say "no toolkit with an nvcc is '$1', /usr/local/cuda-$1 or $prefix/cuda-$1; \
scripts/fetch_toolkit.sh gets one from 13.0 on"
  return 2
}

state() { git -C "$root" rev-parse HEAD && git -C "$root" status --porcelain; }
before=$(state)
if [[ $dirty == no && $before == *$'\n'* ]]; then
  say "files differ from the commit; commit them, or say --allow-dirty:"
  git -C "$root" status --short >&2
  exit 2
fi
folders=()
for toolkit in "${toolkits[@]}"; do folders+=("$(folder_of "$toolkit")") || exit 2; done
programs=()
for folder in "${folders[@]}"; do
  programs+=("$("$root/scripts/build.sh" --cuda "$folder" "${arch[@]}" --target arbench)/arbench")
done
if [[ $(state) != "$before" ]]; then
  say "the sources changed between the builds: build again"
  exit 1
fi
cuobjdump=''
for folder in "${folders[@]}"; do
  [[ ! -x $folder/bin/cuobjdump ]] || cuobjdump=$folder/bin/cuobjdump
done
: "${cuobjdump:=$(command -v cuobjdump || true)}"
[[ -n $cuobjdump ]] || { say "built; no toolkit has a cuobjdump to tell what the programs hold" && exit 1; }
python3 -B "$root/scripts/built_code.py" "$cuobjdump" "${programs[@]}"

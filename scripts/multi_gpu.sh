#!/usr/bin/env bash
# Everything several GPUs of one machine can show: what stands behind the folders of results/.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/multi_gpu.sh [--program ARBENCH] [--cuda PATH] OUT [PART...] [-- SIZES]
Installs what is missing, builds arbench and runs it in parts, each into a folder OUT/PART with its
table beside it, OUT/PART.txt. A part ends after 9 minutes at most, with all finished rows on disk;
called again, a sweep goes on where it was cut, and measures nothing anew if it was whole.
  doctor     whether driver, toolkit, NCCL and GPUs fit together; which GPUs there are
  self-test  whether verification catches each allreduce that is wrong on purpose
  p2p        n = 2, 4, 8, eager and graph, bf16: all algorithms and NCCL, over the GPUs' own links
  host       the same without peer access, for NCCL too (NCCL_P2P_DISABLE=1): all bytes cross PCIe
             and host memory
  --program ARBENCH  this program, instead of building one
  --cuda PATH        toolkit folder to build with
  -- SIZES           options of arbench run, in place of: -b 1K -e 256M --model kimi-k2.5
                     --row-seconds 0.1
Without PART all of them run. NVLink multicast stays off (NCCL_NVLS_ENABLE=0). A machine with one
GPU runs virtual ranks, and the rows say so. The exit code is the highest one of the parts.
END
}

say() { echo "multi_gpu: $*" >&2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program='' toolkit=() out='' parts=() sweep=(-b 1K -e 256M --model kimi-k2.5 --row-seconds 0.1)
while (($#)); do
  case $1 in
    --program) program=${2:?--program needs a path} && shift ;;
    --cuda) toolkit=(--cuda "${2:?--cuda needs a folder}") && shift ;;
    --) shift && sweep=("$@") && break ;;
    -h | --help) usage && exit 0 ;;
    -*) say "unknown argument '$1'" && usage >&2 && exit 2 ;;
    *) if [[ -z $out ]]; then out=$1; else parts+=("$1"); fi ;;
  esac
  shift
done
[[ -n $out ]] || { say "needs a folder for the results" && usage >&2 && exit 2; }
for part in "${parts[@]}"; do
  [[ $part =~ ^(doctor|self-test|p2p|host)$ ]] || { say "unknown part '$part'; accepts doctor, self-test, p2p, host" && exit 2; }
done
((${#parts[@]})) || parts=(doctor self-test p2p host)
if [[ -z $program ]]; then
  "$root/scripts/setup.sh" "${toolkit[@]}" >&2 || say "trying to build all the same"
  program=$("$root/scripts/build.sh" "${toolkit[@]}" --target arbench)/arbench
fi
mkdir -p "$out"

worst=0
# note CODE: for the exit code of this script.
note() { (($1 <= worst)) || worst=$1; }

# run PART OPTIONS...: a sweep; an exit code other than 0 is kept in the table file, and the parts go on.
run() {
  local part=$1 code=0 options=(--out "$out/$1")
  shift
  [[ ! -e $out/$part/run.json ]] || options=(--resume "$out/$part")
  say "$part"
  {
    echo "$ arbench run ${sweep[*]} $*"
    timeout -s INT -k 20 540 "$program" run "${sweep[@]}" "$@" "${options[@]}" || code=$?
    echo "exit code $code"
  } >"$out/$part.txt"
  ((code != 124)) || say "$part was cut after 9 minutes; the same call goes on with it"
  note "$code"
}

# tell COMMAND: what the program says in OUT/COMMAND.txt.
tell() {
  local code=0
  say "$1"
  timeout -s INT -k 20 540 "$program" "$1" >"$out/$1.txt" || code=$?
  note "$code"
}

export NCCL_NVLS_ENABLE=0
for part in "${parts[@]}"; do
  case $part in
    doctor)
      tell doctor
      { nvidia-smi -L && nvidia-smi topo -m; } >"$out/topology.txt" 2>&1 || true
      ;;
    self-test) tell self-test ;;
    p2p) run p2p ;;
    host) NCCL_P2P_DISABLE=1 run host --transport host ;;
  esac
done
exit "$worst"

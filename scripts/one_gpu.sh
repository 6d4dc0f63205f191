#!/usr/bin/env bash
# Everything one GPU can show, as virtual ranks: what stands behind the folders of results/.
set -euo pipefail

usage() {
  cat <<'END'
Usage: scripts/one_gpu.sh ARBENCH OUT [PART...]
Runs the program ARBENCH in parts, each into a folder OUT/PART with its table beside it:
  self-test  whether verification catches each allreduce that is wrong on purpose
  threads    all sizes, bf16, eager and graph, one thread per rank
  dtypes     f16, bf16 and f32 at three sizes, in and out of place
  grid       all ranks of an op in one cooperative launch, graph
  large      a message above 2^31 bytes
  processes  a process per rank, CUDA IPC, under an MPS daemon that is started for it
  nccl       NCCL's rings and trees over loopback sockets: right or wrong, no times
  sanitizer  a short sweep under compute-sanitizer's memcheck and racecheck, which must be on PATH
Without PART all of them run, in about 6 minutes on an H200. Times of virtual ranks say nothing about
several GPUs.
END
}

(($# >= 2)) || { usage >&2 && exit 2; }
program=$1 out=$2
shift 2
parts=("$@")
((${#parts[@]})) || parts=(self-test threads dtypes grid large processes nccl sanitizer)
mkdir -p "$out"

# run PART OPTIONS...: exit codes other than 0 are kept in the table file, and the parts go on.
run() {
  local part=$1 code=0
  shift
  echo "one_gpu: $part" >&2
  { echo "$ arbench run $*"; "$program" run "$@" --out "$out/$part" || code=$?; } >"$out/$part.txt"
  echo "exit code $code" >>"$out/$part.txt"
}

# sanitize TOOL: exit code 77 if it found something.
sanitize() {
  local code=0 call=(--tool "$1" --target-processes all --error-exitcode 77)
  local sweep=(run --sizes "1000,57344" --gpus "2,3" --placement out_of_place,in_place --rounds 1
    --replays 2 --ops 3 --row-seconds 0.01 --timeout 30)
  mkdir -p "$out/sanitizer"
  {
    echo "$ compute-sanitizer ${call[*]} arbench ${sweep[*]}"
    compute-sanitizer "${call[@]}" "$program" "${sweep[@]}" || code=$?
  } >"$out/sanitizer/$1.txt" 2>&1
  echo "exit code $code" >>"$out/sanitizer/$1.txt"
}

# MPS makes processes that share a GPU run together; its pipes lie in a folder of our own.
with_mps() {
  CUDA_MPS_PIPE_DIRECTORY=$(mktemp -d)
  export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY=$CUDA_MPS_PIPE_DIRECTORY
  nvidia-cuda-mps-control -d
  "$@"
  echo quit | nvidia-cuda-mps-control || true
  unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}

three=(--sizes "1K,57344,1M")
for part in "${parts[@]}"; do
  case $part in
    self-test)
      echo "one_gpu: self-test" >&2
      { "$program" self-test && echo "exit code 0" || echo "exit code $?"; } >"$out/self-test.txt"
      ;;
    threads) run threads -b 1K -e 64M --model kimi-k2.5 --row-seconds 0.1 ;;
    dtypes)
      run dtypes "${three[@]}" --dtype f16,bf16,f32 --placement out_of_place,in_place \
        --row-seconds 0.03
      ;;
    grid)
      run grid -b 1K -e 1M --model kimi-k2.5 --launch grid --mode graph --row-seconds 0.1 \
        --algo 'one_shot*,two_shot*,ring*'
      ;;
    large)
      run large --sizes 2148M --gpus 2 --rounds 3 --algo 'one_shot*,two_shot*,ring*,p2p*' \
        --row-seconds 0.03
      ;;
    processes) with_mps run processes "${three[@]}" --launch processes --row-seconds 0.03 ;;
    nccl) with_mps run nccl "${three[@]}" --launch processes --nccl-loopback --algo 'nccl*' ;;
    sanitizer) sanitize memcheck && sanitize racecheck ;;
    *) echo "one_gpu: unknown part '$part'" >&2 && usage >&2 && exit 2 ;;
  esac
done

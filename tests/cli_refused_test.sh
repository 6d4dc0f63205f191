#!/usr/bin/env bash
# A command line that cannot be carried out: exit code 2, one line on stderr that names the option,
# nothing on stdout, and no result folder.
source "${BASH_SOURCE[0]%/*}/cli.sh"

# The option that is named is $1, the arguments follow it.
refuses() {
  local option=$1
  shift
  run "$@"
  expect "exit code of '$*'" 2 "$code"
  expect "stdout of '$*'" "" "$(<"$folder/stdout")"
  expect "lines on stderr of '$*'" 1 "$(wc -l <"$folder/stderr")"
  [[ $(<"$folder/stderr") == "arbench: $option"* ]] ||
    fail "'$*' does not name $option: $(<"$folder/stderr")"
}

refuses_and_makes_nothing() {
  refuses "$@" --out "$folder/new"
  [[ ! -e $folder/new ]] || fail "'${*:2}' made the result folder"
}

# Some are refused by the option table, some by what the machine has. With and without a backend:
# what is decided by default is a line of its own, but not beside a refusal.
for backend in '' '--backend host'; do
  refuses_and_makes_nothing "--algo no_such" $backend --algo no_such
  refuses_and_makes_nothing "--algo no_such" $backend --algo 'ring_simple,no_such'
  refuses_and_makes_nothing "--dtype fp8" $backend --dtype fp8
  refuses_and_makes_nothing "--model kimi-k9" $backend --model kimi-k9
  refuses_and_makes_nothing "--mode lazy" $backend --mode lazy
  refuses_and_makes_nothing "-b 0" $backend -b 0
  refuses_and_makes_nothing "-i 0" $backend -i 0
  refuses_and_makes_nothing "-f 1" $backend -f 1
  refuses_and_makes_nothing "-f abc" $backend -f abc
  refuses_and_makes_nothing "-b 1Gx" $backend -b 1Gx
  refuses_and_makes_nothing "-b nan" $backend -b nan
  refuses_and_makes_nothing "-b inf" $backend -b inf
  refuses_and_makes_nothing "-b -5" $backend -b -5
  refuses_and_makes_nothing "-b 2M" $backend -b 2M -e 1M
  refuses_and_makes_nothing "--gpus -2" $backend --gpus -2
  refuses_and_makes_nothing "--gpus 1" $backend --gpus 1
  refuses_and_makes_nothing "--gpus 99" $backend --gpus 99
  refuses_and_makes_nothing "--devices 77" $backend --devices 77
  refuses_and_makes_nothing "--virtual 1" $backend --virtual 1
  refuses_and_makes_nothing "--blocks 0" $backend --blocks 0
  refuses_and_makes_nothing "--rounds 0" $backend --rounds 0
  refuses_and_makes_nothing "--timeout 0" $backend --timeout 0
  refuses_and_makes_nothing "--nccl-loopback" $backend --nccl-loopback
  refuses_and_makes_nothing "--toolkit 12.8" $backend --toolkit 12.8
  refuses_and_makes_nothing "--toolkit nvrtc:/none: no such folder" $backend --toolkit nvrtc:/none
  refuses_and_makes_nothing "--toolkit nvrtc:/proc/self/exe: " $backend --toolkit nvrtc:/proc/self/exe
  refuses_and_makes_nothing "--no-such" $backend --no-such
done
refuses_and_makes_nothing "--devices 7" --backend host --devices 7
refuses_and_makes_nothing "--devices 0,1" --backend host --devices 0,1 --gpus 4
refuses_and_makes_nothing "--virtual 4" --backend host --virtual 4
if [[ -n ${ARBENCH_NVRTC:-} ]]; then
  toolkit=nvrtc:${ARBENCH_NVRTC%%:*}
  refuses_and_makes_nothing "--toolkit $toolkit: needs the CUDA backend" --backend host --toolkit "$toolkit"
  refuses_and_makes_nothing "--toolkit $toolkit/: is nvrtc" --toolkit "$toolkit,$toolkit/"
fi
refuses "--out" --gpus 2 --out
refuses "--backend gpu" --backend gpu

touch "$folder/file"
refuses "--out $folder/file:" --backend host --gpus 2 --sizes 1K --out "$folder/file"
refuses "--out $folder/file/below:" --backend host --gpus 2 --sizes 1K --out "$folder/file/below"
refuses "--out /proc/arbench/x:" --backend host --gpus 2 --sizes 1K --out /proc/arbench/x
refuses "--out /proc/sys:" --gpus 2 --sizes 1K --out /proc/sys
[[ ! -s $folder/file ]] || fail "the file was written to"

mkdir "$folder/old"
echo "results of last week" >"$folder/old/rows.csv"
refuses "--out $folder/old:" --gpus 2 --sizes 1K --out "$folder/old"
expect "an existing folder's files" "rows.csv" "$(ls "$folder/old")"
expect "an existing folder's rows" "results of last week" "$(<"$folder/old/rows.csv")"
report

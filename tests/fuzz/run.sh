#!/usr/bin/env bash
# One fuzz target for some seconds: first what once broke it, then new inputs. Usage: run.sh BUILD_FOLDER TARGET SECONDS [FLAG...]
# Flags are libFuzzer's, such as -timeout=200 on a busy machine.
set -eu
build=$1 target=$2 seconds=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
regressions=$here/regressions/$target
corpus=$build/corpus_$target
mkdir -p "$corpus"
if [ -d "$regressions" ]; then
  "$build/fuzz_$target" -timeout=20 "$regressions"/* 2>&1 | tail -n 3
fi
seeds=()
case $target in
  graph | cpx) ;;
  tflite | qdq | values) seeds=("$build/corpus_of_$target") ;;
  *) seeds=("$build/corpus") ;;
esac
cd "$build" # findings are left there
exec "$build/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=4096 -max_len=12000 -print_final_stats=1 \
  -dict="$here/onnx.dict" "$@" "$corpus" "${seeds[@]}"

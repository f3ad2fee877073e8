#!/usr/bin/env bash
# Small models for the fuzzers to start from. Usage: make_corpus.sh MAKE_RANDOM_MODEL FOLDER
set -eu
make_model=$1 folder=$2
mkdir -p "$folder"
for seed in $(seq 1 60); do
  "$make_model" "$seed" "$folder/nemo_$seed.onnx" >/dev/null
  "$make_model" "$seed" "$folder/graph_$seed.onnx" graph >/dev/null
done
find "$folder" -name '*.onnx' -size +12k -delete # large ones say nothing new, and take long

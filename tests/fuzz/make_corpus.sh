#!/usr/bin/env bash
# Small models for the fuzzers to start from: of QDQ in FOLDER_of_qdq, of TFLite in FOLDER_of_tflite, where there is numpy to make them.
# Usage: make_corpus.sh MAKE_RANDOM_MODEL FOLDER FOLDER_OF_TFLITE_TESTS
set -eu
make_model=$1 folder=$2 tflite=$3
mkdir -p "$folder" "${folder}_of_tflite"
/usr/bin/env PATH="/usr/bin:$PATH" python3 -B "$tflite/random_networks.py" --write "${folder}_of_tflite" 40 || [ $? = 77 ]
for seed in $(seq 1 20); do
  "$make_model" "$seed" "$folder/nemo_$seed.onnx" >/dev/null
  "$make_model" "$seed" "$folder/graph_$seed.onnx" graph >/dev/null
done
mkdir -p "${folder}_of_qdq"
/usr/bin/python3 "$(dirname "$0")/../qdq/random_networks.py" --write "${folder}_of_qdq" 40 || echo "no QDQ models without python3-onnx"
family=$(dirname "$0")/../random/family_reference.py # QuantLib's, Deeploy's and PLiNIO's
/usr/bin/python3 -B "$family" --write "$folder" 20 || echo "no models of QuantLib, Deeploy and PLiNIO without python3-onnx"
mkdir -p "${folder}_of_values"
/usr/bin/python3 - "${folder}_of_values" <<'END' || echo "no .npy and .npz files without python3-numpy"
import sys
import numpy as np
for kind in ("i1", "u1", "i2", "i4", "i8", "f4", "f8"):
    np.save(f"{sys.argv[1]}/{kind}.npy", np.arange(6).astype(kind).reshape(1, 2, 3))
np.savez(f"{sys.argv[1]}/two.npz", a=np.arange(4, dtype=np.int8), b=np.zeros((2, 2), np.float32))
np.savez_compressed(f"{sys.argv[1]}/compressed.npz", a=np.zeros(90))
END
find "$folder" "${folder}_of_qdq" -name '*.onnx' -size +12k -delete # large ones say nothing new, and take long

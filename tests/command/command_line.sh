#!/bin/sh
# command_line.sh DORY: exit statuses, and that messages go to standard error.
dory=$1
faults=0
directory=$(mktemp -d) || exit 1
trap 'rm -rf "$directory"' EXIT
cd "$directory" || exit 1

# expect STATUS TEXT ARGUMENTS...: the exit status, and a text on standard error ("" for none).
expect()
{
    status=$1 text=$2
    shift 2
    "$dory" "$@" >out 2>err
    found=$?
    if [ $found -ne "$status" ] || { [ -n "$text" ] && ! grep -qF -- "$text" err; } || { [ "$status" -ne 0 ] && [ -s out ]; }; then
        echo "dory $*: exit status $found, expected $status and '$text' on standard error; found:"
        cat err
        faults=1
    fi
}

printf 'hello' >text.onnx
: >empty.onnx
expect 0 "" --help
expect 0 "" --version
expect 0 "" run --help
expect 0 "" inspect --help
expect 0 "" ops
expect 0 "" ops --help
expect 2 "dory ops: error: 'Conv' is one argument too many; usage: dory ops [OPTION]..." ops Conv
expect 2 "Usage:"
expect 2 "unknown command 'fly'" fly
expect 0 "" diff --help
expect 2 "dory diff: error: no RUN_LOG; usage: dory diff RUN_LOG MODEL [OPTION]..." diff
expect 2 "dory diff: error: no MODEL; usage: dory diff RUN_LOG MODEL [OPTION]..." diff run.log
expect 1 "missing.onnx: error: cannot open the file" diff text.onnx missing.onnx
expect 2 "dory inspect: error: unknown option '--colour'; 'dory inspect --help' lists all" inspect --colour
expect 2 "dory inspect: error: no MODEL; usage: dory inspect MODEL [OPTION]..." inspect
expect 2 "dory inspect: error: 'b' is one argument too many" inspect a b
expect 2 "no --input" run text.onnx
expect 2 "--frontend is nemo, quantlab, qdq, tflite or detect" inspect text.onnx --frontend keras
expect 2 "--input-bits is 2, 4 or 8" inspect text.onnx --input-bits 3
expect 1 "missing.onnx: error: cannot open the file: No such file" inspect missing.onnx
expect 1 "text.onnx: error: not an ONNX model" inspect text.onnx
expect 1 "empty.onnx: error: the file is empty" run empty.onnx --input x
expect 1 "error: cannot read the file: Is a directory" inspect .

# Misspelt ones: what begins so, or is spelt nearly so; in the name of the command that was given, and nothing far-fetched.
expect 2 "unknown command 'pln'; did you mean 'plan'?" pln
expect 2 "unknown command 'gen'; did you mean 'generate'?" gen text.onnx
grep -q 'did you mean' err || faults=1
expect 2 "dory plan: error: unknown option '--l2'; did you mean --l2-bytes?" plan text.onnx --l2
expect 2 "dory report: error: unknown option '--taget'; did you mean --target?" report text.onnx --taget=gap8
expect 2 "dory run: error: unknown option '--inptu'; did you mean --input?" run text.onnx --inptu x
expect 2 "dory plan: error: unknown option '--foo'; 'dory plan --help' lists all" plan text.onnx --foo
expect 2 "dory run: error: --l1-bytes has no effect here; dory generate takes it" run text.onnx --l1-bytes 3
expect 2 "dory probe: error: --cores needs a value" probe text.onnx --cores
expect 2 "dory inspect: error: --exact-add takes no value" inspect text.onnx --exact-add=1
for command in fly x --; do
    "$dory" "$command" 2>&1 | grep 'did you mean' && faults=1
done

# A data set has images and labels.
expect 2 "dory evaluate: error: no --inputs" evaluate text.onnx
expect 2 "dory evaluate: error: no --labels" evaluate text.onnx --inputs x.npy

# An empty variable of a shell, and the next option in place of a value.
for option in --name --config --check --output-dir --target --depfile --dump-tensors --frontend --firmware --log; do
    expect 2 "$option needs a value, and there is ''" generate text.onnx $option ""
    expect 2 "$option needs a value, and there is ''" generate text.onnx $option=
    expect 2 "$option needs a value, and there is '--report'" generate text.onnx $option --report
done
echo '{"check": ""}' >check.json
expect 2 "check.json: error: 'check': a path is expected" generate text.onnx --config check.json
expect 2 "--input is the check's, and there is no --check" generate text.onnx --input out
expect 1 "not an ONNX model" generate text.onnx --input out --check golden

# Sizes: in bytes, in 1024 or 1048576 of them, here and in configuration files; never beyond 32 bits.
for size in 64q k m 64mm 64g 0 0k -1 1.5k 4096M 4194304k 18446744073709551617 64kB ''; do
    expect 2 "dory plan: error: --l1-bytes '$size': a number of bytes below 4096M" plan text.onnx --l1-bytes "$size"
    echo "{\"l1_bytes\": \"$size\"}" >size.json
    expect 2 "size.json: error: 'l1_bytes': a number of bytes below 4096M" plan text.onnx --config size.json
done
for size in 1 64k 64K 1m 1M 4095m 4095M 4194303k 4294967295; do
    expect 1 "not an ONNX model" plan text.onnx --l1-bytes "$size"
    echo "{\"l1_bytes\": \"$size\"}" >size.json
    expect 1 "not an ONNX model" plan text.onnx --config size.json
done
expect 2 "dory plan: error: --cores '8k': a whole number from 1 to" plan text.onnx --cores 8k

# Options may stand in front of the command and of the model; every command has a usage line of its own, and says its sizes.
expect 1 "text.onnx: error: not an ONNX model" --quiet plan --target gap8 text.onnx
for command in inspect run evaluate generate plan report diff probe ops; do
    expect 0 "" $command --help
    grep -q "^Usage: dory $command " out || { echo "usage of $command"; faults=1; }
    grep -q -- '^  --help' out && grep -q -- '^  --quiet' out || { echo "options of $command"; faults=1; }
done
"$dory" plan --help | grep -q '64k' && "$dory" plan --help | grep -q -- '--check' && faults=1
"$dory" generate --help | grep -q '64k, 1M' || { echo "help says no sizes"; faults=1; }

# One command line does for generate and for those that show what it would do.
for command in generate plan report probe; do
    expect 1 "text.onnx: error: not an ONNX model" $command text.onnx --check golden --name net --l2-bytes 300k --log x
done

# The configuration beside a model counts for every command that reads the model.
echo '{"dory": 1, "frontend": "keras"}' >text.json
for command in inspect generate plan report probe 'run --input x' 'diff log'; do
    expect 2 "error: --frontend is nemo, quantlab, qdq, tflite or detect" $command text.onnx
    expect 1 "error: " $command text.onnx --config none
done
exit $faults

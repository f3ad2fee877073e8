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
expect 2 "it takes no 'Conv'" ops Conv
expect 2 "Usage:"
expect 2 "unknown command 'fly'" fly
expect 0 "" diff --help
expect 2 "expected RUN_LOG and MODEL" diff run.log
expect 1 "missing.onnx: error: cannot open the file" diff text.onnx missing.onnx
expect 2 "unrecognized option '--colour'" inspect --colour
expect 2 "expected one MODEL" inspect
expect 2 "no --input" run text.onnx
expect 2 "--frontend is nemo, quantlab or detect" inspect text.onnx --frontend keras
expect 2 "--input-bits is 2, 4 or 8" inspect text.onnx --input-bits 3
expect 1 "missing.onnx: error: cannot open the file: No such file" inspect missing.onnx
expect 1 "text.onnx: error: not an ONNX model" inspect text.onnx
expect 1 "empty.onnx: error: the file is empty" run empty.onnx --input x
expect 1 "error: cannot read the file: Is a directory" inspect .
exit $faults

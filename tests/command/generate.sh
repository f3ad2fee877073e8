#!/usr/bin/env bash
# dory generate as a command: which files, when, and what becomes of them when it fails.
# Usage: generate.sh DORY MAKE_RANDOM_MODEL; in a folder of its own.
set -u
dory=$1 make_model=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failures=0

fail() { echo "FAILED: $*" >&2; failures=$((failures + 1)); }

# expect STATUS TEXT COMMAND...: the exit status, and a part of what it prints
expect() {
  local status=$1 text=$2 output actual
  shift 2
  output=$("$@" 2>&1)
  actual=$?
  [ "$actual" = "$status" ] || fail "status $actual, not $status: $* ($output)"
  case $output in *"$text"*) ;; *) fail "no '$text' in the output of $*: $output" ;; esac
}

"$make_model" 7 model.onnx >/dev/null || fail "cannot make a model"

# what is written is what --list-outputs says, and every run writes the same
expect 0 "" "$dory" generate model.onnx --output-dir first --name net --check golden
diff <("$dory" generate model.onnx --output-dir first --name net --check golden --list-outputs | sort) <(ls first/* | sort) ||
  fail "--list-outputs"
mkdir elsewhere && cp model.onnx elsewhere/
(cd elsewhere && "$dory" generate "$work/elsewhere/model.onnx" --output-dir ../second --name net --check golden) 2>/dev/null
diff -r first second || fail "the same model and options gave other files"
grep -l "$work" first/* && fail "an absolute path in generated files"

# Quantlab's attributes are found, and so are models without them; --frontend overrides that
"$make_model" 12 graph.onnx graph >/dev/null || fail "cannot make a graph"
expect 0 "uint4" "$dory" inspect graph.onnx
diff <("$dory" inspect graph.onnx) <("$dory" inspect graph.onnx --frontend quantlab) || fail "Quantlab's model not detected"
"$dory" inspect graph.onnx --frontend nemo | grep -q 'uint4' && fail "--frontend nemo read Quantlab's out_bits"
diff <("$dory" inspect model.onnx) <("$dory" inspect model.onnx --frontend nemo) || fail "NEMO's model not detected"

# nothing is touched that does not change
touch -d '2001-01-01' first/*
cp -p first/net.c before.c
expect 0 "" "$dory" generate model.onnx --output-dir first --name net --check golden
[ -z "$(find first -type f -newermt '2002-01-01')" ] || fail "unchanged files were written anew"
expect 0 "" "$dory" generate model.onnx --output-dir first --name net --check golden --cores 3
cmp -s before.c first/net.c && fail "another number of cores changed nothing"

# a failed run leaves everything
cp -rp first kept
head -c 100 model.onnx > truncated.onnx
expect 1 "truncated.onnx: error" "$dory" generate truncated.onnx --output-dir first --name net
expect 1 "does not fit L1" "$dory" generate model.onnx --output-dir first --name net --l1-bytes 320
expect 1 "does not fit L2" "$dory" generate model.onnx --output-dir first --name net --l2-bytes 64
expect 1 "missing.onnx: error: cannot open" "$dory" generate missing.onnx --output-dir first --name net
diff -r kept first || fail "a failed run changed files"

# a configuration file beside the model that says that it is one is read by itself; the command line overrules it
cp model.onnx beside.onnx
echo '{"dory": 1, "cores": 3, "n_inputs": 1, "BNRelu_bits": 32, "name": "net"}' >beside.json
expect 0 "beside.json: note: options are read from this file, which lies beside the model and has the key 'dory'" \
  "$dory" generate beside.onnx --output-dir fourth
grep -q 'cores = 3' fourth/net.c || fail "beside.json was not read"
expect 0 "" "$dory" generate beside.onnx --output-dir fourth --cores 5
grep -q 'cores = 5' fourth/net.c || fail "beside.json overruled the command line"
expect 0 "" "$dory" generate beside.onnx --output-dir fourth --config none --name net
grep -q 'cores = 8' fourth/net.c || fail "--config none read a file"
expect 0 "" "$dory" generate beside.onnx --output-dir fourth --depfile fourth.d
grep -q 'beside.json' fourth.d || fail "the depfile lacks beside.json"
echo '{"dory": 1, "coers": 3}' >beside.json
expect 2 "unknown key 'coers'; did you mean 'cores'?" "$dory" generate beside.onnx --output-dir fourth
echo '{"dory": 2, "cores": 3}' >beside.json
expect 2 "'dory': 1, the version of the format, is expected" "$dory" generate beside.onnx --output-dir fourth
echo '{"onnx_file": "weights/beside.onnx", "cores": 3}' >beside.json
expect 0 "has the key 'onnx_file'" "$dory" generate beside.onnx --output-dir fourth --name net
grep -q 'cores = 3' fourth/net.c || fail "beside.json was not read"

# one that is something else is not; the next build looks again
echo '{"epochs": 90, "optimiser": {"name": "adam"}}' >beside.json
expect 0 "beside.json: note: this file beside the model is not read, since it has no key 'dory'" \
  "$dory" generate beside.onnx --output-dir fourth --name net --depfile fourth.d
grep -q 'beside.json' fourth.d || fail "the depfile lacks beside.json, which may be of use tomorrow"
grep -q 'cores = 8' fourth/net.c || fail "beside.json was read"
echo '{"epochs": 90, "cores": 3}' >beside.json
expect 0 "beside.json: warning: this file beside the model is not read" "$dory" --quiet generate beside.onnx --output-dir fourth --name net
echo '{"dory": 1, "cores": 3,}' >beside.json
expect 0 "beside.json: warning: this file beside the model is not read: " "$dory" generate beside.onnx --output-dir fourth --name net

# places that cannot be written
: > file
expect 1 "cannot make folder 'file" "$dory" generate model.onnx --output-dir file/below --name net
mkdir -p taken/net.c
expect 1 "it is no file" "$dory" generate model.onnx --output-dir taken --name net
[ "$(ls taken)" = net.c ] || fail "half of the files are there: $(ls taken)"

# command line and configuration
expect 2 "did you mean --l1-bytes" "$dory" generate model.onnx --l1-byte 3
expect 2 "from 1 to" "$dory" generate model.onnx --cores many
expect 2 "needs a value" "$dory" generate model.onnx --cores
expect 2 "no MODEL" "$dory" generate
expect 2 "'b' is one argument too many" "$dory" generate a b
expect 1 "no name of C" "$dory" generate model.onnx --name 3d --output-dir third
expect 0 "plan" "$dory" generate --help
mkdir configured
echo '{"onnx_file": "../model.onnx", "BNRelu_bits": 32, "code reserved space": 120000, "name": "from_file", "cores": 2}' > configured/c.json
expect 0 "" "$dory" generate --config configured/c.json --output-dir third --depfile third/net.d --cores 4
grep -q 'from_file_network' third/from_file.c || fail "the name in the configuration"
grep -q '.cores = 4' third/from_file.c || fail "the command line overrules the configuration"
grep -q '^third/from_file.h:' third/net.d || fail "target in the depfile"
grep -q 'configured/c.json' third/net.d && grep -q 'configured/../model.onnx' third/net.d || fail "sources in the depfile"
echo '{"corse": 2}' > configured/c.json
expect 2 "unknown key 'corse'; did you mean 'cores'" "$dory" generate model.onnx --config configured/c.json
echo '{"cores": "2"}' > configured/c.json
expect 2 "'cores': a whole number" "$dory" generate model.onnx --config configured/c.json
echo '{"cores": 2, "cores": 3}' > configured/c.json
expect 2 "c.json:1:" "$dory" generate model.onnx --config configured/c.json
echo '{"cores": ' > configured/c.json
expect 2 "c.json:" "$dory" generate model.onnx --config configured/c.json
expect 2 "c.json" "$dory" generate model.onnx --config missing/c.json
expect 2 "--dump=soup" "$dory" generate model.onnx --dump=soup
for pass in import range shrink describe tile decide schedule place plan layout; do
  expect 0 "" "$dory" generate model.onnx --dump=$pass --output-dir nothing
  "$dory" generate model.onnx --dump=$pass --tensors-in-ram 2>/dev/null >$pass.dump
  [ -s $pass.dump ] || fail "--dump=$pass prints nothing"
  grep -q "dump=soup.*are.* $pass\(,\|$\)" <("$dory" generate model.onnx --dump=soup 2>&1) || fail "$pass is no pass with a result"
done
for command in plan report; do # print the same of a pass, without the one that they do not have
  listed=$("$dory" generate model.onnx --dump=soup 2>&1 | sed 's/.* are //')
  expect 2 "dory $command: error: --dump=layout: what it can print are ${listed%, layout}" "$dory" $command model.onnx --dump=layout --output-dir nothing
  ! "$dory" $command model.onnx --dump=layout --output-dir nothing 2>&1 | grep -q 'are.* layout' || fail "$command offers the layout that it does not make"
  for pass in ${listed//,/}; do
    [ $pass = layout ] || diff $pass.dump <("$dory" $command model.onnx --dump=$pass --tensors-in-ram --output-dir nothing 2>/dev/null) || fail "$command --dump=$pass"
  done
done
[ ! -e nothing ] || fail "--dump wrote files"

# passes of the planner: every layer is there, the parts are those of the whole, and layers are described without a plan
layers=$("$dory" inspect model.onnx 2>/dev/null | sed -n 's/^\([0-9]*\) layers, .*/\1/p')
[ "$(grep -c '^layer [0-9]* .*operation\|^layer [0-9]* [^ ]* {$' describe.dump)" = "$layers" ] || fail "layers described"
[ "$(grep -c ', L1 {' tile.dump)" = "$layers" ] || fail "layers tiled"
[ "$(grep -c ' RAM ' decide.dump)" = "$(grep -c '^RAM offset' place.dump)" ] && grep -q ' RAM ' decide.dump || fail "tensors in RAM"
diff <(grep -v '^$' place.dump) <(grep -v '^$' plan.dump | grep -Fx -f <(grep -v '^$' place.dump)) || fail "places are those of the plan"
diff <(sed -n '/^transfer\|^ *transfer /,$p' plan.dump) <(sed -n '/^ *transfer /,$p' schedule.dump) || fail "transfers are those of the plan"
[ "$(sed -n '2,/^$/p' schedule.dump | grep -c .)" = "$(awk 'NF == 7 && $1 + 0 == $1 && $5 + 0 == $5 { sum += $2 } END { print sum }' <(sed -n '/^layer\|^ *layer /,$p' decide.dump))" ] ||
  fail "as many steps are scheduled as were decided"
expect 1 "does not fit L1" "$dory" plan model.onnx --l1-bytes 320 --dump=tile
expect 0 ".operation = DORY_CONVOLUTION" "$dory" plan model.onnx --l1-bytes 320 --dump=describe

# expected values from files: right ones, wrong ones, too few
mkdir values
values=$("$dory" generate model.onnx --output-dir values/net --name net --check golden 2>&1; echo $?)
[ "${values##*$'\n'}" = 0 ] || fail "$values"
expect 1 "no_such" "$dory" generate model.onnx --output-dir values/net --name net --check golden --input no_such.txt
echo '1,' > values/input.txt
expect 1 "input.txt has 1 values" "$dory" generate model.onnx --output-dir values/net --name net --check values
rm values/input.txt
echo '1,' > values/out_layer0.txt
expect 1 "out_layer0.txt holds 1 values" "$dory" generate model.onnx --output-dir values/net --name net --check values

[ $failures -eq 0 ] && echo "generate.sh: all as expected"
exit $((failures > 0))

#!/usr/bin/env bash
# What dory export does not do, and what it says: exit status 1, no folder.
# Usage: refusals.sh SOURCE WORK PREFIX SHARED      dory is installed in PREFIX
. "$(dirname "$(realpath "$0")")/common.sh"
model=$source/apps/digits/digits.onnx

expect_error() { # TEXT ARGUMENT...
  local text=$1 status=0
  shift
  "$dory" export "$@" >log 2>&1 || status=$?
  [ $status = 1 ] || fail "exit status $status: dory export $*"
  grep -qF -- "$text" log || { cat log; fail "no '$text'"; }
  [ ! -e nothing ] || fail "a failed run left a folder: dory export $*"
}

mkdir full
touch full/file
expect_error "'full' is not empty" full "$model"
[ "$(ls full)" = file ] || fail "the folder was changed"
expect_error "gap8 needs its HAL" nothing "$model" --target gap8
expect_error "virt needs its HAL" nothing "$model" --target virt
expect_error "unknown target 'cortex-m9'" nothing "$model" --target cortex-m9
expect_error "'hal_x' cannot be the network's name in C, where names begin with it, and dory's own begin so" nothing "$model" --name hal_x
expect_error "'Dory' cannot be the network's name" nothing "$model" --name Dory
expect_error "'a-b' cannot be the network's name" nothing "$model" --name a-b
expect_error "cannot open the file" nothing missing.onnx
expect_error "does not fit L2" nothing "$model" --target cortex-m4 --l2-bytes 64
expect_error "Not a directory" full/file "$model"
mkdir bare
cp "$dory" bare/dory
dory=$PWD/bare/dory
expect_error "dory export wants an installed dory" nothing "$model"

dory=$3/bin/dory # an empty folder is a new one
mkdir empty
"$dory" export empty "$model" >log
grep -q "src/digits.h is its interface" log && grep -q "^RAM: an arena of [0-9]* bytes" log || { cat log; fail "it does not say how to go on"; }

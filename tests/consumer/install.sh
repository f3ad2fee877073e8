#!/usr/bin/env bash
# Installs dory from the build folder and looks whether all of it is there.
# Usage: install.sh BUILD PREFIX
set -euo pipefail
build=$1 prefix=$2

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/dory" --version | grep '^dory [0-9]' >/dev/null || fail "bin/dory does not run"
for file in share/dory/cmake/doryConfig.cmake share/dory/toolchains/gap8.cmake share/dory/hal/pulp/pulp.ld share/man/man1/dory.1; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
if command -v man >/dev/null; then
  warnings=$(man -l --warnings "$prefix/share/man/man1/dory.1" 2>&1 >/dev/null) || fail "manual page: $warnings"
  [ -z "$warnings" ] || fail "manual page: $warnings"
fi

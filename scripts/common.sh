# What the scripts share; sourced by them, after `set -euo pipefail`.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s\n' "$*"; }
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Runs a command with its output in a log; on failure shows the log's end. The dot tells a person that it is alive.
quietly() {
  local what=$1 log
  shift
  log=$(mktemp)
  if [ -t 2 ]; then printf '%s ... ' "$what" >&2; fi
  if ! "$@" >"$log" 2>&1; then
    if [ -t 2 ]; then printf 'failed\n' >&2; fi
    tail -n 40 "$log" >&2
    rm -f "$log"
    die "$what failed"
  fi
  if [ -t 2 ]; then printf 'done\n' >&2; fi
  rm -f "$log"
}

# The generator for this machine at build/host/bin/dory.
build_generator() {
  quietly "configuring the generator" cmake --preset host -S "$top"
  quietly "building the generator" cmake --build "$top/build/host" --target dory
}

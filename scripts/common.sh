# What the scripts share; sourced by them, after `set -euo pipefail`. Takes two options that every script has out of its command
# line: --quiet (results and errors only) and --verbose (all that the tools print).

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

verbosity=normal
others=()
for argument; do
  case $argument in
    --quiet) verbosity=quiet ;;
    --verbose) verbosity=verbose ;;
    *) others+=("$argument") ;;
  esac
done
set -- "${others[@]}"

# Is a stream, 1 or 2, a terminal that understands more than text?
on_terminal() { [ -t "$1" ] && [ "${TERM:-dumb}" != dumb ]; }

red='' green='' plain=''
if on_terminal 1 && [ -z "${NO_COLOR:-}" ]; then red=$'\033[1;31m' green=$'\033[32m' plain=$'\033[0m'; fi

say() { printf '%s\n' "$*"; }                                     # a result
note() { if [ "$verbosity" != quiet ]; then say "$@"; fi; }       # what one can do without
die() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# Lines of a check program, as they come, with their verdicts in colours.
paint() { sed -u "s/: exact (/: ${green}exact$plain (/; s/: differs at /: ${red}differs$plain at /"; }

# logged LOG WHAT COMMAND...: runs a command with its output in LOG. A person at a terminal sees what goes on, and how far
# ninja is; another log sees nothing.
logged() {
  local log=$1 what=$2 status=0
  shift 2
  if [ "$verbosity" = verbose ]; then
    "$@" 2>&1 | tee "$log" >&2
  elif [ "$verbosity" = normal ] && on_terminal 2; then
    "$@" >"$log" 2>&1 &
    # shellcheck disable=SC2064 # the process of now
    trap "kill $!; exit 130" INT TERM
    while kill -0 $! 2>/dev/null; do
      printf '\r\033[K%s ... %s' "$what" "$(tail -n 1 "$log" | sed -n 's/^\(\[[0-9]*\/[0-9]*\]\).*/\1/p')" >&2
      sleep 0.2
    done
    wait $! || status=$?
    trap - INT TERM
    printf '\r\033[K%s ... %s\n' "$what" "$([ $status -eq 0 ] && echo "done" || echo failed)" >&2
    return $status
  else
    "$@" >"$log" 2>&1
  fi
}

# The same with a log that only failure shows the end of, and which it ends the script with.
quietly() {
  local what=$1 log
  shift
  log=$(mktemp)
  if ! logged "$log" "$what" "$@"; then
    if [ "$verbosity" != verbose ]; then tail -n 40 "$log" >&2; fi
    rm -f "$log"
    die "$what failed"
  fi
  rm -f "$log"
}

# Presets and tests compile the same files many times. What the cache has not, it need not preprocess to find that out.
use_ccache() {
  export CMAKE_C_COMPILER_LAUNCHER=ccache CCACHE_DIR=${CCACHE_DIR:-$top/build/ccache} CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
}

# The generator for this machine at build/host/bin/dory.
build_generator() {
  quietly "configuring the generator" cmake --preset host -S "$top"
  quietly "building the generator" cmake --build "$top/build/host" --target dory
}

# Random networks built as firmware, many at once (batch/CMakeLists.txt): what firmware.sh and models.sh share. They source it
# with $dory, $target, $count and $seed set, and define fail LOG.
#
# $work is a folder for one run, $work/networks the list of the next batch; $build keeps the kernels' objects. $description, if
# set, is the target's.
for number in "$count" "$seed"; do
  [[ $number =~ ^[1-9][0-9]*$ ]] || { echo "$(basename "$0"): '$number' of the environment is no number" >&2; exit 2; }
done
here=$(cd "$(dirname "$0")" && pwd) description=
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Networks' names begin with NAME_; one run at a time in its folder.
open_batches() { # NAME
  build=$here/../../build/$1-$target # as deep as a preset's, so that a ccache has the kernels' objects
  mkdir -p "$build"
  exec 9>"$build/lock"
  flock 9
  rm -rf "$build/CMakeCache.txt"
  remove_networks "$1" # of the run before
}

remove_networks() { rm -rf "$build/$1"_* "$build/lib$1"_* "$build/dory_plans/$1"_*; } # NAME

# Builds and runs the networks of the list; $work/wrong has the names of those that are not exact, $work/log why.
run_batch() {
  : >"$work/wrong"
  cmake -G Ninja -S "$here/batch" -B "$build" -DCMAKE_BUILD_TYPE=Release -DNETWORKS="$work/networks" \
    -DCMAKE_TOOLCHAIN_FILE="$here/../../toolchains/$target.cmake" -DDORY_TARGET="$target" -DDORY_GENERATOR="$dory" \
    ${description:+"-DDORY_TARGET_DESCRIPTION=$description"} ${DORY_GVSOC_ROOT:+"-DDORY_GVSOC_ROOT=$DORY_GVSOC_ROOT"} \
    ${DORY_GVSOC_SIRACUSA_ROOT:+"-DDORY_GVSOC_SIRACUSA_ROOT=$DORY_GVSOC_SIRACUSA_ROOT"} >"$work/log" 2>&1 || fail "$work/log"
  cmake --build "$build" -- -k 0 >"$work/log" 2>&1 || true # what is not built is not run, which ctest calls a failure
  ctest --test-dir "$build" --no-tests=error --output-on-failure >>"$work/log" 2>&1 && ! grep -q 'Skipped' "$work/log" && return
  sed -n 's/^[\t ]*[0-9]* - \(.*\)_check (.*/\1/p' "$work/log" | sort -u >"$work/wrong"
  [ -s "$work/wrong" ] || fail "$work/log"
}

# What the log says of all networks that were not built, or are not exact: it without lines of progress.
print_failures() { grep -v -e '^\[[0-9]*/[0-9]*\]' -e '^ *Start ' -e ' Passed ' -e ': warning: ' -e ': note: ' -e '^[[:space:]]*$' "$work/log" || true; }

#!/usr/bin/env bash
# Does gvsoc run under a Python that has no module imp any more, 3.12 or newer? The modules that gapy needs are those of the
# system's Python, as far as the newer one has none; they are of one kind for all versions.
# Usage: newer_python.sh RUN_GVSOC ROOT ELF WORK      exit status 77: there is no such Python
# DORY_NEWER_PYTHON of the environment names one that is not on the PATH.
set -euo pipefail
run_gvsoc=$1 root=$2 elf=$3 work=$4

python=
for candidate in ${DORY_NEWER_PYTHON:+"$DORY_NEWER_PYTHON"} python3 python3.12 python3.13 python3.14 python3.15; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then python=$candidate; fi
done
if [ -z "$python" ]; then
  echo "skipped: there is no Python 3.12 or newer"
  exit 77
fi
rm -rf "$work"
"$python" -m venv --without-pip "$work/venv"
if ! "$work/venv/bin/python3" -c 'import argcomplete, elftools, six' 2>/dev/null; then
  modules=$(/usr/bin/python3 -c 'import argcomplete, elftools, os, six; print(os.path.dirname(os.path.dirname(argcomplete.__file__)))') ||
    { echo "skipped: no Python has the modules of gapy"; exit 77; }
  echo "$modules" >"$("$work/venv/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/system.pth"
fi
if "$work/venv/bin/python3" -c 'import imp' 2>/dev/null; then echo "FAILED: this Python has imp"; exit 1; fi
PATH="$work/venv/bin:/usr/bin:/bin" "$work/venv/bin/python3" "$run_gvsoc" --root "$root" --timeout 100 --work-dir "$work/run" "$elf"
echo "run under $("$work/venv/bin/python3" --version)"

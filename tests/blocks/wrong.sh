#!/usr/bin/env bash
# models.sh calls networks wrong that are not exact, that do not build, and of which the generator dies; it goes on behind them.
#
# usage: wrong.sh PYTHON DORY TARGET SCRIPT, which writes three models or more
set -euo pipefail
[ $# -eq 4 ] || { sed -n '4s/^# //p' "$0" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A generator whose first network has a wrong table of expected elements, whose second is no C, and that dies of the third.
cat >"$work/dory" <<END
#!/usr/bin/env bash
count() { echo x >>"$work/\$1"; wc -l <"$work/\$1"; }
if [ "\$1" = plan ] && [ "\$(count plans)" -eq 3 ]; then kill -SEGV \$\$; fi
"$2" "\$@" || exit
if [ "\$1" = generate ]; then
  while [ "\$1" != --output-dir ]; do shift; done
  exec 8>"$work/lock"
  flock 8
  case \$(count generations) in
    1) for file in "\$2"/*_check.bin; do tr '\0-\377' '\1-\377\0' <"\$file" >"$work/other" && cp "$work/other" "\$file"; done ;;
    2) for file in "\$2"/*.c; do echo "this is no C" >>"\$file"; done ;;
  esac
fi
END
chmod +x "$work/dory"

if DORY_RANDOM_MODELS=4 DORY_RANDOM_MODELS_FROM=1 "$(dirname "$0")/models.sh" "$1" "$work/dory" "$3" 4 "$4" >"$work/log" 2>&1; then
  status=0
else
  status=$?
fi
if [ $status -eq 77 ]; then cat "$work/log" && exit 77; fi
for text in ',1,4,1,3,0$' '^wrong: .*: dory plan ended with status 139$'; do
  grep -q "$text" "$work/log" || { echo "FAILED: no '$text' in this:" && cat "$work/log" && exit 1; }
done
if [ $status -ne 1 ] || [ "$(grep -c '^wrong: ' "$work/log")" -ne 3 ]; then
  echo "FAILED: exit status $status" && cat "$work/log" && exit 1
fi

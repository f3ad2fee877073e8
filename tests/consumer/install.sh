#!/usr/bin/env bash
# Installs dory from the build folder, makes the Debian package, and looks whether both hold the same.
# Usage: install.sh BUILD PREFIX
set -euo pipefail
build=$1 prefix=$2

fail() { echo "FAILED: $*" >&2; exit 1; }

rm -rf "$prefix"
cmake --install "$build" --prefix "$prefix" >/dev/null
"$prefix/bin/dory" --version | grep -q '^dory [0-9]' || fail "bin/dory does not run"
for file in share/dory/cmake/doryConfig.cmake share/dory/toolchains/gap8.cmake share/dory/hal/gap8/gap8.ld share/man/man1/dory.1; do
  [ -f "$prefix/$file" ] || fail "$file is not installed"
done
man -l --warnings "$prefix/share/man/man1/dory.1" >/dev/null 2>"$prefix/man.log" || [ "$(command -v man)" = "" ] || fail "manual page"
[ ! -s "$prefix/man.log" ] || { cat "$prefix/man.log" >&2; fail "manual page"; }
rm "$prefix/man.log"

if ! command -v dpkg-shlibdeps >/dev/null; then
  echo "installed; no Debian package: dpkg-dev is missing"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$work" && cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/package") >"$work/log" 2>&1 || { cat "$work/log" >&2; fail cpack; }
package=$(echo "$work"/package/dory_*.deb)
depends=$(dpkg-deb -f "$package" Depends)
for library in $(objdump -p "$prefix/bin/dory" | sed -n 's/^ *NEEDED *//p'); do # libjansson.so.4 is in libjansson4
  if [ "$library" = libm.so.6 ]; then continue; fi # in libc6; needed where the compiler does not optimise
  case $depends in *"${library%%.so*}"*) ;; *) fail "Depends of the package: $depends: no $library" ;; esac
done
dpkg-deb -x "$package" "$work/root"
diff <(cd "$prefix" && find . -type f | sort) <(cd "$work/root/usr" && find . -type f | sort) || fail "the package holds other files"
echo "$(find "$prefix" -type f | wc -l) files; $(basename "$package") depends on $depends"

#!/usr/bin/env bash
# Makes the Debian package from the build folder, installs it by dpkg in a root of its own that knows no other packages, looks
# whether it holds what PREFIX, an installation, holds, byte for byte but for what a package strips, and generates with it.
# Firmware is built with PREFIX by other tests.
# Usage: package.sh BUILD PREFIX SOURCE      exit status 77: the tools that make packages are not there
set -euo pipefail
build=$1 prefix=$2 source=$3

fail() { echo "FAILED: $*" >&2; exit 1; }

if ! command -v dpkg-shlibdeps >/dev/null || ! command -v file >/dev/null; then # both are needed by cpack
  echo "skipped: no dpkg-shlibdeps or no file; on Debian: apt-get install dpkg-dev file"
  exit 77
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
root=$work/root
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/triggers"
touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
as_root=() # dpkg wants to be
if [ "$(id -u)" -ne 0 ]; then as_root=(fakeroot); fi
if [ "$(id -u)" -ne 0 ] && ! command -v fakeroot >/dev/null; then
  echo "not installed, as dpkg wants to be root and there is no fakeroot: unpacked"
  dpkg-deb -x "$package" "$root"
else
  "${as_root[@]}" dpkg --root="$root" --force-not-root --force-depends -i "$package" >"$work/log" 2>&1 || { cat "$work/log" >&2; fail dpkg; }
  dpkg --root="$root" -l dory | grep '^ii  dory ' >/dev/null || fail "dpkg has not installed the package"
fi
diff <(cd "$prefix" && find . -type f | sort) <(cd "$root/usr" && find . -type f | sort) || fail "the package holds other files"
cp -r "$prefix" "$work/expected"
find "$work/expected" -type f -exec sed -i "s|$prefix|/usr|g" {} +
diff -rq --exclude=bin --exclude='*.so*' --exclude='*.gz' "$work/expected" "$root/usr" || fail "files are other ones in the package"
echo "$(find "$prefix" -type f | wc -l) files; $(basename "$package") depends on $depends"
"$root/usr/bin/dory" generate "$source/apps/digits/digits.onnx" --target gap8 --output-dir "$work/digits" >"$work/log" || fail "dory of the package"
[ -s "$work/digits/digits.c" ] || fail "dory of the package generated nothing"

#!/usr/bin/env bash
# scripts/prose: refuses what it is to refuse, nothing else; and the documents are as it wants them. Usage: prose.sh SOURCE WORK
set -euo pipefail
source=$1 work=$2
mkdir -p "$work"
failures=0
fail() { echo "FAILED: $*" >&2; failures=1; }

words() { for ((i = 0; i < $1; i++)); do printf 'word%s' $((i % 12 == 11 ? 1 : 0)); [ $((i % 12)) -eq 11 ] && echo || printf ' '; done; echo; }
accepts() { "$source/scripts/prose" "$work/$1" >/dev/null || fail "$1 is refused"; }
refuses() { # FILE LINE
  if "$source/scripts/prose" "$work/$1" >"$work/log"; then fail "$1 is accepted"; fi
  grep -q "^$work/$1, line $2: " "$work/log" || fail "$1: $(cat "$work/log")"
}

{ echo "# Title"; echo; words 90; } >"$work/short.md"
{ echo "# Title"; echo; words 91; } >"$work/long.md"
{ echo "# Title"; echo; echo "Some words:"; echo; echo "- $(words 91 | tr '\n' ' ')"; } >"$work/long_item.md"
{ echo "- $(words 60 | tr '\n' ' ')"; echo "- $(words 60 | tr '\n' ' ')"; } >"$work/tight_list.md"
{ echo "- $(words 60 | tr '\n' ' ')"; echo; echo "- $(words 60 | tr '\n' ' ')"; } >"$work/list.md"
{ echo '```'; words 200; echo '```'; echo; echo "| $(words 200 | tr '\n' ' ') |"; echo; words 20; } >"$work/code.md"
{ words 60; echo; words 60; } >"$work/two.md"
{ echo '```'; words 10; echo '```'; words 91; } >"$work/behind_code.md"
for file in short list code two; do accepts $file.md; done
refuses long.md 3
refuses long_item.md 5
refuses tight_list.md 1
refuses behind_code.md 4

cd "$source"
scripts/prose README.md CHANGELOG.md CONTRIBUTING.md docs/*.md || fail "documents"
grep -q '^scripts/prose ' scripts/lint || fail "scripts/lint does not run scripts/prose"
[ $failures -eq 0 ] && echo "paragraphs are short, and long ones are found"
exit $failures

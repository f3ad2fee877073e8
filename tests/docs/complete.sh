#!/usr/bin/env bash
# Are the lists in the documents those of the program? Usage: complete.sh SOURCE DORY
set -euo pipefail
source=$1 dory=$2
failures=0
fail() { echo "FAILED: $*" >&2; failures=1; }

# Options and commands: all of them are in the manual page, and it has no other ones.
manual=$(sed 's/\\-/-/g' "$source/docs/dory.1")
for option in $("$dory" generate --help | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'); do
  grep -q -- "$option" <<<"$manual" || fail "docs/dory.1 lacks $option"
done
all_help=$("$dory" --help; for command in inspect run evaluate generate report plan diff cost explore new; do "$dory" $command --help; done)
for option in $(grep -o -- '--[a-z][a-z0-9-]*' <<<"$manual" | sort -u); do
  grep -q -- "$option" <<<"$all_help" || fail "docs/dory.1 has $option, which dory does not know"
done
for command in $("$dory" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
  grep -q "^\.B $command\$" <<<"$manual" || fail "docs/dory.1 lacks the command $command"
done

# CMake arguments.
for argument in $(sed -n 's/.*cmake_parse_arguments(PARSE_ARGV 2 arg "\(.*\)" "\(.*\)" "\(.*\)")/\1;\2;\3/p' "$source/cmake/DoryNetwork.cmake" | tr ';' ' '); do
  grep -q "| \`$argument\` |" "$source/docs/cmake.md" || fail "docs/cmake.md lacks $argument"
done

# Keys of a target description.
for key in $(sed -n 's/.*{"\([a-z0-9_]*\)", FIELD.*/\1/p; s/^ *[A-Z_]*("\([a-z0-9_]*\)", .*/\1/p' "$source/generator/target/target.c"); do
  grep -q "\`$key\`" "$source/docs/targets.md" || fail "docs/targets.md lacks $key"
done

# Fields of a layer.
for field in $(sed -n 's/^ *{"\([a-z_]*\)", *{MEMBER.*/\1/p; s/^ *{"\([a-z_]*\)",$/\1/p' "$source/generator/cost/fields.c"); do
  grep -q "\`$field\`" "$source/docs/cost.md" || fail "docs/cost.md lacks $field"
done

# All documents are found from the README.
for document in "$source"/docs/*.md; do
  grep -q "(docs/${document##*/})" "$source/README.md" || fail "README.md does not name ${document##*/}"
done

# The name of a file that the reader is to write stands in sight, in the text before it: a comment is not rendered.
for document in "$source"/docs/*.md "$source/README.md"; do
  while IFS=: read -r line name; do
    sed -n "$((line > 4 ? line - 4 : 1)),$((line - 1))p" "$document" | grep -qF -e "\`${name##*/}\`" -e "\`$name\`" ||
      fail "${document##*/}, line $line: the file's name, $name, is in a comment only"
  done < <(grep -n '^<!-- file: ' "$document" | sed 's/^\([0-9]*\):<!-- file: \(.*\) -->$/\1:\2/')
done

# What documents name must exist; what is below another folder (dory/, build/) is looked for when commands are run.
rooms='docs|apps|scripts|hal|kernels|cmake|tests|generator|toolchains'
for name in $(grep -ohP "(?<![\w/.])($rooms)/[A-Za-z0-9_./-]*[A-Za-z0-9]" "$source"/docs/*.md "$source"/*.md | sort -u); do
  [ -e "$source/$name" ] || fail "the documents name $name"
done
[ $failures -eq 0 ] && echo "documents and program agree"
exit $failures

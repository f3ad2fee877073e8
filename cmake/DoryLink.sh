#!/bin/sh
# Links a firmware, and where that overflows L2, says which numbers to give: the linker can name the overflow alone.
# Usage: DoryLink.sh FOLDER COMMAND...      FOLDER/NAME names the plan's text of the network NAME, see dory_add_network
folder=$1
shift

# of_plan WORDS: the number before these words of the plan; none where they are not in it.
of_plan() { sed -n "s/.*[ :]\([0-9][0-9]*\) $1.*/\1/p" "$plan" | head -n 1; }

# advise NAME OVERFLOW, in multiples of 16. What the plan left free counts as the application's, and 5 kB where the plan has a table of
# tiles: one in less memory may have none, and then takes the code that places them. With a smaller L2_BYTES there are more steps, and a
# sixteenth is for their tables; where these are longer still, the next build says the next number.
advise() {
  application=$(of_plan 'of application') free=$(of_plan 'free')
  arena=$(sed -n 's/^L2: \([0-9]*\) of .*/\1/p' "$plan")
  code=0
  if grep -qs '\.tiles = tiles' "${plan%_plan.txt}.c"; then code=5120; fi
  if [ -n "$application" ]; then
    echo "dory: give dory_add_network($1) APPLICATION_L2_BYTES $(((application + free + $2 + code + 15) / 16 * 16)); this plan is for $application"
  elif [ $((arena - $2 - $2 / 16)) -ge 16 ]; then
    echo "dory: give dory_add_network($1) L2_BYTES $(((arena - $2 - $2 / 16) / 16 * 16)); this plan takes $arena"
  else
    echo "dory: no L2_BYTES of dory_add_network($1) is small enough: this plan takes $arena, the overflow is $2"
  fi
}

exec 3>&1
messages=$(LC_ALL=C "$@" 2>&1 1>&3)
status=$?
[ -z "$messages" ] || printf '%s\n' "$messages" >&2
overflow=$(printf '%s\n' "$messages" | sed -n "s/.*region .L2' overflowed by \([0-9]*\) bytes.*/\1/p" | head -n 1)
if [ "$status" -ne 0 ] && [ -n "$overflow" ]; then
  for argument; do
    name=${argument##*/} name=${name#lib} name=${name%.a}
    if [ -f "$folder/$name" ] && plan=$(cat "$folder/$name") && [ -f "$plan" ]; then advise "$name" "$overflow" >&2; fi
  done
fi
exit "$status"

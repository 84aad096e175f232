#!/bin/sh
# A toy agent that does what the guidance shows and guesses otherwise, so that two wordings can be compared without a key.
# It reports what it does as Gantry events.
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g' | awk 'NR > 1 { printf "\\n" } { printf "%s", $0 }')"; }

run() {
  printf '{"event":"tool_call","tool":"shell","command":%s}\n' "$(quoted "$1")"
  output=$(sh -c "$1" 2>&1)
  code=$?
  printf '{"event":"tool_result","output":%s,"exit_code":%s}\n' "$(quoted "$output")" "$code"
  return "$code"
}

cat > /dev/null # the prompt; this agent always does the same task
example=$(sed -n 's/^    \(pick .*\)/\1/p' AGENTS.md | head -n 1)
if [ -n "$example" ]; then
  run "$example > names.txt"
elif ! run 'pick name people.csv > names.txt'; then
  run 'pick --help'
  run 'pick --column name people.csv > names.txt'
fi
printf '{"event":"message","text":"names.txt is written."}\n'

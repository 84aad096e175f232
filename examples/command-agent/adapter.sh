#!/bin/sh
# Wraps an agent CLI for `output: events`: one JSON object per line on stdout. An adapter only has to know how its agent
# marks a command, a result, its tokens and its final message.
here=$(dirname "$0")
{ sh "$here/toy-agent.sh" "$1"; echo "agent ended with $?"; } | awk -v model="$2" '
  function quoted(text) {
    gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); gsub(/\t/, "\\t", text); gsub(/\r/, "\\r", text); gsub(/\n/, "\\n", text)
    return "\"" text "\""
  }
  BEGIN { print "{\"event\":\"session\",\"agent\":\"toy-agent\",\"model\":" quoted(model) "}" }
  /^\$ / {
    open = 1; output = ""; calls += 1
    print "{\"event\":\"tool_call\",\"id\":\"" calls "\",\"tool\":\"shell\",\"command\":" quoted(substr($0, 3)) "}"
    next
  }
  open && /^exit code [0-9]+$/ {
    open = 0
    print "{\"event\":\"tool_result\",\"id\":\"" calls "\",\"output\":" quoted(output) ",\"exit_code\":" $3 "}"
    next
  }
  open { output = output $0 "\n"; next }
  /^Tokens: / { print "{\"event\":\"usage\",\"input_tokens\":" $2 ",\"output_tokens\":" $4 "}"; next }
  /^agent ended with [0-9]+$/ { code = $4; next }
  { print "{\"event\":\"message\",\"text\":" quoted($0) "}" }
  END { exit code }
'

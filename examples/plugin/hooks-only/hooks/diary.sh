#!/bin/sh
# Stop and SessionEnd: one line in a diary, if there is one. It never blocks, so the agent stops.
event=$(sed -n 's/.*"hook_event_name" *: *"\([A-Za-z]*\)".*/\1/p')
[ -f "$CLAUDE_PROJECT_DIR/DIARY.txt" ] || exit 0
echo "$event" >>"$CLAUDE_PROJECT_DIR/DIARY.txt"

#!/bin/bash
count=$(wc -l < "$LLM_TOOL_TEST_FIXTURE_DIR/.task-export.txt")
echo "{\"metrics\": {\"notes\": $count}, \"score\": 0.82, \"summary\": \"$LLM_TOOL_TEST_SCENARIO has $count notes\"}"

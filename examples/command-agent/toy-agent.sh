#!/bin/sh
# Replaces your own agent CLI in this example: it takes the prompt as its argument, runs shell commands in the current directory,
# and prints what it does for people to read. It does not know about Gantry.
[ "${1:-}" != --version ] || { echo 'toy-agent 1.0'; exit 0; }

step() {
  echo "\$ $1"
  sh -c "$1" 2>&1
  echo "exit code $?"
}

echo "Task: $1"
step 'cat AGENTS.md'
step 'sort --unique words.txt --output sorted.txt'
step 'wc -l sorted.txt'
echo 'Tokens: 812 in, 64 out'
echo 'sorted.txt has every word once, in order.'

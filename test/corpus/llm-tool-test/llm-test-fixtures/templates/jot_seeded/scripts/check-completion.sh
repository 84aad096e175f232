#!/bin/bash
if jot list | grep -q '\[done\] write the charter'; then
  echo '{"passed": true, "message": "The charter is done", "detail": {"open": 2}}'
else
  echo '{"passed": false, "message": "The charter is still open"}'
  exit 1
fi

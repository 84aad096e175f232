#!/bin/sh
# SessionStart: the printed text becomes context of the model.
cat >/dev/null
echo 'Files in secrets/ are read-only in this project. Values go to the environment, never into a file.'

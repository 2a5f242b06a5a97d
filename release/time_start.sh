#!/bin/sh
# Time what docs/start.md promises, with the wheel in dist/: an empty environment outside of this folder, the
# installation, and the first answer. sh release/time_start.sh python3.11
set -eu
dist=$PWD/dist
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
awk '/^```python/ { n++; inside = n == 1; next } /^```/ { inside = 0 } inside' docs/start.md > "$folder/first.py"
cd "$folder"
start=$(date +%s)
"$1" -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check --no-cache-dir --only-binary :all: \
  --find-links "$dist" 'suffice[cli,frame,plot]'
installed=$(date +%s)
env/bin/python first.py
answered=$(date +%s)
env/bin/python first.py > again.txt
again=$(date +%s)
echo "Installed after $((installed - start)) s, the first answer $((answered - installed)) s later, $((again - answered)) s when run again."
times > times.txt
echo "CPU time of all commands (user, system): $(tail -1 times.txt)"

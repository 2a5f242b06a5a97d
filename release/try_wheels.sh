#!/bin/sh
# Install the wheel in dist/ for one Python into an empty environment, where no program but that Python can be found,
# and try it there: sh release/try_wheels.sh python3.12
set -eu
folder=build/wheels/try-$1
rm -rf "$folder"
"$1" -m venv "$folder"
PATH="$PWD/$folder/bin"
export PATH
python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --find-links dist suffice
python release/try_wheel.py

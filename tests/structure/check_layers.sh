#!/bin/sh
# check_layers.sh ROOT
# Reads every #include of the project below ROOT and checks the arrows of docs/architecture.md: who may include whom.
# Prints each line that breaks a rule, as FILE:LINE, and fails if there is one.
set -eu

root=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$root"

rooms=""
for room in backends framework elements solvers partition jobs engines apps tests docs; do
  [ -d "$room" ] && rooms="$rooms $room"
done
[ -f voussoir.hpp ] && rooms="$rooms voussoir.hpp"
if [ -z "$rooms" ]; then
  echo "check_layers: $root holds no room of the project" >&2
  exit 2
fi

# shellcheck disable=SC2086  # the list is meant to be split
find $rooms -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -print | sort |
  awk -f "$here/layers.awk"

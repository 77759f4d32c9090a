#!/bin/sh
# check_functions.sh ROOT [LINES [LIST]]
# Measures every function of the project below ROOT, prints those that have more than LINES lines (80), as FILE:LINE, and
# fails if there is one. LIST names functions that may stay longer for now. Tests are not measured: many of them are
# lists of cases.
set -eu

root=$1
limit=${2:-80}
known=${3:-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
cd "$root"

folders=""
for folder in backends framework elements solvers partition jobs apps docs; do
  [ -d "$folder" ] && folders="$folders $folder"
done
if [ -z "$folders" ]; then
  echo "check_functions: $root holds no folder of the project" >&2
  exit 2
fi

# shellcheck disable=SC2086  # the list is meant to be split
find $folders -type f \( -name '*.hpp' -o -name '*.cpp' -o -name '*.cu' \) -print | sort |
  awk -v limit="$limit" -v known="$known" -f "$here/functions.awk"

#!/bin/sh
# check_headers.sh CXX INCLUDE_FOLDER LIST
# Compiles each public header alone: plain C++20, no OpenMP, no other dependency, warnings as errors. A header that
# leans on what somebody else happened to include first, or on anything that is not installed with it, is named.
# Each header is included twice, which finds a missing include guard. LIST holds one header per line, as seen from
# <voussoir/...>.
set -eu

cxx=$1
include=$2
list=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/check_one" <<'SCRIPT'
#!/bin/sh
# check_one CXX INCLUDE_FOLDER WORK HEADER
name=$(printf '%s' "$4" | tr '/.' '__')
printf '#include <voussoir/%s>\n#include <voussoir/%s>\n' "$4" "$4" >"$3/$name.cpp"
if ! "$1" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I "$2" "$3/$name.cpp" >"$3/$name.log" 2>&1; then
  mv "$3/$name.log" "$3/$name.failed"
  echo "voussoir/$4" >>"$3/failures"
fi
SCRIPT
chmod +x "$work/check_one"

jobs=$(nproc 2>/dev/null || echo 2)
count=$(grep -c . "$list" || true)
if [ "$count" -eq 0 ]; then
  echo "check_headers: $list names no header" >&2
  exit 2
fi
grep . "$list" | xargs -P "$jobs" -n 1 "$work/check_one" "$cxx" "$include" "$work"

if [ -s "$work/failures" ]; then
  for log in "$work"/*.failed; do head -n 25 "$log"; done
  echo "These public headers do not compile alone:"
  sort "$work/failures" | sed 's/^/  /'
  exit 1
fi
echo "$count public headers compile alone"

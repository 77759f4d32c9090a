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

# Headers of the standard library are precompiled, in three sets. A header gets the largest set that it includes as a whole,
# by itself or through other public headers, which are checked as well: nothing is there that it would lack without.
precompiled() { # NAME STANDARD_HEADER...
  name=$1
  shift
  printf '#include <%s>\n' "$@" >"$work/$name.hpp"
  "$cxx" -std=c++20 -Wall -Wextra -Werror -x c++-header -o "$work/$name.hpp.gch" "$work/$name.hpp"
}
large='array cstdint functional map memory optional span string string_view unordered_map vector'
medium='memory string vector'
small='string vector'
: >"$work/none.hpp"

# Writes each header of the list with its set.
cat >"$work/choose.awk" <<'SCRIPT'
# Standard headers that a header includes, outside of conditions, with a space before and after each.
function closure(header,   path, line, depth, name, found, inner, parts, count, i) {
  if (header in known || !(header in listed)) return known[header]
  known[header] = found = " "
  path = include "/voussoir/" header
  while ((getline line < path) > 0) {
    if (line ~ /^[ \t]*#[ \t]*if/) depth++
    else if (line ~ /^[ \t]*#[ \t]*endif/) depth--
    else if (!depth && line ~ /^[ \t]*#[ \t]*include[ \t]*</) {
      name = line
      sub(/^[^<]*</, "", name)
      sub(/>.*/, "", name)
      inner = name ~ /^voussoir\// ? closure(substr(name, 10)) : name
      count = split(inner, parts, " ")
      for (i = 1; i <= count; i++) if (!index(found, " " parts[i] " ")) found = found parts[i] " "
    }
  }
  close(path)
  return known[header] = found
}
function covers(found, set,   parts, count, i) {
  count = split(set, parts, " ")
  for (i = 1; i <= count; i++) if (!index(found, " " parts[i] " ")) return 0
  return 1
}
NF { listed[$0] }
END {
  for (header in listed) {
    found = closure(header)
    print header, covers(found, large) ? "large" : covers(found, medium) ? "medium" : covers(found, small) ? "small" : "none"
  }
}
SCRIPT

cat >"$work/check_one" <<'SCRIPT'
#!/bin/sh
# check_one CXX INCLUDE_FOLDER WORK HEADER SET
name=$(printf '%s' "$4" | tr '/.' '__')
printf '#include <voussoir/%s>\n#include <voussoir/%s>\n' "$4" "$4" >"$3/$name.cpp"
if ! "$1" -std=c++20 -fsyntax-only -Wall -Wextra -Werror -I "$2" -include "$3/$5.hpp" "$3/$name.cpp" >"$3/$name.log" 2>&1
then
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
awk -v include="$include" -v large="$large" -v medium="$medium" -v small="$small" -f "$work/choose.awk" "$list" \
  >"$work/sets.txt"
# shellcheck disable=SC2086
for set in large medium small; do
  if grep -q " $set\$" "$work/sets.txt"; then eval "precompiled $set \$$set"; fi
done
xargs -P "$jobs" -n 2 "$work/check_one" "$cxx" "$include" "$work" <"$work/sets.txt"

if [ -s "$work/failures" ]; then
  for log in "$work"/*.failed; do head -n 25 "$log"; done
  echo "These public headers do not compile alone:"
  sort "$work/failures" | sed 's/^/  /'
  exit 1
fi
echo "$count public headers compile alone"

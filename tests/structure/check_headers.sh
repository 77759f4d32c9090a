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

# Some headers are precompiled for others: a header is compiled on top of the one that saves it most among those that it
# includes, by itself or through other public headers, which are checked as well: nothing is there that it would lack without.
: >"$work/none.hpp"

# Writes each header of the list with the header that is precompiled for it, or "none".
cat >"$work/choose.awk" <<'SCRIPT'
# What a header includes, outside of conditions, and what that includes, with a space before and after each.
function closure(header,   path, line, depth, name, found, inner, parts, count, i) {
  if (header in known || !(header in listed)) return known[header]
  known[header] = found = " "
  path = include "/voussoir/" header
  while ((getline line < path) > 0) {
    lines[header]++
    if (line ~ /^[ \t]*#[ \t]*if/) depth++
    else if (line ~ /^[ \t]*#[ \t]*endif/) depth--
    else if (!depth && line ~ /^[ \t]*#[ \t]*include[ \t]*</) {
      name = line
      sub(/^[^<]*</, "", name)
      sub(/>.*/, "", name)
      inner = name
      if (name ~ /^voussoir\//) inner = name closure(substr(name, 10))
      count = split(inner, parts, " ")
      for (i = 1; i <= count; i++) if (!index(found, " " parts[i] " ")) found = found parts[i] " "
    }
  }
  close(path)
  return known[header] = found
}
# About how many lines the compiler reads for a header.
function size(header,   parts, count, i, sum) {
  sum = lines[header]
  count = split(known[header], parts, " ")
  for (i = 1; i <= count; i++) sum += parts[i] ~ /^voussoir\// ? lines[substr(parts[i], 10)] : standard
  return sum
}
NF { listed[$0]; order[++total] = $0 }
END {
  standard = 1500
  cost = 15000 # of making and loading a precompiled header
  for (n = 1; n <= total; n++) closure(order[n])
  for (n = 1; n <= total; n++) {
    weight[order[n]] = size(order[n])
    saved[order[n]] = 0
    chosen[order[n]] = "none"
  }
  for (;;) {
    best = 0
    for (n = 1; n <= total; n++) {
      gain = -weight[order[n]] - cost
      for (k = 1; k <= total; k++)
        if (index(known[order[k]], " voussoir/" order[n] " ") && weight[order[n]] > saved[order[k]])
          gain += weight[order[n]] - saved[order[k]]
      if (gain > best) {
        best = gain
        winner = order[n]
      }
    }
    if (best <= 0) break
    for (k = 1; k <= total; k++)
      if (index(known[order[k]], " voussoir/" winner " ") && weight[winner] > saved[order[k]]) {
        saved[order[k]] = weight[winner]
        chosen[order[k]] = winner
      }
  }
  for (n = 1; n <= total; n++) print order[n], chosen[order[n]]
}
SCRIPT

cat >"$work/check_one" <<'SCRIPT'
#!/bin/sh
# check_one CXX INCLUDE_FOLDER WORK HEADER PRECOMPILED
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
awk -v include="$include" -f "$work/choose.awk" "$list" >"$work/chosen.txt"
cat >"$work/precompile" <<'SCRIPT'
#!/bin/sh
# precompile CXX INCLUDE_FOLDER WORK HEADER; what does not compile is found below
mkdir -p "$(dirname "$3/$4.hpp")"
printf '#include <voussoir/%s>\n' "$4" >"$3/$4.hpp"
"$1" -std=c++20 -Wall -Wextra -Werror -I "$2" -x c++-header -o "$3/$4.hpp.gch" "$3/$4.hpp" 2>/dev/null || true
SCRIPT
chmod +x "$work/precompile"
sed -n 's/.* //p' "$work/chosen.txt" | grep -v '^none$' | sort -u |
  xargs -P "$jobs" -n 1 "$work/precompile" "$cxx" "$include" "$work"
xargs -P "$jobs" -n 2 "$work/check_one" "$cxx" "$include" "$work" <"$work/chosen.txt"

if [ -s "$work/failures" ]; then
  for log in "$work"/*.failed; do head -n 25 "$log"; done
  echo "These public headers do not compile alone:"
  sort "$work/failures" | sed 's/^/  /'
  exit 1
fi
echo "$count public headers compile alone"

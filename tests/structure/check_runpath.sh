#!/bin/sh
# check_runpath.sh FOLDER...
# Where programs and libraries in these folders look for libraries: in absolute folders, or beside themselves ($ORIGIN).
# An empty or relative entry of a RUNPATH means the current folder, in which anybody may have put a library.
set -eu

looked=0
bad=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for folder in "$@"; do
  find "$folder" -type f \( -perm -u+x -o -name '*.so*' \) ! -path '*/CMakeFiles/*' >>"$list"
done
while IFS= read -r file; do
  paths=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*(R\(UN\)\{0,1\}PATH).*\[\(.*\)\]$/\2/p')
  [ -n "$paths" ] || continue
  looked=$((looked + 1))
  rest=$paths:
  while [ -n "$rest" ]; do
    entry=${rest%%:*}
    rest=${rest#*:}
    case $entry in
      /* | '$ORIGIN' | '$ORIGIN/'*) ;;
      *)
        echo "$file: the RUNPATH '$paths' has the entry '$entry', which depends on the current folder"
        bad=1
        ;;
    esac
  done
done <"$list"
echo "$looked programs and libraries with a RUNPATH"
[ "$looked" -gt 0 ] || { echo "nothing was looked at"; exit 1; }
exit "$bad"

#!/bin/sh
# check_abi.sh ROOT [--update]
# Guards the interface between libvoussoir and its plugins: plugin_abi.txt holds the ABI number and a checksum of the
# code (without comments and white space) of plugin.hpp and of all headers that it includes. Code that has changed under
# the same number is an error, since a plugin that was compiled before would be misread. --update records what is there.
set -eu

root=$1
record=$root/tests/structure/plugin_abi.txt

# plugin.hpp and what it includes, each once.
list=backends/plugin.hpp
while :; do
  more=$(for header in $list; do
    echo "$header"
    sed -n 's|^#include <voussoir/\(.*\)>.*|\1|p' "$root/$header"
  done | sort -u)
  [ "$more" = "$(printf '%s\n' $list | sort -u)" ] && break
  list=$more
done

number=$(sed -n 's/.*backend_plugin_abi = \([0-9]*\);.*/\1/p' "$root/backends/plugin.hpp")
sum=$(for header in $(printf '%s\n' $list | sort -u); do
  echo "$header"
  sed -e 's|//.*$||' -e '/backend_plugin_abi = /d' "$root/$header" | tr -d '[:space:]'
  echo
done | cksum | cut -d' ' -f1)

if [ "${2:-}" = --update ]; then
  echo "$number $sum" >"$record"
  exit 0
fi
read -r known_number known_sum <"$record"
[ "$number $sum" = "$known_number $known_sum" ] && {
  echo "plugin ABI $number covers the code of $(printf '%s\n' $list | wc -l) headers"
  exit 0
}
if [ "$number" = "$known_number" ]; then
  echo "The interface between libvoussoir and its plugins has changed, but backend_plugin_abi is still $number." >&2
  echo "Raise it in backends/plugin.hpp, then run: sh tests/structure/check_abi.sh . --update" >&2
else
  echo "backend_plugin_abi is $number, and $record records $known_number." >&2
  echo "Run: sh tests/structure/check_abi.sh . --update" >&2
fi
exit 1

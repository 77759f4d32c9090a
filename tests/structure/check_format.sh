#!/bin/sh
# check_format.sh ROOT
# Compares all C++ sources with the repository's .clang-format. Prints each place that differs and fails if there is one.
# Exit code 77 (skipped) if clang-format 14, the version that defines the format, is not installed.
set -eu

cd "$1"
formatter=clang-format-14
if ! command -v "$formatter" >/dev/null 2>&1; then
  echo "check_format: $formatter is not installed; 'make format' installs it" >&2
  exit 77
fi
if ! git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  echo "check_format: $1 is not a git working tree, which lists the sources" >&2
  exit 77
fi
if ! git ls-files -z --cached --others --exclude-standard -- '*.hpp' '*.cpp' '*.cu' |
  xargs -0 "$formatter" --dry-run -Werror; then
  echo "check_format: run 'make format'" >&2
  exit 1
fi

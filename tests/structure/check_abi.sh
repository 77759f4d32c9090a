#!/bin/sh
# check_abi.sh ROOT [--update]
# Guards the interface between libvoussoir and what it loads: plugin_abi.txt holds the ABI number and a checksum of the
# code (without comments and white space) of plugin.hpp and of all headers that it includes, of the services that
# plugins offer, of the headers whose classes libraries of users derive from or fill, and of those that engines and
# libvoussoir-hdf5 read. Code that has changed under the same number is an error, since a library that was compiled
# before would be misread. --update records what is there.
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

services=$(cd "$root" && ls backends/*_services.hpp 2>/dev/null || true)
for header in $services backends/divided_multigrid.hpp backends/grid_program.hpp backends/grouped_dots.hpp \
  backends/host_memory.hpp backends/multigrid.hpp backends/registry.hpp elements/kernel_program.hpp \
  elements/register_kernel.hpp framework/analysis/linear_soe.hpp framework/analysis/mode_measure.hpp \
  framework/domain/domain.hpp framework/domain/element_block.hpp framework/domain/element_type.hpp \
  framework/domain/host_element.hpp framework/domain/material.hpp framework/io/job/job.hpp \
  framework/io/output_file.hpp jobs/procedures.hpp partition/element_graph.hpp partition/graph_partitioner.hpp \
  partition/part_solver.hpp partition/partitioners.hpp partition/process/detail/part_container.hpp \
  partition/process/engine.hpp partition/process/part_product.hpp partition/process/process_eigen.hpp \
  partition/process/process_graph.hpp partition/process/process_part.hpp partition/process/processes.hpp \
  solvers/preconditioners/preconditioner.hpp solvers/registries.hpp; do
  if [ -f "$root/$header" ]; then list="$list $header"; fi
done

number=$(sed -n 's/.* abi_number = \([0-9]*\);.*/\1/p' "$root/backends/abi.hpp")
sum=$(for header in $(printf '%s\n' $list | sort -u); do
  echo "$header"
  sed -e 's|//.*$||' -e '/ abi_number = [0-9]/d' "$root/$header" | tr -d '[:space:]'
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
  echo "The interface between libvoussoir and its plugins or libraries of users has changed, but abi_number is still $number." >&2
  echo "Raise it in backends/abi.hpp, then run: sh tests/structure/check_abi.sh . --update" >&2
else
  echo "abi_number is $number, and $record records $known_number." >&2
  echo "Run: sh tests/structure/check_abi.sh . --update" >&2
fi
exit 1

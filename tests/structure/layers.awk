# The rules of check_layers.sh. Input: names of files, relative to the project's root, one per line.

# The room of a file. Files that lie directly in backends/ are the interface, which everybody may know, and detail/ is
# how it works, and cost_model/ predicts times for everybody; the other folders below it are concrete backends, which nobody may know.
function room_of(path,    part, n) {
  n = split(path, part, "/")
  if (n == 1) return "all"  # voussoir.hpp, which offers every public header at once
  if (part[1] == "backends") return n == 2 || part[2] == "detail" || part[2] == "cost_model" ? "interface" : "backends/" part[2]
  return part[1]
}

# Where "x/../y.hpp", included from a file in folder, leads to.
function resolve(folder, name,    part, n, i, kept, m, path) {
  n = split(folder "/" name, part, "/")
  m = 0
  for (i = 1; i <= n; i++) {
    if (part[i] == "." || part[i] == "") continue
    if (part[i] == "..") { if (m > 0) m--; continue }
    kept[++m] = part[i]
  }
  path = kept[1]
  for (i = 2; i <= m; i++) path = path "/" kept[i]
  return path
}

# The parts of framework, and which others each of them may know. Files that lie directly in framework/, or in its detail/, belong to all.
function framework_part(path,    part, n) {
  n = split(path, part, "/")
  return n > 2 && part[1] == "framework" && part[2] != "detail" ? part[2] : ""
}

function part_may_include(from, to) {
  if (from == to || from == "" || to == "") return 1
  if (from == "mesh" || from == "model") return to == "domain"
  if (from == "analysis") return to == "domain" || to == "model" || to == "response"
  if (from == "grid") return to == "domain"
  if (from == "io") return to == "domain" || to == "analysis" || to == "response" || to == "grid"
  return 0  # domain, response, and any part that is not in this list yet
}

function may_include(from, to, file) {
  if (from == to) return 1
  if (from == "interface")  # the one list of built-in backends is a source file, not a part of the interface
    return file ~ /\.cpp$/ && to ~ /^backends\/(openmp|debug)$/
  if (from == "backends/debug" && to == "backends/openmp") return 1
  if (from == "backends/cuda" && to == "elements") return 1  # the kernels, which its compilers need as text
  if (from ~ /^backends\//) return to == "interface"
  if (from == "framework") return to == "interface"
  if (from == "partition" && to == "solvers") return 1  # methods of decomposition solve parts, and are solvers themselves
  if (from == "elements" || from == "solvers" || from == "partition") return to == "interface" || to == "framework"
  if (from == "jobs") return to == "interface" || to == "framework" || to == "solvers" || to == "partition"
  if (from == "engines") return to == "interface" || to == "framework" || to == "solvers" || to == "partition"
  if (from == "apps" || from == "all") return to !~ /^backends\// && to != "tests"
  return 1  # tests and docs may look at everything
}

function is_cuda(name) {
  return name ~ /^(cuda|cooperative_groups|nvrtc|nvml|nccl|nvJitLink|device_launch|driver_types)[A-Za-z0-9_]*\.h$/ ||
         name ~ /^(cublas|cusparse|cusolver|curand|cufft|cudss|vector_types)[A-Za-z0-9_]*\.(h|hpp)$/ ||
         name ~ /^(thrust|cub|cuda|nvtx3|cooperative_groups)\//
}

# Code that a device compiler reads as text has no standard library.
function is_kernel_header(file) {
  if (file ~ /^elements\/grid\/(neighbourhood|stock_stencils)\.hpp$/) return 1
  return file ~ /^elements\/(kernel|point|shapes|quadrature|physics|structural|surface)\/.*\.hpp$/ ||
         file ~ /^backends\/((element|grid)_view|grid_stock|cuda\/grid\/grid_kernels|cuda\/elements\/element_(job|kernels))\.hpp$/
}

function report(text) {
  printf "%s:%d: %s\n    %s\n", file, line, text, source
  broken++
}

{
  file = $0
  files++
  from = room_of(file)
  folder = file
  if (!sub(/\/[^\/]*$/, "", folder)) folder = ""
  line = 0
  while ((getline source < file) > 0) {
    line++
    if (source !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) continue
    name = source
    sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
    quoted = substr(name, 1, 1) == "\""
    name = substr(name, 2)
    sub(/[>"].*$/, "", name)
    includes++

    if (is_cuda(name) && from != "backends/cuda") {
      report("only backends/cuda may include CUDA's headers")
      continue
    }
    if (name ~ /^voussoir\//) {
      target = substr(name, 10)
    } else if (quoted) {
      target = resolve(folder, name)
      if (from != "tests" && from != "docs" && target ~ /\.hpp$/ && room_of(target) != from) {
        report("write <voussoir/...> for a header of another room")
      }
    } else {
      if (is_kernel_header(file)) report("kernel headers use nothing of the standard library")
      continue
    }

    to = room_of(target)
    if (!may_include(from, to, file)) {
      report(from " may not include " (to ~ /^backends\// ? "a concrete backend (" to ")" : to))
    }
    if (!part_may_include(framework_part(file), framework_part(target)) && from == to) {
      report("framework/" framework_part(file) " may not include framework/" framework_part(target))
    }
    if (target ~ /(^|\/)detail\// && from != "tests") {
      if (to != from && !(from ~ /^backends\// && to == "interface")) report("detail/ is private to its room")
      else if (file ~ /\.hpp$/ && file !~ /(^|\/)detail\// && from !~ /^backends\//) {
        report("a public header may not include detail/, which is not installed")
      }
    }
  }
  close(file)
}

END {
  if (broken) {
    printf "%d of %d includes in %d files go against the arrows\n", broken, includes, files
    exit 1
  }
  printf "%d includes in %d files follow the arrows\n", includes, files
}

#!/bin/sh
# self_test.sh CXX
# The checks are worth something only if they notice. Builds small trees with one planted mistake each, and sees every
# one reported; and a tree without mistakes, and sees none.
set -eu

cxx=$1
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# A tree in which everything is as it should be.
fresh_tree() {
  rm -rf "$work/tree"
  mkdir -p "$work/tree"
  cd "$work/tree"
  mkdir -p backends/openmp backends/debug backends/cuda/matrix framework/domain framework/mesh framework/model \
    framework/analysis framework/response framework/io/deck/detail framework/detail elements/kernel solvers/direct partition jobs apps tests
  echo '#include <vector>' >backends/backend.hpp
  echo '#include <voussoir/backends/openmp/openmp.hpp>' >backends/backend.cpp
  echo '#include <voussoir/backends/backend.hpp>' >backends/openmp/openmp.hpp
  echo '#include <cuda_runtime.h>' >backends/cuda/cuda.cpp
  echo '#include <voussoir/elements/kernel/fn.hpp>' >backends/cuda/solid.cu
  echo '#include <voussoir/backends/cuda/cuda.hpp>' >backends/cuda/matrix/product.cu
  echo '#include <voussoir/backends/openmp/openmp.hpp>' >backends/debug/debug.cpp
  echo '// <cstdint> is only spoken of' >backends/element_view.hpp
  echo '#include <voussoir/backends/backend.hpp>' >framework/domain/domain.hpp
  echo '#include <voussoir/framework/detail/secret.hpp>' >framework/domain/domain.cpp
  echo '#include <string>' >framework/detail/secret.hpp
  echo '#include <voussoir/framework/domain/domain.hpp>' >framework/mesh/mesh.hpp
  echo '#include <voussoir/framework/domain/domain.hpp>' >framework/model/model.hpp
  echo '#include <voussoir/framework/model/model.hpp>' >framework/analysis/analysis.hpp
  echo '#include <voussoir/backends/backend.hpp>' >framework/response/oscillator.hpp
  printf '#include <voussoir/framework/analysis/analysis.hpp>\n#include <voussoir/framework/response/oscillator.hpp>\n' \
    >framework/io/deck/reader.hpp
  echo '#include <voussoir/framework/io/deck/reader.hpp>' >framework/io/deck/detail/parser.cpp
  echo '// <vector> is only spoken of' >elements/kernel/fn.hpp
  printf '#include <voussoir/framework/domain/domain.hpp>\n#include "kernel/fn.hpp"\n' >elements/solid.hpp
  echo '#include <voussoir/framework/domain/domain.hpp>' >solvers/cg.hpp
  echo '#include <voussoir/framework/domain/domain.hpp>' >partition/partition.hpp
  echo '#include <vector>' >solvers/direct/factor.hpp
  printf '#include <voussoir/solvers/direct/factor.hpp>\n#include <voussoir/solvers/cg.hpp>\n' >partition/schur.cpp
  printf '#include <voussoir/solvers/cg.hpp>\n#include <voussoir/partition/partition.hpp>\n' >jobs/run.hpp
  printf '#include <voussoir/solvers/cg.hpp>\n#include <voussoir/jobs/run.hpp>\n' >apps/main.cpp
  echo '#include <voussoir/backends/openmp/openmp.hpp>' >tests/test.cpp
}

expect_clean() {
  if ! sh "$here/check_layers.sh" "$work/tree" >"$work/log"; then
    echo "FAILED: a tree without mistakes was refused:"
    cat "$work/log"
    failed=1
  fi
}

# plant FILE LINE: with LINE added to FILE, the check must fail and name the file and line.
plant() {
  fresh_tree
  echo "$2" >>"$1"
  number=$(wc -l <"$1" | tr -d ' ')
  if sh "$here/check_layers.sh" "$work/tree" >"$work/log"; then
    echo "FAILED: $2 in $1 was not noticed"
    failed=1
  elif ! grep -q "^$1:$number: " "$work/log"; then
    echo "FAILED: $2 in $1 was noticed, but not named:"
    cat "$work/log"
    failed=1
  elif [ "$(grep -c '^[^ ]*:[0-9]*: ' "$work/log")" -ne 1 ]; then
    echo "FAILED: $2 in $1 is one mistake, but was reported as:"
    cat "$work/log"
    failed=1
  fi
}

fresh_tree
expect_clean
plant backends/backend.hpp '#include <voussoir/framework/domain/domain.hpp>'
plant backends/backend.hpp '#include <voussoir/backends/openmp/openmp.hpp>'
plant backends/backend.cpp '#include <voussoir/elements/kernel/fn.hpp>'
plant backends/openmp/openmp.hpp '#include <voussoir/solvers/cg.hpp>'
plant backends/openmp/openmp.hpp '#include <voussoir/elements/kernel/fn.hpp>'
plant backends/cuda/solid.cu '#include <voussoir/framework/domain/domain.hpp>'
plant backends/openmp/openmp.hpp '#include <voussoir/backends/cuda/cuda.hpp>'
plant backends/cuda/matrix/product.cu '#include <voussoir/backends/openmp/openmp.hpp>'
plant backends/openmp/openmp.hpp '#include <voussoir/backends/debug/debug.hpp>'
plant backends/element_view.hpp '#include <cstdint>'
plant framework/domain/domain.cpp '#include <voussoir/solvers/cg.hpp>'
plant framework/domain/domain.hpp '#include <voussoir/elements/solid.hpp>'
plant framework/domain/domain.cpp '  #  include <voussoir/backends/openmp/openmp.hpp>'
plant framework/domain/domain.hpp '#include <voussoir/framework/detail/secret.hpp>'
plant framework/domain/domain.hpp '#include "../../backends/backend.hpp"'
plant framework/domain/domain.cpp '#include <voussoir/framework/mesh/mesh.hpp>'
plant framework/domain/domain.cpp '#include "../model/model.hpp"'
plant framework/mesh/mesh.hpp '#include <voussoir/framework/model/model.hpp>'
plant framework/mesh/mesh.hpp '#include <voussoir/framework/io/deck/reader.hpp>'
plant framework/model/model.hpp '#include <voussoir/framework/mesh/mesh.hpp>'
plant framework/model/model.hpp '#include <voussoir/framework/analysis/analysis.hpp>'
plant framework/analysis/analysis.hpp '#include <voussoir/framework/io/deck/reader.hpp>'
plant framework/analysis/analysis.hpp '#include <voussoir/framework/mesh/mesh.hpp>'
plant framework/response/oscillator.hpp '#include <voussoir/framework/analysis/analysis.hpp>'
plant framework/response/oscillator.hpp '#include <voussoir/framework/domain/domain.hpp>'
plant framework/response/oscillator.hpp '#include <voussoir/framework/io/deck/reader.hpp>'
plant framework/response/oscillator.hpp '#include <voussoir/solvers/cg.hpp>'
plant framework/io/deck/detail/parser.cpp '#include <voussoir/framework/model/model.hpp>'
plant framework/io/deck/reader.hpp '#include <voussoir/framework/mesh/mesh.hpp>'
plant elements/solid.hpp '#include <voussoir/solvers/cg.hpp>'
plant elements/kernel/fn.hpp '#include <cmath>'
plant solvers/cg.hpp '#include <voussoir/partition/partition.hpp>'
plant solvers/cg.hpp '#include <voussoir/framework/detail/secret.hpp>'
plant framework/domain/domain.cpp '#include <voussoir/jobs/run.hpp>'
plant solvers/cg.hpp '#include <voussoir/jobs/run.hpp>'
plant partition/partition.hpp '#include <voussoir/jobs/run.hpp>'
plant jobs/run.hpp '#include <voussoir/elements/solid.hpp>'
plant jobs/run.hpp '#include <voussoir/framework/detail/secret.hpp>'
plant jobs/run.hpp '#include <voussoir/apps/main.hpp>'
plant apps/main.cpp '#include <voussoir/backends/openmp/openmp.hpp>'
plant solvers/cg.hpp '#include <cuda_runtime.h>'
plant tests/test.cpp '#include <cublas_v2.h>'

# Functions: one that is as long as it may be, and longer ones in all the forms that functions have. `measure` has the text
# of a file up to the brace of a function, how many lines are added to it and what closes it, and what is expected.
measure() {
  cd "$work"
  rm -rf "$work/tree"
  mkdir -p "$work/tree/solvers"
  {
    printf '%s\n' "$1"
    yes '  call("}", '"'"'{'"'"', 1'"'"'000);  // }' | head -n "$2"
    printf '%s\n' "$3"
  } >"$work/tree/solvers/code.cpp"
  if sh "$here/check_functions.sh" "$work/tree" 20 >"$work/log"; then
    found=
  else
    found=$(sed -n 's/^solvers\/code.cpp:\([0-9]*\): \([^ ]*\) has.*$/\1 \2/p' "$work/log")
  fi
  if [ "$found" != "$4" ]; then
    echo "FAILED: functions that are too long: expected '$4', found '$found' in"
    cat "$work/tree/solvers/code.cpp"
    failed=1
  fi
}
measure 'void f() {' 18 '}' ''
measure 'void f() {' 19 '}' '1 f'
measure 'namespace n {
std::vector<int> A::f(int a,
                      int b) const {' 18 '}
}' '2 A::f'
measure 'class A : public B {
 public:
  explicit A(int n) : B(n), n_{n} {' 19 '  }' '3 A'
measure 'A::A(int n)
    : B{n},
      n_{n} {' 18 '}' '1 A::A'
measure 'template <class T>
void f() requires(sizeof(T) > 2) {
  if (a) {' 17 '  }
}' '1 f'
measure 'const std::vector<Row> rows = {' 40 '};' ''
measure 'constexpr std::array<int, 2> rows{' 40 '};' ''
measure 'struct A {
  int f() const { return 1; }' 40 '};' ''
measure 'const char* text = R"x(
void f() {' 40 '})x";' ''
measure '/* void f() {' 40 '} */' ''
rm -rf "$work/tree" && mkdir -p "$work/tree/solvers"
{ echo 'void A::f() {' && yes '  call();' | head -n 30 && echo '}'; } >"$work/tree/solvers/code.cpp"
echo 'solvers/code.cpp A::f' >"$work/list"
if ! sh "$here/check_functions.sh" "$work/tree" 20 "$work/list" >"$work/log"; then
  echo "FAILED: a function on the list of those that may stay long was reported"
  failed=1
fi
echo 'solvers/code.cpp A::g' >"$work/list"
if sh "$here/check_functions.sh" "$work/tree" 20 "$work/list" >"$work/log"; then
  echo "FAILED: a function that is not on the list of those that may stay long was not reported"
  failed=1
fi
measure 'VSR_HD inline double f() {
  const auto g = [&](int i) {' 18 '  };
}' '1 f'

# The plugin interface: a comment may change, code may not without a new number.
mkdir -p "$work/abi/backends" "$work/abi/tests/structure"
echo 'inline constexpr int abi_number = 7;' >"$work/abi/backends/abi.hpp"
printf '#include <voussoir/backends/abi.hpp>\n#include <voussoir/backends/other.hpp>\n' >"$work/abi/backends/plugin.hpp"
mkdir -p "$work/abi/solvers/preconditioners"
echo 'struct Preconditioner { virtual int f(); };' >"$work/abi/solvers/preconditioners/preconditioner.hpp"
echo 'struct Other { virtual int f(); };' >"$work/abi/backends/other.hpp"
sh "$here/check_abi.sh" "$work/abi" --update
echo 'struct Other { virtual int  f(); };  // a comment' >"$work/abi/backends/other.hpp"
if ! sh "$here/check_abi.sh" "$work/abi" >"$work/log" 2>&1; then
  echo "FAILED: a comment in the plugin interface was reported"
  failed=1
fi
echo 'struct Other { virtual int g(); virtual int f(); };' >"$work/abi/backends/other.hpp"
if sh "$here/check_abi.sh" "$work/abi" >"$work/log" 2>&1 || ! grep -q "is still 7" "$work/log"; then
  echo "FAILED: a change of the plugin interface was not reported"
  failed=1
fi
echo 'struct Other { virtual int f(); };' >"$work/abi/backends/other.hpp"
echo 'struct Preconditioner { virtual int g(); };' >"$work/abi/solvers/preconditioners/preconditioner.hpp"
if sh "$here/check_abi.sh" "$work/abi" >"$work/log" 2>&1 || ! grep -q "is still 7" "$work/log"; then
  echo "FAILED: a change of a class that users derive from was not reported"
  failed=1
fi

# Headers: one that stands alone, two that do not, one without an include guard.
mkdir -p "$work/include/voussoir"
printf '#pragma once\n#include <vector>\nstd::vector<int> f();\n' >"$work/include/voussoir/good.hpp"
printf '#pragma once\nstd::vector<int> f();\n' >"$work/include/voussoir/leaning.hpp"
printf '#pragma once\n#include <string>\n#include <vector>\nstd::map<int, std::string> f(std::vector<int>);\n' \
  >"$work/include/voussoir/leaning_less.hpp"
printf 'struct Twice {};\n' >"$work/include/voussoir/unguarded.hpp"
echo good.hpp >"$work/list"
if ! sh "$here/check_headers.sh" "$cxx" "$work/include" "$work/list" >"$work/log" 2>&1; then
  echo "FAILED: a header that stands alone was refused:"
  cat "$work/log"
  failed=1
fi
for bad in leaning.hpp leaning_less.hpp unguarded.hpp; do
  printf 'good.hpp\n%s\n' "$bad" >"$work/list"
  if sh "$here/check_headers.sh" "$cxx" "$work/include" "$work/list" >"$work/log" 2>&1; then
    echo "FAILED: $bad was not noticed"
    failed=1
  elif ! grep -q "^  voussoir/$bad\$" "$work/log" || grep -q "^  voussoir/good.hpp\$" "$work/log"; then
    echo "FAILED: $bad should be the only header named:"
    cat "$work/log"
    failed=1
  fi
done

[ "$failed" -eq 0 ] && echo "every planted mistake was reported, and nothing else"
exit "$failed"

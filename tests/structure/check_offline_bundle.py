#!/usr/bin/env python3
"""check_offline_bundle.py ROOT CXX
Packages of Debian's kind, made up here, become a bundle that a program is linked with and run: what
tools/offline-bundle does after it has fetched them. The fetching itself needs a network and is not tested.
"""

import importlib.util
import os
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

root, cxx = Path(sys.argv.pop(1)), sys.argv.pop(1)
sys.dont_write_bytecode = True
loader = SourceFileLoader("offline_bundle", str(root / "tools/offline-bundle"))
tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("offline_bundle", loader))
loader.exec_module(tool)

TRIPLET = subprocess.run([cxx, "-dumpmachine"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
EXPORT = '''get_filename_component(_IMPORT_PREFIX "${CMAKE_CURRENT_LIST_FILE}" PATH)
# Use original install prefix when loaded through a
# cross-prefix symbolic link such as /lib -> /usr/lib.
get_filename_component(_realCurr "${_IMPORT_PREFIX}" REALPATH)
get_filename_component(_realOrig "/usr/lib/TRIPLET/cmake/outer" REALPATH)
if(_realCurr STREQUAL _realOrig)
  set(_IMPORT_PREFIX "/usr/lib/TRIPLET/cmake/outer")
endif()
unset(_realOrig)
unset(_realCurr)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
get_filename_component(_IMPORT_PREFIX "${_IMPORT_PREFIX}" PATH)
set(location "${_IMPORT_PREFIX}/lib/TRIPLET/libouter.so.1.2.3")
'''


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def compile_library(source, path, soname, *more):
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [cxx, "-shared", "-fPIC", f"-Wl,-soname,{soname}", "-o", path, "-x", "c++", "-", "-x", "none", *more]
    subprocess.run(command, input=source, text=True, check=True)


class OfflineBundle(unittest.TestCase):
    """libouter needs libinner, which lies in another package; both have links of the kinds that Debian has."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.packages = Path(self.folder.name) / "packages"
        outer, development, inner = (self.packages / name for name in ("libouter1", "libouter-dev", "libinner2"))
        libraries = Path("usr/lib") / TRIPLET
        compile_library("int inner() { return 42; }", inner / "lib" / TRIPLET / "libinner.so.2.0", "libinner.so.2")
        (inner / "lib" / TRIPLET / "libinner.so.2").symlink_to("libinner.so.2.0")
        compile_library("int inner(); int outer() { return inner(); }", outer / libraries / "libouter.so.1.2.3",
                        "libouter.so.1", inner / "lib" / TRIPLET / "libinner.so.2.0")
        (outer / libraries / "libouter.so.1").symlink_to("libouter.so.1.2.3")
        (development / libraries).mkdir(parents=True)
        (development / libraries / "libouter.so").symlink_to("libouter.so.1")
        (development / libraries / "libabsent.so").symlink_to("libabsent.so.7")  # of a package that is not followed
        write(development / libraries / "libouter.a", "a static twin")
        write(development / libraries / "cmake/outer/outer-targets.cmake", EXPORT.replace("TRIPLET", TRIPLET))
        write(development / "usr/include/outer.h", "int outer();\n")
        write(development / "usr/share/doc/libouter-dev/copyright", "free\n")
        write(self.packages / "libouter1/usr/share/doc/libouter1/copyright", "free\n")
        boost = self.packages / "libboost-dev/usr/include/boost"
        write(boost / "graph/adjacency_list.hpp", "#define FILE <boost/by_macro.hpp>\n#include \"beside.hpp\"\n")
        write(boost / "graph/beside.hpp", "#include <boost/far.hpp>\n")
        for name in ("by_macro.hpp", "far.hpp", "unused.hpp"):
            write(boost / name, "\n")

    def bundle(self, links):
        made = tool.Bundle(self.packages, Path(self.folder.name) / "bundle", TRIPLET, links)
        made.copy_headers()
        made.copy_boost_headers()
        made.copy_libraries()
        made.copy_cmake_files()
        made.copy_licences()
        return made.folder

    def check_program(self, folder):
        program = folder.parent / "program"
        libraries = folder / "lib"
        subprocess.run([cxx, "-x", "c++", "-", "-I", folder / "include", "-o", program, "-x", "none",
                        libraries / "libouter.so", f"-Wl,-rpath,{libraries}", f"-Wl,-rpath-link,{libraries}"],
                       input="#include <outer.h>\nint main() { return outer(); }\n", text=True, check=True)
        # Here as patchelf would leave it: libouter finds libinner beside itself.
        done = subprocess.run([program], env=dict(os.environ, LD_LIBRARY_PATH=str(folder / "lib")), check=False)
        self.assertEqual(done.returncode, 42)

    def test_links_lead_where_they_should(self):
        folder = self.bundle(links=True)
        self.assertEqual(sorted(p.name for p in (folder / "lib").iterdir()),
                         ["cmake", "libinner.so.2", "libouter.so", "libouter.so.1"])
        self.assertTrue((folder / "lib/libouter.so").is_symlink())
        self.check_program(folder)

    def test_without_links_a_linker_script_stands_in(self):
        folder = self.bundle(links=False)
        self.assertFalse(any(p.is_symlink() for p in folder.rglob("*")))
        self.check_program(folder)

    def test_cmake_files_find_the_prefix_from_where_they_lie(self):
        folder = self.bundle(links=True)
        script = folder.parent / "script.cmake"
        script.write_text(f'include("{folder}/lib/cmake/outer/outer-targets.cmake")\nmessage("${{location}}")\n')
        self.assertNotIn("/usr", (folder / "lib/cmake/outer/outer-targets.cmake").read_text())
        done = subprocess.run(["cmake", "-P", script], stderr=subprocess.PIPE, text=True, check=True)
        self.assertEqual(done.stderr.strip(), f"{folder}/lib/libouter.so.1")

    def test_headers_of_boost_are_those_that_are_named(self):
        folder = self.bundle(links=True)
        found = sorted(str(p.relative_to(folder / "include/boost")) for p in folder.rglob("boost/**/*.hpp"))
        self.assertEqual(found, ["by_macro.hpp", "far.hpp", "graph/adjacency_list.hpp", "graph/beside.hpp"])

    def test_licences_come_along(self):
        self.assertTrue((self.bundle(links=True) / "share/licences/libouter-dev").is_file())

    def test_a_missing_library_is_named(self):
        for file in (self.packages / "libinner2/lib" / TRIPLET).iterdir():
            file.unlink()
        with self.assertRaisesRegex(SystemExit, "libouter.so.1 needs libinner.so.2"):
            self.bundle(links=True)

    def test_it_starts_from_the_one_list(self):
        lines = [line.split() for line in (root / "tools/packages.txt").read_text().splitlines()]
        wanted = [words[1] for words in lines if words[:1] in (["build"], ["test"])]
        self.assertEqual(set(wanted) - set(tool.listed_packages()), {"cmake", "ninja-build"})

    def add_petsc(self):
        """Packages with the folders that Debian's PETSc, SLEPc and pkgconf have."""
        for name, title, header in (("petsc", "PETSc", "petscksp.h"), ("slepc", "SLEPc", "slepceps.h")):
            folder = Path(f"usr/lib/{name}dir/{name}3.1/{TRIPLET}-real")
            development, library = self.packages / f"lib{name}-real3.1-dev", f"lib{name}_real.so.3.1"
            real = self.packages / f"lib{name}-real3.1/usr/lib" / TRIPLET / f"{library}.5"
            compile_library("int solve() { return 7; }", real, library)
            real.with_name(library).symlink_to(real.name)
            (development / folder / "lib").mkdir(parents=True)
            (development / folder / f"lib/lib{name}_real.so").symlink_to(f"lib{name}_real.so.3.1.5")
            (development / folder / f"lib/lib{name}_real.so.3.1.5").symlink_to(f"../../../../{TRIPLET}/{real.name}")
            write(development / folder / "include" / header, "int solve();\n")
            write(development / folder / f"lib/pkgconfig/{name}.pc",
                  f"prefix=/usr/lib/{name}dir\nName: {title}\nVersion: 3.1.5\nLibs: -L${{libdir}} -l{name}_real\n")
        program = self.packages / "pkgconf-bin/usr/bin/pkgconf"
        program.parent.mkdir(parents=True)
        subprocess.run([cxx, "-x", "c++", "-", "-o", program], input="int main() {}", text=True, check=True)

    def test_petsc_is_found_by_files_for_pkg_config_that_may_lie_anywhere(self):
        self.add_petsc()
        made = tool.Bundle(self.packages, Path(self.folder.name) / "bundle", TRIPLET, True, petsc=True)
        made.copy_libraries()
        made.copy_petsc()
        self.assertEqual((made.folder / "lib/libpetsc_real.so").resolve().name, "libpetsc_real.so.3.1")
        text = (made.folder / "lib/pkgconfig/SLEPc.pc").read_text()
        self.assertIn("prefix=${pcfiledir}/../..", text)
        self.assertNotIn("/usr", text)

    def test_petsc_brings_libraries_but_no_development_files_and_no_mpi(self):
        follows = tool.followed_by_petsc
        self.assertTrue(follows("libpetsc-real-dev", "libpetsc-real3.18-dev"))
        self.assertFalse(follows("libpetsc-real3.18-dev", "libhypre-dev"))
        self.assertTrue(follows("libpetsc-real3.18", "libhypre-2.26.0"))
        self.assertFalse(follows("libpetsc-real3.18", "libopenmpi3"))
        self.assertIn("libslepc-real-dev", tool.petsc_packages())
        self.assertTrue(tool.OF_MPI.match("libmpi_mpifh.so.40"))
        self.assertFalse(tool.OF_MPI.match("libmpi.so.12"))


if __name__ == "__main__":
    unittest.main()

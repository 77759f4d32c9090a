#pragma once
#include <string>

namespace voussoir::app {

/// Measures reading and writing of a mesh of n × n × n nodes (bricks): decks, Gmsh meshes, VTU. Every file is read back
/// and checked. Times stand beside the floor (touching every byte of the file once) and a peer (numbers taken from a
/// stream, as a first version of any reader does it). Files are made in the folder of temporary files and removed.
void bench_files(int n);

/// What a process of its own does to tell its memory: reads a file and prints its peak in kB.
void bench_files_child(const std::string& path);

}  // namespace voussoir::app

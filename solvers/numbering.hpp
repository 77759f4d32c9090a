#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// Creates a numberer by name, as StaticOptions::numbering and `--numbering` give it:
///
///   auto      rcm for matrices whose size depends on the numbering (`envelope`); divided on several devices; else
///   plain plain     the order in which the user gave the nodes; devices get contiguous ranges of it rcm       reverse
///   Cuthill–McKee divided[:METHOD][,speeds=S]   each device gets a part of the mesh (DividedNumberer), by METHOD:
///   auto, or a name in
///             node_dividers(). S is a list of relative speeds of the devices, 2/1/1, or `measured`, by
///             measure_device_speeds(), or `profile`, by profile_device_speeds().
///
/// An unknown name is an Error (not_found), and wrong settings are one (bad_input).
std::shared_ptr<DofNumberer> make_numberer(const std::string& name, Backend& backend, bool envelope = false);
/// Throws the Error of make_numberer() where the name or its settings are wrong, without a backend.
void check_numbering(const std::string& name);

/// Whether a numbering takes the speeds of devices from measurements: `speeds=measured`.
bool measures_speeds(const std::string& numbering);
/// The same numbering with these speeds in place of measured ones.
std::string with_speeds(const std::string& numbering, const std::vector<double>& speeds);

}  // namespace voussoir

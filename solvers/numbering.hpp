#pragma once
#include <memory>
#include <string>
#include <vector>

#include <voussoir/backends/backend.hpp>
#include <voussoir/framework/model/dof_numberer.hpp>

namespace voussoir {

/// Creates a numberer by name, as StaticOptions::numbering and `--numbering` give it:
///
/// - `auto`: `rcm` for matrices whose size depends on the numbering (`envelope`); on several devices `divided`;
///   otherwise `plain`.
/// - `plain`: the order in which the user gave the nodes. Each device gets a contiguous range of it.
/// - `rcm`: reverse Cuthill–McKee.
/// - `divided[:METHOD][,speeds=S]`: each device gets a part of the mesh (DividedNumberer). METHOD is `auto` or
///   a name in node_dividers(). S is a list of relative speeds of the devices, such as 2/1/1; or `measured`
///   (measure_device_speeds()); or `profile` (profile_device_speeds()).
///
/// An unknown name is an Error (not_found); wrong settings are an Error (bad_input).
std::shared_ptr<DofNumberer> make_numberer(const std::string& name, Backend& backend, bool envelope = false);
/// Throws the same Error as make_numberer() if the name or its settings are wrong. Needs no backend.
void check_numbering(const std::string& name);

/// Whether a numbering measures the speeds of the devices: `speeds=measured`.
bool measures_speeds(const std::string& numbering);
/// The same numbering with these speeds in place of measured ones.
std::string with_speeds(const std::string& numbering, const std::vector<double>& speeds);

}  // namespace voussoir

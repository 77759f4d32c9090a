#pragma once
// What the validation cases share: models are built through the public interface alone, and solved as a user would.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

namespace voussoir::validation {

using Position = std::array<double, 3>;

inline constexpr double pi = 3.14159265358979323846;

/// Where a node lies.
Position position(const Domain& domain, std::int32_t node);
/// The node nearest to a place; a case that names a place has a node there.
std::int32_t node_at(const Domain& domain, Position place);
/// A set that holds one node alone; made at the first asking.
std::string only(Domain& domain, std::int32_t node);
/// Nodes of faces that belong to one element only: the skin of the mesh.
std::vector<std::int32_t> skin(const Domain& domain);
/// Prescribes the first `components` unknowns of `names` at nodes, each by its place.
void prescribe_field(Domain& domain, const std::vector<std::int32_t>& nodes, const std::vector<std::string>& names,
                     const std::function<std::vector<double>(const Position&)>& field);

/// Solves everything at factor 1.
StepResult solve(const Domain& domain, const StaticOptions& options = {});

/// A recovered quantity at a node, carried there from the points of the elements; the model has one material.
double at_node(const Domain& domain, const StepResult& result, const std::string& name, std::int32_t node);

/// |value − expected| ≤ tolerance · |expected|.
void expect_relative(double value, double expected, double tolerance, const std::string& what = {});

std::shared_ptr<Material> elastic(double young, double poisson, double density = 0, double expansion = 0);
std::shared_ptr<Material> conducting(double conductivity);

/// NAFEMS 5T: a simply supported deep beam of Hex20, 10 × 2 × 2, under a load of 1 MN/m ("load") that acts suddenly,
/// here as a body force; damped by C = 5.36 M + 7.46e-5 K. The reference is a peak of 1.043 mm at 0.0117 s and 0.538 mm
/// at rest; with these elements 1.0510 at 0.0117, 0.5402. Returns the node at the centre.
Id build_deep_beam(Domain& domain);

/// Nodal forces of a traction t(x) on the faces of a surface of a plane body, integrated with five points per edge.
void add_plane_traction(Domain& domain, LoadCase& load, const std::string& surface, double thickness,
                        const std::function<std::array<double, 2>(const Position&)>& traction);

}  // namespace voussoir::validation

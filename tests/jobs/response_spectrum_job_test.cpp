#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>

#include <voussoir/framework/io/job/job_file.hpp>
#include <voussoir/jobs/result_files.hpp>

#include "job_models.hpp"

// A response-spectrum analysis from a job file, against a shear building of three storeys in closed form.

namespace voussoir {
namespace {

using testing::plainly;

constexpr int storeys = 3;
constexpr double pi = 3.14159265358979323846, young = 900, area = 0.5, density = 2, height = 1.5, ratio = 0.05;

/// The storeys are bars in a row along x, of which node 0 is the ground: as unknowns and matrices it is a building
/// whose floors move sideways. Shapes are sin(q j) with q = (2n − 1) π / 2N, and λ = (6E/ρh²) (1 − cos q)/(2 + cos q),
/// the exact modes of a chain with the mass matrix ρAh/6 (2 1; 1 2) of each bar.
struct Building {
  std::array<double, storeys> lambda{}, participation{};
  std::array<std::array<double, storeys + 1>, storeys> shape{};  // M-orthonormal

  Building() {
    for (int n = 0; n < storeys; ++n) {
      const double q = (2 * n + 1) * pi / (2 * storeys);
      lambda[n] = 6 * young / (density * height * height) * (1 - std::cos(q)) / (2 + std::cos(q));
      double mass = 0, inertia = 0;
      for (int j = 0; j <= storeys; ++j) shape[n][j] = std::sin(q * j);
      for (int e = 0; e < storeys; ++e) {
        const double a = shape[n][e], b = shape[n][e + 1], unit = density * area * height / 6;
        mass += unit * (2 * a * a + 2 * a * b + 2 * b * b);
        inertia += unit * 3 * (a + b);  // with the ground's motion at both ends
      }
      for (double& value : shape[n]) value /= std::sqrt(mass);
      participation[n] = inertia / std::sqrt(mass);
    }
  }
  double period(int n) const { return 2 * pi / std::sqrt(lambda[n]); }
  /// The peak of a mode's coordinate under S_a(T).
  template <class Spectrum>
  double peak(int n, const Spectrum& acceleration) const {
    return participation[n] * acceleration(period(n)) / lambda[n];
  }
};

/// Der Kiureghian's coefficient for equal damping, written with β = ω_i/ω_j.
double correlation(double omega_i, double omega_j) {
  const double beta = omega_i / omega_j, z = ratio;
  const double upper = 8 * z * z * (1 + beta) * std::pow(beta, 1.5);
  return upper / (std::pow(1 - beta * beta, 2) + 4 * z * z * beta * std::pow(1 + beta, 2));
}

class SpectrumJob : public testing::FolderTest {
 protected:
  struct Found {
    NodalField displacement;
    std::vector<double> forces;  // of the bars
    std::vector<ResponsePeak> peaks;
  };

  /// The job with this step of spectra, run from its file.
  Found run(const std::string& step) {
    std::ofstream mesh(folder_ / "building.msh");
    mesh << "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n0 1 \"ground\"\n1 2 \"storeys\"\n"
            "$EndPhysicalNames\n$Nodes\n4\n";
    for (int j = 0; j <= storeys; ++j) mesh << j + 1 << " " << height * j << " 0 0\n";
    mesh << "$EndNodes\n$Elements\n4\n1 15 2 1 1 1\n";
    for (int e = 0; e < storeys; ++e) mesh << e + 2 << " 1 2 2 1 " << e + 1 << " " << e + 2 << "\n";
    mesh << "$EndElements\n";
    mesh.close();
    std::ofstream(folder_ / "building.json")
        << R"({"mesh": "building.msh", "materials": {"m": {"young": 900, "poisson": 0, "density": 2}},
      "sections": [{"group": "storeys", "physics": "truss", "area": 0.5, "material": "m"}],
      "supports": [{"group": "ground", "ux": 0}, {"group": "storeys", "uy": 0, "uz": 0}],
      "steps": [{"name": "modes", "analysis": "frequency", "modes": 3},
                {"name": "code", "analysis": "spectrum", "damping": 0.05, )"
        << step << "}]}";
    class Kept : public StepReceiver {
     public:
      void step(std::size_t, StepResult) override {}
      void modes(std::size_t, std::shared_ptr<const ModeSet>) override {}
      void state(std::size_t, StepState state) override { result = std::move(state.result); }
      void end(std::size_t, StepResponse response) override { last = std::move(response); }
      StepResult result;
      StepResponse last;
    } kept;
    Job job = read_job_file(folder_ / "building.json");
    run_job(job, plainly(), {}, kept);
    Found found;
    found.displacement = kept.result.unknowns;
    for (int e = 0; e < storeys; ++e) found.forces.push_back(kept.result.points.at(0).at(e, 0, "N"));
    found.peaks = kept.last.peaks;
    return found;
  }
};

// S_a = 2 (1 + 0.3 T): the table is linear, and so is its interpolation.
TEST_F(SpectrumJob, ShearBuildingUnderItsSpectrum) {
  const Building building;
  const auto acceleration = [](double period) { return 2 * (1 + 0.3 * period); };
  for (const std::string combination : {"srss", "cqc", "absolute"}) {
    const Found found = run(R"("combination": ")" + combination +
                            R"(", "directions": [{"direction": "x", "spectrum": [[0, 1], [10, 4]], "factor": 2}])");
    const auto combined = [&](const auto& of_mode) {
      double square = 0, sum = 0;
      for (int i = 0; i < storeys; ++i) {
        sum += std::abs(of_mode(i));
        for (int j = 0; j < storeys; ++j) {
          const double rho = i == j ? 1
                             : combination == "cqc"
                                 ? correlation(std::sqrt(building.lambda[i]), std::sqrt(building.lambda[j]))
                                 : 0;
          square += rho * of_mode(i) * of_mode(j);
        }
      }
      return combination == "absolute" ? sum : std::sqrt(square);
    };
    for (int j = 1; j <= storeys; ++j) {
      const double expected = combined([&](int n) { return building.shape[n][j] * building.peak(n, acceleration); });
      EXPECT_NEAR(found.displacement.at(j, 0), expected, 1e-8 * expected) << combination << ", floor " << j;
    }
    for (int e = 0; e < storeys; ++e) {
      const double expected = combined([&](int n) {
        return young * area / height * (building.shape[n][e + 1] - building.shape[n][e]) *
               building.peak(n, acceleration);
      });
      EXPECT_NEAR(found.forces[static_cast<std::size_t>(e)], expected, 1e-8 * expected) << combination << ", bar " << e;
    }
  }
}

// CQC and SRSS differ where frequencies are close; the combined roof displacement of all three rules is ordered.
TEST_F(SpectrumJob, PeaksNameTheRoof) {
  const Found found = run(R"("directions": [{"direction": "x", "spectrum": [[0, 1], [10, 4]]}])");
  ASSERT_FALSE(found.peaks.empty());
  EXPECT_EQ(found.peaks[0].quantity, "ux");
  EXPECT_EQ(found.peaks[0].place, "node 4");
  EXPECT_NEAR(found.peaks[0].value, found.displacement.at(storeys, 0), 1e-15);
}

// With static correction all mass that the modes do not move follows the rigid acceleration: here the modes are all
// there are, so that floors do not change, and the ground of the table is not asked for.
TEST_F(SpectrumJob, AllModesLeaveNothingToCorrect) {
  const std::string directions = R"("directions": [{"direction": "x", "spectrum": [[0.01, 1], [10, 4]])";
  const Found plain = run(directions + "}]"),
              corrected = run(directions + R"(, "rigid_acceleration": 5}], "static_correction": "yes")");
  for (int j = 1; j <= storeys; ++j)
    EXPECT_NEAR(corrected.displacement.at(j, 0), plain.displacement.at(j, 0), 1e-8 * plain.displacement.at(j, 0));
}

}  // namespace
}  // namespace voussoir

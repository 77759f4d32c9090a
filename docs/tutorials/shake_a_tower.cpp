// The program of docs/mode_superposition.md: a tower in an earthquake by superposition of its modes. Fails where the
// numbers contradict each other.

#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <complex>
#include <cstdio>
#include <memory>

using namespace voussoir;

int main() {
  // A tower of 30 m, clamped at its foot, with wind from the side.
  Domain domain;
  BoxMesh tower;
  tower.cells = {3, 3, 15};
  tower.upper = {4, 4, 30};
  add_box_mesh(domain, tower).set_material(std::make_shared<IsotropicMaterial>("masonry", 3e9, 0.2, 1900));
  domain.prescribe("zmin", "all");
  domain.add_load_case("wind").pressure("xmin", 800);

  // Its modes.
  auto analysis = make_modal_analysis(domain, {.backend = "openmp"});
  EigenRequest request;
  request.modes = 12;
  analysis->solve(request);

  // What acts on it: an earthquake along x, in parts of g, and wind that comes and stays.
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(std::exp(-0.25 * 0.01 * i) * (0.3 * std::sin(0.09 * i) + 0.2 * std::sin(0.21 * i)));
  const Accelerogram quake = Accelerogram::evenly_spaced(0.01, values);
  ModeSuperposition modes = make_mode_superposition(*analysis);
  modes.set_damping(ModalDamping::ratio(0.05));
  modes.add_base_acceleration("x", quake, 9.81);
  modes.add_load_case("wind", Amplitude({{0, 0}, {2, 1}}));
  std::printf("%s\n", modes.truncation().text().c_str());

  // The response over time: histories, extremes, stresses, reactions, a floor spectrum.
  const SuperposedHistory history = modes.time_history(even_times(0, 12, 0.01));
  const Id top = domain.node_id(domain.node_count() - 1);
  const std::vector<double> at_top = history.history(top, "ux");
  const NodalField::Extreme largest = history.extremes().magnitude.largest("ux");
  const PointExtremes stresses = history.point_extremes().front();
  const Extremes shear = history.reaction_extremes().sums[0];
  const auto floor = history.floor_spectrum(top, "ux", logarithmic_periods(0.05, 2, 20), 0.02);
  std::printf("the top moves by up to %.1f mm, at the end by %.1f mm\n", 1e3 * largest.value, 1e3 * at_top.back());
  std::printf("von Mises stress up to %.2f MPa at %.2f s, base shear up to %.0f kN at %.2f s\n",
              1e-6 * stresses.largest("mises").peak.value, stresses.largest("mises").peak.time,
              1e-3 * shear.peak().value, shear.peak().time);
  std::printf("an oscillator of %.2f s on the top: %.1f m/s²\n", floor[10].period, floor[10].acceleration);

  // The whole state at one time, as an analysis of one step would have it.
  const StepResult state = history.state(500);
  std::printf("%s: reactions along x sum to %.0f kN\n", state.step.c_str(), 1e-3 * state.reaction_sum[0]);

  // The same earthquake by its response spectrum.
  std::vector<double> periods{0};
  for (const double period : logarithmic_periods(0.02, 4, 200)) periods.push_back(period);
  const SpectrumInput along_x{"x", response_spectrum(quake, periods, 0.05), 9.81};
  const SpectrumPeaks peaks = modes.response_spectrum({&along_x, 1}, ModalCombination::cqc);
  std::printf("by the response spectrum: %.1f mm, %.0f kN\n", 1e3 * peaks.displacement.largest("ux").value,
              1e-3 * peaks.reaction_sum[0]);

  // Harmonic wind.
  modes.add_harmonic_load_case("wind");
  const SuperposedSweep sweep = modes.harmonic_sweep(sweep_frequencies(modes.system(), 0.1, 10));
  double most = 0, frequency = 0;
  const auto response = sweep.history(top, "ux");
  for (std::size_t k = 0; k < sweep.count(); ++k)
    if (std::abs(response[k]) > most) most = std::abs(response[k]), frequency = sweep.frequencies()[k];
  std::printf("harmonic wind moves the top by %.1f mm at %.3f Hz\n", 1e3 * most, frequency);

  // Without the earthquake, the wind is static in the end; with it, the two ways to a peak agree within a quarter.
  modes.clear_loads();
  modes.add_base_acceleration("x", quake, 9.81);
  const double alone = modes.time_history(even_times(0, 12, 0.01)).extremes().magnitude.largest("ux").value;
  const bool peaks_agree = std::abs(peaks.displacement.largest("ux").value / alone - 1) < 0.25;
  const bool resonates = std::abs(frequency / analysis->modes().frequency(0) - 1) < 0.02;
  const bool balanced = std::abs(state.reaction_sum[0]) <= std::abs(shear.peak().value) * (1 + 1e-9);
  if (!peaks_agree || !resonates || !balanced) std::printf("the numbers contradict each other\n");
  return peaks_agree && resonates && balanced ? 0 : 1;
}

// The program of docs/tutorials/hit_a_mast.md: a mast that is hit at its tip, by direct integration and by
// superposition of its modes. Draws both, and fails where they contradict each other.

#include <voussoir/framework/io/output_file.hpp>
#include <voussoir/framework/io/picture/picture.hpp>
#include <voussoir/framework/io/picture/response_plots.hpp>
#include <voussoir/framework/mesh/structured_mesh.hpp>
#include <voussoir/voussoir.hpp>

#include <cmath>
#include <cstdio>

using namespace voussoir;

int main() {
  // A steel mast, 100 mm square and 3 m high, clamped at its foot; 1 kN hits it at its top, for 5 ms.
  Domain mast;
  BoxMesh mesh;
  mesh.cells = {2, 2, 16};
  mesh.upper = {0.1, 0.1, 3};
  add_box_mesh(mast, mesh).set_material(std::make_shared<IsotropicMaterial>("steel", 2.1e11, 0.3, 7850));
  mast.prescribe("zmin", "all");
  const Id tip = mast.node_id(mast.node_count() - 1);
  mast.add_load_case("hit").nodal_at(tip, "ux", 1000);
  std::vector<Amplitude::Point> half_sine;
  for (int i = 0; i <= 20; ++i) half_sine.emplace_back(i * 0.25e-3, std::sin(std::acos(-1.0) * i / 20));
  const Amplitude pulse(half_sine);
  const double alpha = 2, beta = 2e-5, end = 0.3, step = 2.5e-4;  // damping C = α M + β K

  // Direct integration: every unknown, step by step.
  TransientOptions options;
  options.solver = "direct";
  options.method = "hht:alpha=-0.05";
  options.damping = {alpha, beta};
  auto direct = make_transient_analysis(mast, options);
  direct->loads().add_load_case("hit", pulse);
  direct->set_steps({.end = end, .step = step});
  const auto recorder = std::make_shared<HistoryRecorder>();
  recorder->add(tip, "ux");
  direct->add_recorder(recorder);
  direct->run();

  // Superposition: a few modes, each exactly in time.
  auto modal = make_modal_analysis(mast, ModalOptions{});
  EigenRequest request;
  request.modes = 8;
  modal->solve(request);
  ModeSuperposition modes = make_mode_superposition(*modal);
  modes.set_damping(ModalDamping::rayleigh(alpha, beta));
  modes.add_load_case("hit", pulse);
  const std::vector<double> times = even_times(0, end, step);
  const SuperposedHistory history = modes.time_history(times);
  const std::vector<double> superposed = history.history(tip, "ux");

  // Both curves in one plot, and the mast at its largest deflection, coloured by stress.
  std::size_t peak = 0;
  double difference = 0;
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (std::abs(superposed[k]) > std::abs(superposed[peak])) peak = k;
    difference = std::max(difference, std::abs(superposed[k] - recorder->values(0)[k]));
  }
  OutputFile plot("hit_a_mast.svg", true);
  plot.write(history_plot("A mast is hit", times,
                          {{"direct integration", recorder->values(0)}, {"8 modes", superposed}},
                          "displacement of the tip [m]")
                 .svg());
  plot.commit();
  const StepResult bent = history.state(peak);
  Picture picture(mast);
  picture.deform(bent.unknowns).colour(nodal_stress(mast, bent), "mises", "von Mises stress [MPa]", 1e-6);
  PictureOptions look;
  look.overwrite = true;
  look.title = "A mast at its largest deflection";
  picture.write("hit_a_mast.png", look);

  const double share = difference / std::abs(superposed[peak]);
  std::printf("%s\n", modes.truncation().text().c_str());
  std::printf("the tip moves by %.3f mm at %.1f ms; the curves differ by at most %.2f %% of that\n",
              1e3 * superposed[peak], 1e3 * times[peak], 100 * share);
  std::printf("%d steps, %d matrix; %.3g %% of the energy is lost to the method\n", direct->report().steps,
              direct->report().factorisations, 100 * direct->energies().numerical() / direct->energies().scale());
  return share < 0.02 ? 0 : 1;
}

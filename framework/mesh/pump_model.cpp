#include <algorithm>
#include <cmath>
#include <set>

#include <voussoir/backends/error.hpp>
#include <voussoir/framework/mesh/detail/sample_parts.hpp>

// The pump on a frame, brick by brick. x runs along the pump, y across it, z up; the ground is z = 0.

namespace voussoir {
namespace {

using Point = BlockMesh::Point;

// The frame, welded of I-beams with equal profiles.
constexpr double frame_length = 2.4;
constexpr double beam_width = 0.14, beam_height = 0.20, flange = 0.016, web = 0.012;
constexpr double half_track = 0.5;  // of the two long beams, from axis to middle
constexpr double foot_thickness = 0.025, foot_margin = 0.05;
constexpr double leg_top = 0.35, frame_top = leg_top + beam_height;
constexpr double saddle_places[] = {0.75, 1.55};  // on two of the four cross beams
constexpr double saddle_half_width = 0.30;

// The pump: rings around its axis, and the steps of its profile.
constexpr double axis_height = frame_top + 0.45;
constexpr double core_radius = 0.11, housing_radius = 0.22, casing_radius = 0.32, collar_radius = 0.38;
constexpr int core = 0, housing = 1, casing = 2, collar = 3;
constexpr struct {
  double from, to;
  int ring;  // the outermost
} profile[] = {{0.12, 0.30, core},   {0.30, 0.60, housing}, {0.60, 0.65, collar}, {0.65, 1.65, casing},
               {1.65, 1.70, collar}, {1.70, 1.95, housing}, {1.95, 2.00, casing}};
constexpr double nozzle_place = 1.15, nozzle_half_length = 0.15;
constexpr double neck_radius = 0.12, neck_top = axis_height + 0.52, nozzle_radius = 0.21, nozzle_top = neck_top + 0.04;

struct Plate {
  Point lower, upper;
};

/// All plates of the frame.
std::vector<Plate> frame_plates() {
  std::vector<Plate> plates;
  const double low = leg_top + flange, high = frame_top - flange;  // of webs
  const double half = beam_width / 2;
  for (double y : {-half_track, half_track}) {
    plates.push_back({{0, y - half, leg_top}, {frame_length, y + half, low}});
    plates.push_back({{0, y - half, high}, {frame_length, y + half, frame_top}});
    plates.push_back({{0, y - web / 2, low}, {frame_length, y + web / 2, high}});
    for (double x : {half, frame_length - half}) {
      // A leg is an I-beam upright; its flanges go on as stiffeners through the long beam.
      for (double side : {x - half, x + half - flange})
        plates.push_back({{side, y - half, foot_thickness}, {side + flange, y + half, frame_top}});
      plates.push_back({{x - half, y - web / 2, foot_thickness}, {x + half, y + web / 2, leg_top}});
      plates.push_back({{x - half - foot_margin, y - half - foot_margin, 0},
                        {x + half + foot_margin, y + half + foot_margin, foot_thickness}});
    }
  }
  // Cross beams, between the webs of the long ones.
  const double inner = half_track - web / 2;
  for (double x : {half, saddle_places[0], saddle_places[1], frame_length - half}) {
    plates.push_back({{x - half, -inner, leg_top}, {x + half, inner, low}});
    plates.push_back({{x - half, -inner, high}, {x + half, inner, frame_top}});
    plates.push_back({{x - web / 2, -inner, low}, {x + web / 2, inner, high}});
  }
  return plates;
}

/// Places where bricks end along an axis; those that differ by rounding are one.
class Cuts {
 public:
  void add(double x) { places_.insert(std::llround(x * 1e7)); }
  std::vector<double> between(double from, double to) const {
    std::vector<double> result;
    for (std::int64_t p : places_)
      if (const double x = static_cast<double>(p) / 1e7; x > from - 1e-7 && x < to + 1e-7) result.push_back(x);
    return result;
  }

 private:
  std::set<std::int64_t> places_;
};

void add_frame(BlockMesh& mesh) {
  const std::vector<Plate> plates = frame_plates();
  Cuts cuts[3];
  for (const Plate& plate : plates)
    for (int a = 0; a < 3; ++a) {
      cuts[a].add(plate.lower[a]);
      cuts[a].add(plate.upper[a]);
    }
  for (double y : {-saddle_half_width, 0.0, saddle_half_width}) cuts[1].add(y);  // where saddles stand on it
  std::vector<double> x[3];
  for (int a = 0; a < 3; ++a) x[a] = cuts[a].between(-10, 10);
  for (std::size_t k = 0; k + 1 < x[2].size(); ++k)
    for (std::size_t j = 0; j + 1 < x[1].size(); ++j)
      for (std::size_t i = 0; i + 1 < x[0].size(); ++i) {
        const Point lower{x[0][i], x[1][j], x[2][k]}, upper{x[0][i + 1], x[1][j + 1], x[2][k + 1]};
        const bool solid = std::any_of(plates.begin(), plates.end(), [&](const Plate& plate) {
          for (int a = 0; a < 3; ++a) {
            const double middle = 0.5 * (lower[a] + upper[a]);
            if (middle < plate.lower[a] || middle > plate.upper[a]) return false;
          }
          return true;
        });
        if (solid) mesh.add_box(lower, upper, "frame");
      }
}

/// Cuts along the axis of the pump: its own steps, the saddles and the nozzle.
Cuts pump_cuts() {
  Cuts cuts;
  for (const auto& step : profile) {
    cuts.add(step.from);
    cuts.add(step.to);
  }
  for (double x : saddle_places)
    for (double offset : {beam_width / 2, web / 2}) {
      cuts.add(x - offset);
      cuts.add(x + offset);
    }
  for (double offset : {-nozzle_half_length, 0.0, nozzle_half_length}) cuts.add(nozzle_place + offset);
  return cuts;
}

void add_saddles(BlockMesh& mesh, const detail::Disc& body, const Cuts& cuts) {
  for (double place : saddle_places) {
    const std::vector<double> x = cuts.between(place - beam_width / 2, place + beam_width / 2);
    for (std::size_t i = 0; i + 1 < x.size(); ++i)
      for (int eighth : {5, 6}) {  // both sides of the lowest line of the casing
        std::vector<Point> corners;
        for (double s : {x[i], x[i + 1]}) {
          const double left = eighth == 5 ? -saddle_half_width : 0;
          corners.push_back({s, left, frame_top});
          corners.push_back({s, left + saddle_half_width, frame_top});
          corners.push_back(body.at(casing, eighth + 1, s));
          corners.push_back(body.at(casing, eighth, s));
        }
        mesh.add_block(corners, "frame");
      }
  }
}

void add_body(BlockMesh& mesh, const detail::Disc& body, const Cuts& cuts) {
  for (const auto& step : profile) {
    const std::vector<double> x = cuts.between(step.from, step.to);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      body.add_core(mesh, x[i], x[i + 1], "pump");
      for (int ring = 1; ring <= step.ring; ++ring) body.add_ring(mesh, ring, x[i], x[i + 1], "pump");
    }
  }
}

/// The pressure nozzle: a neck on top of the casing, and a flange.
void add_nozzle(BlockMesh& mesh, const detail::Disc& body) {
  const detail::Disc nozzle({nozzle_place, 0, 0}, 2, {neck_radius, nozzle_radius});
  // Points on the casing: steps of −1, 0, 1 along x and y from the middle.
  const auto base = [&](int i, int j) { return body.at(casing, 2 - j, nozzle_place + i * nozzle_half_length); };
  constexpr int around[9][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}, {1, 0}};
  for (int q = 0; q < 8; q += 2)
    mesh.add_block({base(0, 0), base(around[q][0], around[q][1]), base(around[q + 1][0], around[q + 1][1]),
                    base(around[q + 2][0], around[q + 2][1]), Point{nozzle_place, 0, neck_top},
                    nozzle.at(0, q, neck_top), nozzle.at(0, q + 1, neck_top), nozzle.at(0, q + 2, neck_top)},
                   "pump");
  nozzle.add_core(mesh, neck_top, nozzle_top, "pump");
  nozzle.add_ring(mesh, 1, neck_top, nozzle_top, "pump");
}

}  // namespace

std::vector<SampleStep> add_pump_model(Domain& domain, const PumpModel& model) {
  const char* where = "pump on a frame";
  if (detail::sample_dimension(model.type, where) != 3)
    throw Error(ErrorCode::bad_input, "it is solid; use solid.hex8, solid.hex20, solid.tet4 or solid.tet10", where);
  BlockMesh mesh(3);
  const detail::Disc body({0, 0, axis_height}, 0, {core_radius, housing_radius, casing_radius, collar_radius});
  const Cuts cuts = pump_cuts();
  add_frame(mesh);
  add_saddles(mesh, body, cuts);
  add_body(mesh, body, cuts);
  add_nozzle(mesh, body);
  mesh.name_sides_where("feet", [](double, double, double z) { return z == 0; });
  mesh.name_sides_where("nozzle", [](double, double, double z) { return z == nozzle_top; });
  // The pump is there for its weight and hardly bends; the frame is what bends.
  mesh.set_coarseness("pump", 1.6);
  detail::refine(mesh, model.type, model.fineness, where);
  mesh.fill(domain, model.type);

  domain.block("frame").set_material(detail::elastic("steel", model.frame));
  domain.block("pump").set_material(detail::elastic("pump", model.pump));
  domain.prescribe("feet", "all");
  domain.add_load_case("gravity").gravity("", {0, 0, -model.gravity});
  domain.add_load_case("lateral").gravity("", {0, model.lateral, 0});
  return {{"gravity", {{"gravity", 1}}}, {"gravity + lateral", {{"gravity", 1}, {"lateral", 1}}}};
}

}  // namespace voussoir

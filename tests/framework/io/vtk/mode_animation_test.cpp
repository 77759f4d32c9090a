#include <voussoir/framework/io/vtk/mode_animation.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include <voussoir/framework/mesh/structured_mesh.hpp>

#include "support/expect_error.hpp"
#include "support/scratch_folder.hpp"
#include "support/vtu_file.hpp"

namespace voussoir {
namespace {

using testing::expect_error;

/// A box with the diagonal √(2² + 1² + 2²) = 3 and a shape whose largest displacement is 7.
struct Vibration {
  Domain domain;
  NodalField shape;
  std::filesystem::path folder = testing::empty_scratch_folder("animation");
  VtuMesh mesh;

  Vibration() {
    BoxMesh box;
    box.upper = {2, 1, 2};
    add_box_mesh(domain, box);
    shape = {"displacement", {"ux", "uy", "uz"}, std::vector<double>(domain.coordinates().size(), 0.0)};
    shape.values[3] = 2;
    shape.values[4] = -3;
    shape.values[5] = 6;
  }
  ModeAnimationOptions frames(int count) const {
    ModeAnimationOptions options;
    options.frames = count;
    options.comment = "mode 1";
    return options;
  }
};

TEST(ModeAnimation, IsOnePeriodOfASine) {
  Vibration v;
  const auto path = write_mode_animation(v.domain, v.shape, v.folder, "m", v.mesh, v.frames(8));
  EXPECT_EQ(path, v.folder / "m.pvd");
  const auto names = mode_animation_files("m", 8);
  ASSERT_EQ(names.size(), 9u);
  EXPECT_EQ(names[0], "m.pvd");
  EXPECT_EQ(names[8], "m_frame_008.vtu");
  const double scale = 0.05 * 3 / 7;  // a twentieth of the diagonal
  for (int i = 0; i < 8; ++i) {
    const VtuFile file(v.folder / names[static_cast<std::size_t>(i) + 1]);
    const auto u = file.array<double>("displacement");
    ASSERT_EQ(u.size(), v.shape.values.size());
    const double factor = scale * std::array{0.0, std::sqrt(0.5),  1.0,  std::sqrt(0.5),
                                             0.0, -std::sqrt(0.5), -1.0, -std::sqrt(0.5)}[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < u.size(); ++k) EXPECT_NEAR(u[k], factor * v.shape.values[k], 1e-15) << i;
    EXPECT_NE(file.head().find("mode 1"), std::string::npos);
  }
  std::ifstream in(path);
  std::stringstream list;
  list << in.rdbuf();
  EXPECT_NE(list.str().find("timestep=\"0.875\" part=\"0\" file=\"m_frame_008.vtu\""), std::string::npos) << list.str();
}

/// A rotation of 1000 is not a displacement, and does not make the others small.
TEST(ModeAnimation, IsNotScaledByRotationsOfRigidBodies) {
  Vibration v;
  const Id last = v.domain.node_id(v.domain.node_count() - 1);
  v.domain.add_node(last + 1, 1, 1, 1);
  v.domain.set_rotation_node(last + 1, last, true);
  v.shape.values.insert(v.shape.values.end(), {1000, 0, 0});
  write_mode_animation(v.domain, v.shape, v.folder, "m", v.mesh, v.frames(4));
  const auto u = VtuFile(v.folder / "m_frame_002.vtu").array<double>("displacement");
  EXPECT_NEAR(std::hypot(u[3], u[4], u[5]), 0.05 * 3, 1e-14);
}

TEST(ModeAnimation, RefusesWhatCannotBeShown) {
  Vibration v;
  const auto write = [&](const NodalField& shape, int frames) {
    write_mode_animation(v.domain, shape, v.folder, "m", v.mesh, v.frames(frames));
  };
  expect_error(ErrorCode::bad_input, {"3 to 1000 frames, not 2"}, [&] { write(v.shape, 2); });
  NodalField still = v.shape;
  still.values.assign(still.values.size(), 0.0);
  expect_error(ErrorCode::bad_input, {"no displacements"}, [&] { write(still, 4); });
  still.values.pop_back();
  expect_error(ErrorCode::bad_input, {"does not fit"}, [&] { write(still, 4); });
  EXPECT_TRUE(std::filesystem::is_empty(v.folder));
  write(v.shape, 4);
  expect_error(ErrorCode::io, {"m_frame_001.vtu"}, [&] { write(v.shape, 4); });
}

}  // namespace
}  // namespace voussoir

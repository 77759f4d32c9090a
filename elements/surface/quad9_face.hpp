#pragma once
#include <voussoir/elements/shapes/complete.hpp>
#include <voussoir/elements/surface/face.hpp>

namespace voussoir {

template <>
struct FaceRule<Quad9> {
  using Rule = GaussQuad<3>;
};

}  // namespace voussoir

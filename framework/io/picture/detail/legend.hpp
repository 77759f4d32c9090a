#pragma once
#include <string>
#include <vector>

#include <voussoir/framework/io/picture/detail/image.hpp>
#include <voussoir/framework/io/picture/picture.hpp>

namespace voussoir::picture {

inline constexpr Colour ink{0.13F, 0.15F, 0.19F}, soft_ink{0.40F, 0.43F, 0.48F};

/// 1, 2 or 5 times a power of ten, at most `value`.
double round_down(double value);

/// Chooses where the colours begin and end. `seen` are the values on the surface; `scale` has least and greatest.
void choose_ends(std::vector<double> seen, ColourScale& scale);

/// The bar that explains the colours, on the right of the picture. `what` says what greatest_at is: "node", "element".
void draw_bar(Image& image, const ColourScale& scale, const std::string& label, const char* what);
/// The same with the text below the largest value: where it is, in the user's words.
void draw_bar_with_place(Image& image, const ColourScale& scale, const std::string& label, const std::string& place);

}  // namespace voussoir::picture

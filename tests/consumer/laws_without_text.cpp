#include <write_a_law_elements.hpp>

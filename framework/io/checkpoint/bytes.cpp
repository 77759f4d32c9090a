#include <voussoir/framework/io/checkpoint/bytes.hpp>

#include <voussoir/framework/detail/fnv_hash.hpp>

namespace voussoir {

std::uint64_t checksum(std::string_view bytes) { return detail::fnv_hash({bytes.data(), bytes.size()}); }

std::uint64_t checksum(std::string_view bytes, std::uint64_t before) {
  return detail::fnv_hash({bytes.data(), bytes.size()}, before);
}

}  // namespace voussoir

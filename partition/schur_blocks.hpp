#pragma once
#include <memory>

#include <voussoir/backends/backend.hpp>
#include <voussoir/partition/part_matrices.hpp>

namespace voussoir {

/// Bytes of the Schur complements of all parts as dense blocks: 8 n² for a part with n interface unknowns.
std::size_t schur_block_bytes(const Decomposition& decomposition);

/// The Schur complement of the interface in its explicit form: the dense S_p of each part, computed once on the host by
/// elimination, then stored and multiplied on the devices of the backend (DenseBlockServices). Its set-up costs
/// more than that of SchurComplement, but a product only reads 8 n² bytes per part and solves no interior problem.
std::unique_ptr<Operator> make_schur_blocks(Backend& backend, const PartMatrices& matrices);

}  // namespace voussoir

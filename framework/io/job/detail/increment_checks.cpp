#include <voussoir/framework/io/job/detail/increment_checks.hpp>

namespace voussoir::job {
namespace {

bool is_large(const ElementBlock& block) { return block.type_name().starts_with("finite_solid."); }
bool is_plastic_block(const ElementBlock& block) { return block.material() && block.material()->law() == "plastic"; }

template <class Holds>
bool any_block(const Domain& domain, const Holds& holds) {
  for (std::size_t k = 0; k < domain.block_count(); ++k)
    if (holds(domain.block(k))) return true;
  return false;
}

}  // namespace

std::string reason_for_increments(const Domain& domain) {
  if (any_block(domain, is_large)) return "the sections have large displacements";
  return any_block(domain, is_plastic_block) ? "a material is plastic" : "";
}

void refuse_increments(const Json& analysis, const Domain& domain) {
  if (any_block(domain, is_large))
    analysis.fail("this analysis does not support large displacements; use \"physics\": \"solid\" for the sections");
  if (any_block(domain, is_plastic_block))
    analysis.fail("this analysis does not support plastic materials; use an elastic material for the sections");
}

void check_large_displacements(const Json& analysis, const Domain& domain, Procedure procedure) {
  const bool wanted = procedure == Procedure::nonlinear_statics && !any_block(domain, is_plastic_block);
  if (!wanted && !any_block(domain, is_large)) return;
  for (std::size_t k = 0; k < domain.block_count(); ++k)
    if (const ElementBlock& block = domain.block(k);
        block.size() > 0 && !is_large(block) && block.type_name() != "mass")
      analysis.fail("elements of type " + block.type_name() +
                    " support small displacements only; use \"physics\": \"finite_solid\" for their sections");
}

void check_explicit_plasticity(const Json& analysis, const Domain& domain) {
  for (std::size_t k = 0; k < domain.block_count(); ++k) {
    const ElementBlock& block = domain.block(k);
    if (!is_plastic_block(block)) continue;
    if (!is_large(block))
      analysis.fail(
          "plastic materials need large strains in explicit dynamics: use \"physics\": \"finite_solid\" for the "
          "sections");
  }
}

void require_no_explicit_elements(const Json& analysis, const Domain& domain) {
  for (std::size_t k = 0; k < domain.block_count(); ++k)
    if (const ElementBlock& block = domain.block(k); block.type_name() == "finite_solid.hex8.reduced")
      analysis.fail("elements of type " + block.type_name() +
                    " are supported only in explicit dynamics: \"analysis\": \"dynamic\", \"method\": \"explicit\"");
}

}  // namespace voussoir::job

// What a user adds to the program: a preconditioner and a partitioner, found by name after --load.

#include <numeric>
#include <voussoir/partition/partitioners.hpp>
#include <voussoir/solvers/preconditioners/inverse_diagonal.hpp>
#include <voussoir/solvers/registries.hpp>

namespace {

using namespace voussoir;

/// Block Jacobi, over-relaxed: any positive factor gives the same iterates of CG.
class Scaled final : public Operator {
 public:
  Scaled(const LinearSOE& soe, double factor)
      : backend_(soe.model().shared_backend()),
        inverse_(inverse_diagonal(soe, node_block_size(soe))),
        factor_(factor) {}
  const std::shared_ptr<const Layout>& layout() const override { return inverse_->layout(); }
  void apply(const Vector& r, Vector& z) const override {
    inverse_->apply(r, z);
    backend_->scale(factor_, z);
  }
  double apply_dot(const Vector& r, Vector& z) const override {
    apply(r, z);
    return backend_->dot(r, z);
  }
  std::size_t bytes() const override { return inverse_->bytes(); }
  std::size_t bytes_moved() const override { return inverse_->bytes_moved(); }
  std::string describe() const override { return "scaled " + inverse_->describe(); }

 private:
  std::shared_ptr<Backend> backend_;
  std::unique_ptr<Operator> inverse_;
  double factor_;
};

class ScaledJacobi final : public Preconditioner {
 public:
  std::string name() const override { return "scaled-jacobi"; }
  void set_up(const LinearSOE& soe) override { inverse_ = std::make_unique<Scaled>(soe, 1.5); }
  const Operator* inverse() const override { return inverse_.get(); }

 private:
  std::unique_ptr<Operator> inverse_;
};

/// Elements in the order of their numbers, so many to each part.
class InOrder final : public GraphPartitioner {
 public:
  std::string name() const override { return "in-order"; }
  std::vector<std::int32_t> partition(const ElementGraph& graph, int parts) const override {
    std::vector<std::int32_t> part(graph.vertices());
    for (std::int64_t v = 0; v < graph.vertices(); ++v)
      part[v] = static_cast<std::int32_t>(v * parts / graph.vertices());
    return part;
  }
};

VSR_REGISTER(preconditioners, "scaled-jacobi", "block Jacobi times 1.5",
             PreconditionerFactory{[](const std::string& o) {
               refuse_options("preconditioner 'scaled-jacobi'", o);
               return std::make_shared<ScaledJacobi>();
             }});
VSR_REGISTER(partitioners, "in-order", "elements in the order of their numbers",
             PartitionerFactory{[](const std::string&) { return std::make_shared<InOrder>(); }});

}  // namespace

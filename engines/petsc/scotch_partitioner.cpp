#include <voussoir/engines/petsc/scotch_partitioner.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <voussoir/engines/petsc/calls.hpp>

#ifdef VOUSSOIR_HAVE_PTSCOTCH
#include <ptscotch.h>
#endif

namespace voussoir::petsc {

#ifdef VOUSSOIR_HAVE_PTSCOTCH

namespace {

/// By what fraction a part may be heavier than the mean, as for METIS.
constexpr double imbalance = 0.03;

void check_scotch(int status, const char* call) {
  if (status != 0)
    throw Error(ErrorCode::unavailable,
                std::string("PT-Scotch failed in ") + call +
                    ", usually because memory was short; use --cut coordinate, or more machines");
}

/// A structure of PT-Scotch that is released by a function.
template <class T, void (*Exit)(T*)>
class Owned {
 public:
  template <class Init>
  Owned(const char* call, const Init& init) {
    check_scotch(init(&value_), call);
  }
  ~Owned() { Exit(&value_); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  T* get() { return &value_; }

 private:
  T value_;
};

class ScotchPartitioner : public ProcessGraphPartitioner {
 public:
  explicit ScotchPartitioner(MPI_Comm communicator) : communicator_(communicator) {}

  std::string name() const override { return "ptscotch"; }

  std::vector<std::int32_t> partition(const ProcessGraph& graph, int parts) override {
    const std::size_t vertices = graph.weight.size();
    if (parts == 1) return std::vector<std::int32_t>(vertices, 0);
    check_sizes(graph);
    std::vector<SCOTCH_Num> start(graph.row_start.begin(), graph.row_start.end());
    std::vector<SCOTCH_Num> column(graph.column.begin(), graph.column.end());
    std::vector<SCOTCH_Num> shared(graph.shared_nodes.begin(), graph.shared_nodes.end());
    std::vector<SCOTCH_Num> weight = whole_weights(graph);
    const auto count = static_cast<SCOTCH_Num>(vertices), edges = static_cast<SCOTCH_Num>(column.size());
    weight.resize(std::max<std::size_t>(1, vertices));  // Scotch takes a null pointer for equal weights
    column.resize(std::max<std::size_t>(1, column.size()));
    shared.resize(column.size());

    Owned<SCOTCH_Dgraph, SCOTCH_dgraphExit> whole(
        "SCOTCH_dgraphInit", [&](SCOTCH_Dgraph* g) { return SCOTCH_dgraphInit(g, communicator_); });
    check_scotch(SCOTCH_dgraphBuild(whole.get(), 0, count, count, start.data(), start.data() + 1, weight.data(),
                                    nullptr, edges, edges, column.data(), nullptr, shared.data()),
                 "SCOTCH_dgraphBuild");
    // One thread, the same random numbers and an order of messages that is fixed: the same parts in every run.
    Owned<SCOTCH_Context, SCOTCH_contextExit> context("SCOTCH_contextInit", SCOTCH_contextInit);
    check_scotch(SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMDETERMINISTIC, 1),
                 "SCOTCH_contextOptionSetNum");
    check_scotch(SCOTCH_contextOptionSetNum(context.get(), SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1),
                 "SCOTCH_contextOptionSetNum");
    check_scotch(SCOTCH_contextRandomClone(context.get()), "SCOTCH_contextRandomClone");
    SCOTCH_contextRandomSeed(context.get(), 1);
    check_scotch(SCOTCH_contextThreadSpawn(context.get(), 1, nullptr), "SCOTCH_contextThreadSpawn");
    Owned<SCOTCH_Dgraph, SCOTCH_dgraphExit> bound(
        "SCOTCH_dgraphInit", [&](SCOTCH_Dgraph* g) { return SCOTCH_dgraphInit(g, communicator_); });
    check_scotch(SCOTCH_contextBindDgraph(context.get(), whole.get(), bound.get()), "SCOTCH_contextBindDgraph");
    Owned<SCOTCH_Strat, SCOTCH_stratExit> strategy("SCOTCH_stratInit", SCOTCH_stratInit);
    int processes = 1;
    VSR_MPI(MPI_Comm_size(communicator_, &processes));
    check_scotch(SCOTCH_stratDgraphMapBuild(strategy.get(), SCOTCH_STRATQUALITY, processes, parts, imbalance),
                 "SCOTCH_stratDgraphMapBuild");
    std::vector<SCOTCH_Num> part(weight.size(), 0);
    check_scotch(SCOTCH_dgraphPart(bound.get(), parts, strategy.get(), part.data()), "SCOTCH_dgraphPart");
    return {part.begin(), part.begin() + static_cast<std::ptrdiff_t>(vertices)};
  }

 private:
  /// The numbers of Scotch may have 32 bits.
  void check_sizes(const ProcessGraph& graph) const {
    if (SCOTCH_numSizeof() != sizeof(SCOTCH_Num))
      throw Error(
          ErrorCode::unavailable,
          "the PT-Scotch that was loaded counts with other numbers than the one that the engine was built with; "
          "rebuild the engine, or use --cut coordinate");
    std::int64_t edges = static_cast<std::int64_t>(graph.column.size());
    VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, &edges, 1, MPI_INT64_T, MPI_SUM, communicator_));
    if (std::max(edges, graph.first_vertex.back()) > std::numeric_limits<SCOTCH_Num>::max())
      throw Error(ErrorCode::unavailable,
                  "the graph of the elements has too many edges for this PT-Scotch, which counts "
                  "with " +
                      std::to_string(8 * sizeof(SCOTCH_Num)) + " bits; use --cut coordinate");
  }

  /// Scotch counts weights in whole numbers, whose sum must stay well below the largest.
  std::vector<SCOTCH_Num> whole_weights(const ProcessGraph& graph) const {
    double sum = 0, extremes[2] = {0, -std::numeric_limits<double>::infinity()};
    for (const double w : graph.weight) {
      sum += w;
      extremes[0] = std::max(extremes[0], w);
      extremes[1] = std::max(extremes[1], -w);
    }
    VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, communicator_));
    VSR_MPI(MPI_Allreduce(MPI_IN_PLACE, extremes, 2, MPI_DOUBLE, MPI_MAX, communicator_));
    std::vector<SCOTCH_Num> weight(graph.weight.size(), 1);
    if (extremes[0] == -extremes[1] || !(sum > 0)) return weight;  // all are equal
    const double scale = std::min(1e9 / sum, 1e4 / extremes[0]);
    for (std::size_t v = 0; v < weight.size(); ++v)
      weight[v] = std::max<SCOTCH_Num>(1, static_cast<SCOTCH_Num>(std::llround(scale * graph.weight[v])));
    return weight;
  }

  MPI_Comm communicator_;
};

}  // namespace

bool has_scotch() { return true; }

std::unique_ptr<ProcessGraphPartitioner> make_scotch_partitioner(MPI_Comm communicator) {
  return std::make_unique<ScotchPartitioner>(communicator);
}

#else

bool has_scotch() { return false; }

std::unique_ptr<ProcessGraphPartitioner> make_scotch_partitioner(MPI_Comm) {
  throw Error(ErrorCode::unavailable,
              "this build of the engine has no PT-Scotch; install it (Debian: libptscotch-dev) and build the engine "
              "again, or use --cut coordinate");
}

#endif

}  // namespace voussoir::petsc

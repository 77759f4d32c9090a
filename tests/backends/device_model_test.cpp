#include <voussoir/backends/device_model.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>

#include <voussoir/backends/debug/debug_memory.hpp>

namespace voussoir {
namespace {

/// An element of which only the sizes matter.
class SizesOnly final : public ElementProgram {
 public:
  SizesOnly(int nodes, int components, int parameters = 1)
      : nodes_(nodes), components_(components), parameter_names_(parameters, "p") {}
  const std::string& name() const override { return name_; }
  Route route() const override { return Route::native; }
  int nodes() const override { return nodes_; }
  int components() const override { return components_; }
  std::span<const std::string> unknown_names() const override { return {}; }
  std::span<const std::string> parameter_names() const override { return parameter_names_; }
  int lanes() const override { return 1; }
  bool has_mass() const override { return false; }
  ElementStatus tangent(const ElementView&, int, int, double*) const override { return {}; }
  ElementStatus mass(const ElementView&, MassKind, int, int, double*) const override { return {}; }
  ElementStatus residual(const ElementView&, int, int, double*) const override { return {}; }
  ElementStatus action(const ElementView&, const double*, int, int, double*) const override { return {}; }
  ElementStatus body_load(const ElementView&, const BodyLoad&, int, int, double*) const override { return {}; }
  int points() const override { return 0; }
  std::span<const std::string> recovered_names() const override { return {}; }
  ElementStatus recover(const ElementView&, int, int, double*) const override { return {}; }
  std::span<const double> extrapolation() const override { return {}; }

 private:
  std::string name_ = "sizes-only";
  int nodes_, components_;
  std::vector<std::string> parameter_names_;
};

/// A model and the arrays that its description looks at.
struct Model {
  std::vector<double> coordinates;
  std::vector<std::int32_t> first_equation;
  std::vector<std::uint8_t> prescribed;
  std::vector<std::vector<std::int32_t>> nodes;
  ModelDescription description;

  const ModelDescription& refresh() {
    description.coordinates = coordinates;
    description.first_equation = first_equation;
    description.prescribed = prescribed;
    for (std::size_t b = 0; b < nodes.size(); ++b) description.batches[b].nodes = nodes[b];
    return description;
  }
  void add_batch(std::shared_ptr<const ElementProgram> program, std::vector<std::int32_t> element_nodes) {
    BatchDescription batch;
    batch.program = std::move(program);
    batch.parameters = {0, 1};
    description.batches.push_back(std::move(batch));
    nodes.push_back(std::move(element_nodes));
  }
};

/// Nodes 0 … n−1 in a row with `components` equations each, joined by two-node elements.
Model chain(int n, int components = 1) {
  Model model;
  std::vector<std::int32_t> nodes;
  for (int i = 0; i < n; ++i) {
    model.coordinates.insert(model.coordinates.end(), {10.0 * i, 0, 0});
    model.first_equation.push_back(components * i);
    if (i > 0) nodes.insert(nodes.end(), {i - 1, i});
  }
  model.first_equation.push_back(components * n);
  model.prescribed.assign(components * n, 0);
  model.add_batch(std::make_shared<SizesOnly>(2, components), nodes);
  return model;
}

template <class T>
std::vector<T> host(const Array<T>& array) {
  const auto values = array.read_host();
  return {values.begin(), values.end()};
}

using Numbers = std::vector<std::int32_t>;

TEST(DeviceModel, OneDeviceTakesAllAsItIs) {
  Model model = chain(4, 2);
  model.prescribed[3] = 1;
  const DeviceModel device(DebugMemory::make(1), model.refresh());
  EXPECT_EQ(device.uniform_components(), 2);
  EXPECT_EQ(device.node_count(), 4);
  const auto& part = device.part(0);
  EXPECT_EQ(part.local_nodes, 4);
  EXPECT_EQ(part.batches[0].element_count, 3);
  EXPECT_TRUE(part.batches[0].origin.empty());
  EXPECT_EQ(host(part.batches[0].nodes), model.nodes[0]);
  EXPECT_EQ(host(part.coordinates), model.coordinates);
  EXPECT_EQ(host(part.first_equation), model.first_equation);
  EXPECT_EQ(host(part.constrained), model.prescribed);
}

TEST(DeviceModel, ElementsOnTheBorderAreOnBothSides) {
  Model model = chain(6);
  const DeviceModel device(DebugMemory::make(2), model.refresh());
  EXPECT_EQ(device.first_node(1), 3);
  const auto& left = device.part(0);
  const auto& right = device.part(1);
  EXPECT_EQ(left.batches[0].origin, (Numbers{0, 1, 2}));
  EXPECT_EQ(right.batches[0].origin, (Numbers{2, 3, 4}));
  EXPECT_EQ(left.local_nodes, 4);  // nodes 0 1 2, ghost 3
  EXPECT_EQ(host(left.batches[0].nodes), (Numbers{0, 1, 1, 2, 2, 3}));
  EXPECT_EQ(host(right.batches[0].nodes), (Numbers{3, 0, 0, 1, 1, 2}));  // nodes 3 4 5, ghost 2
  EXPECT_EQ(host(right.coordinates)[9], 20.0);
  EXPECT_EQ(device.local_node(1, 2), 3);
  EXPECT_EQ(device.local_node(1, 1), -1);
  EXPECT_EQ(device.layout()->ghosts(0), 1);
  EXPECT_EQ(device.layout()->global(0, 3), 3);
}

TEST(DeviceModel, RangesAreBalancedByEquations) {
  // Nodes 0 and 1 have six equations, nodes 2 … 13 have one: 24 in all, so two devices split after node 1.
  Model model;
  int total = 0;
  for (int i = 0; i < 14; ++i) {
    model.coordinates.insert(model.coordinates.end(), {0, 0, 0});
    model.first_equation.push_back(total);
    total += i < 2 ? 6 : 1;
  }
  model.first_equation.push_back(total);
  model.prescribed.assign(total, 0);
  const DeviceModel device(DebugMemory::make(2), model.refresh());
  EXPECT_EQ(device.first_node(1), 2);
  EXPECT_EQ(device.layout()->owned(0), 12);
  EXPECT_EQ(device.layout()->owned(1), 12);
  EXPECT_EQ(device.uniform_components(), 0);
}

TEST(DeviceModel, DependenciesBringElementsFromFarAway) {
  // Equation 7 of the far end follows equation 0: x7 = 2 x0. The owner of equation 0 needs the element 6–7 to compute
  // its row, with node 6 and 7 as ghosts, and the row of node 7 is handed on to equation 0.
  Model model = chain(8);
  model.description.dependencies = {{7, {0}, {2.0}}};
  const DeviceModel device(DebugMemory::make(2), model.refresh());
  const auto& left = device.part(0);
  EXPECT_EQ(left.batches[0].origin, (Numbers{0, 1, 2, 3, 6}));
  EXPECT_EQ(left.batches[0].dependent_elements, (Numbers{4}));
  EXPECT_EQ(left.local_nodes, 7);  // 0 1 2 3 | 4 6 7
  EXPECT_EQ(left.dependency_rows, (Numbers{6}));
  ASSERT_EQ(left.dependencies.size(), 1u);
  EXPECT_EQ(left.dependencies[0].equation, 6);
  EXPECT_EQ(left.dependencies[0].others, (Numbers{0}));
  EXPECT_EQ(host(left.constrained), (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 0, 1}));

  const auto& right = device.part(1);
  EXPECT_EQ(right.batches[0].origin, (Numbers{3, 4, 5, 6}));
  EXPECT_EQ(right.local_nodes, 6);  // 4 5 6 7 | 0 3: equation 0 is there to compute the value of equation 7
  EXPECT_TRUE(right.dependency_rows.empty());
  EXPECT_EQ(right.dependencies[0].equation, 3);
  EXPECT_EQ(right.dependencies[0].others, (Numbers{4}));
}

/// Entry (i, j) of the matrix of an element: small whole numbers, so that sums are exact in any order.
double entry(int batch, std::int32_t element, int i, int j) {
  return 1 + (batch * 7 + element * 13 + i * 5 + j * 5 + i * j * 3) % 11;
}

/// y = Tᵀ K T x straight from the description.
std::vector<double> reference_product(const ModelDescription& model, std::vector<double> x) {
  for (const auto& dependency : model.dependencies) {
    x[dependency.equation] = 0;
    for (std::size_t k = 0; k < dependency.others.size(); ++k)
      x[dependency.equation] += dependency.coefficients[k] * x[dependency.others[k]];
  }
  std::vector<double> y(x.size(), 0);
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const auto& batch = model.batches[b];
    const int width = batch.program->nodes(), components = batch.program->components(), m = width * components;
    for (std::int32_t e = 0; e < static_cast<std::int32_t>(batch.nodes.size()) / width; ++e) {
      const auto equation = [&](int i) {
        return model.first_equation[batch.nodes[e * width + i / components]] + i % components;
      };
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < m; ++j) y[equation(i)] += entry(static_cast<int>(b), e, i, j) * x[equation(j)];
    }
  }
  for (const auto& dependency : model.dependencies) {
    for (std::size_t k = 0; k < dependency.others.size(); ++k)
      y[dependency.others[k]] += dependency.coefficients[k] * y[dependency.equation];
    y[dependency.equation] = 0;
  }
  return y;
}

/// The rows of one device from nothing but what lies there: owned and ghost values of x, its elements, its
/// dependencies.
std::vector<double> device_rows(const DeviceModel& model, int d, const std::vector<double>& x) {
  const auto& part = model.part(d);
  const Layout& layout = *model.layout();
  std::vector<double> local(layout.local_size(d));
  for (std::int32_t i = 0; i < layout.local_size(d); ++i) local[i] = x[layout.global(d, i)];
  for (const auto& dependency : part.dependencies) {
    local[dependency.equation] = 0;
    for (std::size_t k = 0; k < dependency.others.size(); ++k)
      local[dependency.equation] += dependency.coefficients[k] * local.at(dependency.others[k]);
  }
  const auto first_equation = host(part.first_equation);
  std::vector<double> y(local.size(), 0);
  for (std::size_t b = 0; b < part.batches.size(); ++b) {
    const auto& batch = part.batches[b];
    const auto nodes = host(batch.nodes);
    const int width = batch.program->nodes(), components = batch.program->components(), m = width * components;
    for (std::int32_t e = 0; e < batch.element_count; ++e) {
      const auto equation = [&](int i) { return first_equation[nodes[e * width + i / components]] + i % components; };
      for (int i = 0; i < m; ++i) {
        const std::int32_t node = nodes[e * width + i / components];
        const bool wanted = node < part.owned_nodes ||
                            std::binary_search(part.dependency_rows.begin(), part.dependency_rows.end(), node);
        for (int j = 0; wanted && j < m; ++j)
          y[equation(i)] += entry(static_cast<int>(b), batch.origin_of(e), i, j) * local[equation(j)];
      }
    }
  }
  for (const auto& dependency : part.dependencies) {
    for (std::size_t k = 0; k < dependency.others.size(); ++k)
      y[dependency.others[k]] += dependency.coefficients[k] * y[dependency.equation];
    y[dependency.equation] = 0;
  }
  y.resize(layout.owned(d));
  return y;
}

TEST(DeviceModel, EveryDeviceComputesItsRowsAlone) {
  std::mt19937 random(4711);
  const auto draw = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  for (int trial = 0; trial < 60; ++trial) {
    Model model;
    const int node_count = 5 + draw(30);
    int total = 0;
    for (int n = 0; n < node_count; ++n) {
      model.coordinates.insert(model.coordinates.end(), {double(n), 2.0 * n, 3.0 * n});
      model.first_equation.push_back(total);
      total += 2 + draw(2);
    }
    model.first_equation.push_back(total);
    model.prescribed.assign(total, 0);
    Numbers pairs, triples;
    for (int e = 0; e < 2 * node_count; ++e) {
      const int n = draw(node_count);
      pairs.insert(pairs.end(), {n, std::min(node_count - 1, n + 1 + draw(3))});
      if (e % 2 == 0) triples.insert(triples.end(), {n, draw(node_count), std::max(0, n - 2)});
    }
    model.add_batch(std::make_shared<SizesOnly>(2, 1), pairs);
    model.add_batch(std::make_shared<SizesOnly>(3, 2), triples);
    // A tenth of the equations depend on one to three others that do not.
    std::vector<std::uint8_t> dependent(total, 0);
    for (int e = 0; e < total; ++e) dependent[e] = draw(10) == 0;
    for (int e = 0; e < total; ++e) {
      if (!dependent[e]) continue;
      Dependency dependency{e, {}, {}};
      std::set<int> others;
      for (int k = 1 + draw(3); k > 0; --k)
        if (const int other = draw(total); !dependent[other]) others.insert(other);
      for (const int other : others) {
        dependency.others.push_back(other);
        dependency.coefficients.push_back(1 + draw(4));
      }
      model.description.dependencies.push_back(dependency);
    }

    std::vector<double> x(total);
    for (double& value : x) value = draw(9) - 4;
    const auto expected = reference_product(model.refresh(), x);

    for (int devices = 1; devices <= 4; ++devices) {
      const DeviceModel device(DebugMemory::make(devices), model.description);
      for (int d = 0; d < devices; ++d) {
        const auto rows = device_rows(device, d, x);
        for (std::size_t i = 0; i < rows.size(); ++i)
          ASSERT_EQ(rows[i], expected[device.layout()->first(d) + static_cast<std::int64_t>(i)])
              << "trial " << trial << ", device " << d << " of " << devices << ", row " << i;

        // And it has no element that it does not need.
        const auto& part = device.part(d);
        const auto owned = [&](std::int32_t equation) {
          return equation >= device.layout()->first(d) && equation < device.layout()->first(d + 1);
        };
        for (const auto& batch : part.batches)
          for (std::int32_t e = 0; e < batch.element_count; ++e) {
            bool needed = false, depends = false;
            const int width = batch.program->nodes();
            for (int a = 0; a < width; ++a) {
              const int node = model.nodes[batch.description][batch.origin_of(e) * width + a];
              for (int c = 0; c < batch.program->components(); ++c) {
                const int equation = model.first_equation[node] + c;
                needed |= owned(equation);
                for (const auto& dependency : model.description.dependencies)
                  if (dependency.equation == equation) {
                    depends = true;
                    needed |= std::any_of(dependency.others.begin(), dependency.others.end(), owned);
                  }
              }
            }
            ASSERT_TRUE(needed);
            ASSERT_EQ(depends, std::binary_search(batch.dependent_elements.begin(), batch.dependent_elements.end(), e));
          }
      }
    }
  }
}

TEST(DeviceModel, RecordsAndTemperaturesFollowTheirElementsAndNodes) {
  Model model = chain(6);
  model.description.batches[0].parameters = {0, 100, 0, 200, 0, 300};
  model.description.batches[0].record = {0, 1, 2, 1, 0};
  model.description.batches[0].expansion_reference = 21;
  const std::vector<double> initial{50, 51, 52, 53, 54, 55};
  model.description.initial_temperature = initial;
  model.description.start_temperature = 7;
  DeviceModel device(DebugMemory::make(2), model.refresh());
  EXPECT_EQ(host(device.part(1).batches[0].record), (Numbers{2, 1, 0}));
  EXPECT_EQ(device.host_view(1, 0, nullptr).temperature, nullptr);

  ElementState state;
  state.temperature = std::make_shared<NodalValues>(device.nodal_values(std::vector<double>{0, 1, 2, 3, 4, 5}));
  state.time = 3;
  state.time_step = 0.5;
  state.prescribed_factor = 2;
  const ElementView view = device.host_view(1, 0, state);
  EXPECT_EQ(view.time, 3.0);
  EXPECT_EQ(view.time_step, 0.5);
  EXPECT_EQ(view.prescribed_factor, 2.0);
  EXPECT_EQ(view.element_count, 3);
  EXPECT_EQ(view.expansion_reference, 21.0);
  EXPECT_EQ(view.start_temperature, 7.0);
  EXPECT_EQ(view.initial_temperature[view.nodes[0]], 52.0);
  EXPECT_EQ(view.initial_temperature[view.nodes[1]], 53.0);
  EXPECT_EQ(view.parameters[2 * view.record[0] + 1], 300.0);
  EXPECT_EQ(view.temperature[view.nodes[0]], 2.0);  // element 2 joins nodes 2 and 3
  EXPECT_EQ(view.temperature[view.nodes[1]], 3.0);
  EXPECT_EQ(view.coordinates[3 * view.nodes[0]], 20.0);
  {
    const DeviceSection section(*device.layout()->memory(1));
    const ElementView inside = device.device_view(1, 0, state);
    EXPECT_EQ(inside.temperature[inside.nodes[0]], 2.0);
    EXPECT_EQ(inside.initial_temperature[inside.nodes[0]], 52.0);
    EXPECT_EQ(inside.parameters[2 * inside.record[0] + 1], 300.0);
  }
  EXPECT_EQ(device.host_view(1, 0, nullptr).temperature, nullptr);  // a state changes nothing for other calls
  EXPECT_THROW(device.nodal_values(std::vector<double>(5)), Error);
  EXPECT_EQ(device.host_view(1, 0, nullptr).initial_temperature[view.nodes[0]], 52.0);
  model.description.initial_temperature = std::span(initial).first(5);
  EXPECT_THROW(DeviceModel(DebugMemory::make(2), model.refresh()), Error);
}

TEST(DeviceModel, MoreDevicesThanNodes) {
  Model model = chain(2);
  const DeviceModel device(DebugMemory::make(4), model.refresh());
  std::int64_t owned = 0;
  for (int d = 0; d < 4; ++d) owned += device.layout()->owned(d);
  EXPECT_EQ(owned, 2);
}

std::string refusal(Model& model) {
  try {
    const DeviceModel device(DebugMemory::make(1), model.refresh());
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::misuse);
    return error.what();
  }
  return "accepted";
}

void expect_refusal(Model model, const std::string& part) {
  const std::string text = refusal(model);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(DeviceModel, RefusesWhatDoesNotFit) {
  const Model good = chain(4);
  {
    Model bad = good;
    bad.nodes[0][3] = 4;
    expect_refusal(bad, "element 1 refers to node 4, but the nodes are 0 to 3");
  }
  {
    Model bad = good;
    bad.coordinates.pop_back();
    expect_refusal(bad, "11 coordinates for 4 nodes");
  }
  {
    Model bad = good;
    bad.prescribed.push_back(0);
    expect_refusal(bad, "5 entries in prescribed for 4 equations");
  }
  {
    Model bad = good;
    bad.nodes[0].pop_back();
    expect_refusal(bad, "not a whole number of elements of 2 nodes");
  }
  {
    Model bad = good;
    bad.description.batches[0].program = std::make_shared<SizesOnly>(2, 3);
    expect_refusal(bad, "has 3 unknowns per node, but node 0, with 1 equations, lacks number 1");
  }
  {
    Model bad = good;
    bad.description.batches[0].parameters = {0, 1, 2};
    expect_refusal(bad, "3 parameters are not a whole number of records");
  }
  {
    Model bad = good;
    bad.description.batches[0].record = {0, 0, 1};
    expect_refusal(bad, "element 2 uses record 1, but there are 1 records");
  }
  {
    Model bad = good;
    bad.description.batches[0].record = {0};
    expect_refusal(bad, "1 record numbers for 3 elements");
  }
  {
    Model bad = good;
    bad.prescribed[0] = 1;
    bad.description.dependencies = {{1, {0}, {1.0}}};
    expect_refusal(bad, "equation 0, on which it depends, is itself prescribed");
  }
  {
    Model bad = good;
    bad.description.dependencies = {{1, {2}, {1.0}}, {2, {3}, {1.0}}};
    expect_refusal(bad, "equation 2, on which it depends, is itself dependent");
  }
  {
    Model bad = good;
    bad.description.dependencies = {{1, {2}, {1.0}}, {1, {3}, {1.0}}};
    expect_refusal(bad, "already depends on others by dependency 0");
  }
  {
    Model bad = good;
    bad.description.dependencies = {{1, {2, 3}, {1.0}}};
    expect_refusal(bad, "2 equations but 1 coefficients");
  }
}

/// Three nodes with the unknowns {0, 1, 3}, {3} and {0, 3}; elements of unknown 3, of (3, 0), and of (0).
Model several_fields() {
  Model model;
  model.coordinates.assign(9, 0.0);
  model.first_equation = {0, 3, 4, 6};
  model.prescribed.assign(6, 0);
  model.add_batch(std::make_shared<SizesOnly>(3, 1), {0, 1, 2});
  model.description.batches.back().unknowns = {3};
  model.add_batch(std::make_shared<SizesOnly>(2, 2), {2, 0});
  model.description.batches.back().unknowns = {3, 0};
  model.add_batch(std::make_shared<SizesOnly>(2, 1), {0, 2});
  model.description.batches.back().unknowns = {0};
  return model;
}
std::vector<UnknownSet> sets_of_several_fields() {
  std::vector<UnknownSet> sets(3);
  for (const int unknown : {0, 1, 3}) sets[0].add(unknown);
  sets[1].add(3);
  for (const int unknown : {0, 3}) sets[2].add(unknown);
  return sets;
}

TEST(DeviceModel, UnknownsOfNodesHaveSlots) {
  const auto sets = sets_of_several_fields();
  EXPECT_EQ(sets[0].count(), 3);
  EXPECT_EQ(sets[0].slot(3), 2);
  EXPECT_EQ(sets[0].unknown(2), 3);
  EXPECT_FALSE(sets[0].is_first_few());
  EXPECT_TRUE(UnknownSet::first(4).is_first_few());
  Model model = several_fields();
  model.description.unknowns = sets;
  for (const int devices : {1, 3}) {
    const DeviceModel device(DebugMemory::make(devices), model.refresh());
    EXPECT_EQ(device.uniform_components(), 0);
    for (int d = 0; d < devices; ++d) {
      const auto& part = device.part(d);
      for (int b = 0; b < 2; ++b) {
        const ElementBatch& batch = part.batches[static_cast<std::size_t>(b)];
        if (batch.element_count == 0) continue;
        const int components = batch.program->components();
        const auto slots = host(batch.slot);
        ASSERT_EQ(slots.size(), static_cast<std::size_t>(part.local_nodes * components));
        for (std::int32_t node = 0; node < 3; ++node) {
          const std::int32_t local = device.local_node(d, node);
          if (local < 0 || (b == 1 && node == 1)) continue;
          for (int c = 0; c < components; ++c)
            EXPECT_EQ(slots[static_cast<std::size_t>(local * components + c)],
                      sets[static_cast<std::size_t>(node)].slot(model.description.batches[b].unknowns[c]));
        }
      }
      EXPECT_TRUE(part.batches[2].slot.empty());  // unknown 0 is the first one wherever it is
    }
  }
}

TEST(DeviceModel, ContradictionsOfUnknownsAreRefused) {
  const auto expect_refusal = [](Model model, std::vector<UnknownSet> sets, const std::string& piece) {
    model.description.unknowns = sets;
    try {
      const DeviceModel device(DebugMemory::make(1), model.refresh());
      ADD_FAILURE() << "accepted; expected: " << piece;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::misuse);
      EXPECT_NE(std::string(error.what()).find(piece), std::string::npos) << error.what();
    }
  };
  const auto sets = sets_of_several_fields();
  expect_refusal(several_fields(), {sets[0], sets[1]}, "2 sets of unknowns for 3 nodes");
  expect_refusal(several_fields(), {sets[0], sets[2], sets[1]}, "the node has 2 unknowns but 1 equations");
  Model bad = several_fields();
  bad.description.batches[0].unknowns = {2};
  expect_refusal(bad, sets, "but node 0, with 3 equations, lacks number 0");
  bad = several_fields();
  bad.description.batches[1].unknowns = {3, 3};
  expect_refusal(bad, sets, "two components are unknown 3");
  bad.description.batches[1].unknowns = {3};
  expect_refusal(bad, sets, "1 unknowns for elements with 2 per node");
  bad.description.batches[1].unknowns = {3, 32};
  expect_refusal(bad, sets, "unknown 32 does not exist");
}

TEST(ElementError, NamesTheElementAndSaysWhatToDo) {
  const ElementError error(ElementFault::inverted, 2, 17);
  EXPECT_EQ(error.code(), ErrorCode::inverted);
  EXPECT_EQ(error.where(), "batch 2, element 17");
  EXPECT_NE(std::string(error.what()).find("inverted"), std::string::npos);
  EXPECT_EQ(ElementError(ElementFault::bad_parameter, 0, 0).code(), ErrorCode::bad_input);
  EXPECT_STREQ(to_string(Route::jit), "jit");
}

}  // namespace
}  // namespace voussoir

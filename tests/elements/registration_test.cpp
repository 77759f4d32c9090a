#include <gtest/gtest.h>

// As voussoir_add_elements() does for a header whose text it embeds.
#define VSR_KERNEL_FILE "my_elements.hpp"
#include <voussoir/backends/error.hpp>
#include <voussoir/elements/check_tangent.hpp>
#include <voussoir/elements/register.hpp>

#include <algorithm>
#include <thread>

// At global scope and without `using namespace`, as a user writes it.
struct Dashpot {
  static constexpr const char* name = "test_dashpot";
  static constexpr const char* shape = "line2";
  static constexpr int nodes = 2, components = 1;
  static constexpr const char* unknowns[] = {"v"};
  static constexpr const char* parameters[] = {"c"};
  template <class R>
  VSR_FN static R tangent(const voussoir::ElementInput<R, 2, 1, 1>& e, R* upper) {
    R c;
    e.parameters_at(R(0.0), &c);
    upper[0] = upper[2] = c;
    upper[1] = -c;
    return R(1.0);
  }
};
VSR_REGISTER_ELEMENT(Dashpot);
VSR_REGISTER_ELEMENT(Dashpot);  // as when a header is included in two files

struct Diffusion {
  static constexpr const char* name = "test_diffusion";
  static constexpr int components = 1;
  static constexpr const char* unknowns[] = {"c"};
  static constexpr const char* parameters[] = {"diffusivity"};
  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> flux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>& grad) {
    return p[0] * grad;
  }
  template <class R>
  VSR_FN static voussoir::Mat<R, 1, 3> dflux(const voussoir::Point<R>& p, const voussoir::Mat<R, 1, 3>&,
                                             const voussoir::Mat<R, 1, 3>& dgrad) {
    return p[0] * dgrad;
  }
};
VSR_REGISTER_ELEMENT(Diffusion, Tet4, Tri3);

struct OtherDashpot : Dashpot {};
struct FirstOfTwo : Dashpot {
  static constexpr const char* name = "test_clash";
};
struct SecondOfTwo : Dashpot {
  static constexpr const char* name = "test_clash";
};
VSR_REGISTER_ELEMENT(FirstOfTwo);
VSR_REGISTER_ELEMENT(SecondOfTwo);

static const voussoir::EmbeddedKernelText text("my_elements.hpp", "struct Dashpot { /* … */ };");

namespace voussoir {
namespace {

template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorCode::internal, "nothing was thrown");
}

TEST(Registration, OneLineMakesAWholeElementAType) {
  const ElementType& type = ElementLibrary::instance().find("test_dashpot");
  EXPECT_EQ(type.name(), "test_dashpot");
  EXPECT_EQ(type.shape(), "line2");
  EXPECT_EQ(type.program().nodes(), 2);
  EXPECT_EQ(type.program().name(), "test_dashpot");
}

TEST(Registration, OneLineMakesAPointKernelATypePerShape) {
  const ElementType& tet = ElementLibrary::instance().find("test_diffusion.tet4");
  EXPECT_EQ(tet.shape(), "tet4");
  EXPECT_EQ(tet.program().nodes(), 4);
  // A unit tetrahedron: conductivity · ∇N₁·∇N₁ · V = 5 · 3 · 1/6.
  const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, p[] = {5};
  const TangentReport report = check_tangent(tet.program(), x, p);
  EXPECT_TRUE(report.good(1e-10)) << report.text;
  EXPECT_EQ(ElementLibrary::instance().find("test_diffusion.tri3").program().nodes(), 3);
  EXPECT_EQ(ElementLibrary::instance().find("test_diffusion.tri3").program().parameter_names().back(), "thickness");
}

TEST(Registration, TypesKnowTheTextOfTheirKernel) {
  const KernelSource* source = ElementLibrary::instance().find("test_dashpot").program().source();
  ASSERT_NE(source, nullptr);
  EXPECT_EQ(source->type_expression, "Dashpot");
  EXPECT_EQ(source->file, "my_elements.hpp");
  EXPECT_EQ(source->text, "struct Dashpot { /* … */ };");
  const KernelSource* diffusion = ElementLibrary::instance().find("test_diffusion.tet4").program().source();
  ASSERT_NE(diffusion, nullptr);
  EXPECT_EQ(diffusion->type_expression,
            "voussoir::PointElement<voussoir::detail::UniformLaw<Diffusion, 1>, voussoir::Tet4, voussoir::Full>");
  EXPECT_EQ(ElementLibrary::instance().find("truss").program().source(), nullptr);
}

TEST(Registration, AnUnknownNameProposesSimilarOnes) {
  const Error error = error_of([] { ElementLibrary::instance().find("trus"); });
  EXPECT_EQ(error.code(), ErrorCode::not_found);
  EXPECT_NE(error.text().find("'trus'"), std::string::npos) << error.text();
  EXPECT_NE(error.text().find("'truss'"), std::string::npos) << error.text();
  const Error start = error_of([] { ElementLibrary::instance().find("spring_to"); });
  EXPECT_NE(start.text().find("'spring_to_ground'"), std::string::npos) << start.text();
  const Error nothing = error_of([] { ElementLibrary::instance().find("qqqqqqqqqqqq"); });
  EXPECT_EQ(nothing.text().find("did you mean"), std::string::npos) << nothing.text();
  EXPECT_EQ(ElementLibrary::instance().find_if("qqqqqqqqqqqq"), nullptr);
}

TEST(Registration, AClashWhileTheProgramStartsIsThrownAtFirstUse) {
  for (int time = 0; time < 2; ++time) {
    const Error error = error_of([] { ElementLibrary::instance().find("test_clash"); });
    EXPECT_EQ(error.code(), ErrorCode::bad_input);
    EXPECT_NE(error.text().find("'test_clash'"), std::string::npos);
  }
}

TEST(Registration, AClashAtRunTimeIsThrownAtOnce) {
  const auto program = std::make_shared<const NativeProgram<OtherDashpot>>("test_dashpot");
  const Error error = error_of(
      [&] { ElementLibrary::instance().add(ElementType("test_dashpot", "line2", program, typeid(OtherDashpot))); });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_NO_THROW(ElementLibrary::instance().find("test_dashpot"));  // the first one stays
}

TEST(Registration, TypesKnowWhereTheyComeFrom) {
  EXPECT_EQ(ElementLibrary::instance().origin("truss"), "built in");
  EXPECT_EQ(ElementLibrary::instance().origin("test_dashpot"), "this program");
}

TEST(Registration, ATypeIsReplacedOnlyWhereAsked) {
  ElementLibrary& library = ElementLibrary::instance();
  const auto first = std::make_shared<const NativeProgram<Dashpot>>("test_replaced");
  const auto second = std::make_shared<const NativeProgram<OtherDashpot>>("test_replaced");
  library.add(ElementType("test_replaced", "line2", first, typeid(Dashpot)));
  const ElementType& old = library.find("test_replaced");
  library.replace(ElementType("test_replaced", "line2", second, typeid(OtherDashpot)));
  EXPECT_EQ(&library.find("test_replaced").program(), second.get());
  EXPECT_EQ(&old.program(), first.get()) << "references stay valid";
  const Error error = error_of([&] { library.replace(ElementType("truss", "line2", second, typeid(OtherDashpot))); });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_NE(error.text().find("'truss' is built in and cannot be replaced"), std::string::npos) << error.text();
}

TEST(Registration, TypesAreListedByName) {
  const auto all = ElementLibrary::instance().all();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](auto* a, auto* b) { return a->name() < b->name(); }));
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](auto* type) { return type->name() == "beam"; }));
}

TEST(Registration, TypesOnDemandAreTypesLikeAllOthers) {
  const ElementLibrary& library = ElementLibrary::instance();
  const char* name = "polar_orthotropic_solid.hex27";
  EXPECT_EQ(library.origin(name), "built in");
  const std::vector<std::string> names = library.names();
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), name));
  const ElementType& type = library.find(name);
  EXPECT_EQ(type.shape(), "hex27");
  EXPECT_EQ(type.program().nodes(), 27);
  const auto loaded = library.loaded();
  EXPECT_TRUE(std::find(loaded.begin(), loaded.end(), &type) != loaded.end());
  EXPECT_EQ(library.all().size(), names.size()) << "every name that is reserved has a type";
}

TEST(Registration, ANameOfATypeOnDemandIsTaken) {
  const auto program = std::make_shared<const NativeProgram<Dashpot>>("orthotropic_solid.tet4");
  const Error error = error_of([&] {
    ElementLibrary::instance().add(ElementType("orthotropic_solid.tet4", "line2", program, typeid(Dashpot)));
  });
  EXPECT_EQ(error.code(), ErrorCode::bad_input);
  EXPECT_NE(error.text().find("first built in, then by this program"), std::string::npos) << error.text();
}

TEST(Registration, ThreadsMayAddAndFindAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const std::string name = "test_thread_" + std::to_string(t) + "_" + std::to_string(i);
        const auto program = std::make_shared<const NativeProgram<Dashpot>>(name);
        ElementLibrary::instance().add(ElementType(name, "line2", program, typeid(Dashpot)));
        EXPECT_EQ(ElementLibrary::instance().find(name).name(), name);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace voussoir

// Which kernels pass: by name, by regular expression, by place in the order of launches.
#include "session/kernel_filter.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace gpuprof;

namespace {

std::unique_ptr<kernel_filter> filter_of(std::vector<kernel_pattern> names, std::uint64_t skip = 0,
                                         std::uint64_t count = 0) {
  settings wishes;
  wishes.kernel_names = std::move(names);
  wishes.launch_skip = skip;
  wishes.launch_count = count;
  auto made = kernel_filter::make(wishes);
  REQUIRE(made);
  return std::move(*made);
}

constexpr auto gemm = "_ZN3lib4gemmIfEEvPT_i";  // void lib::gemm<float>(float*, int)

}  // namespace

TEST_CASE("without wishes every kernel passes") {
  auto const filter = filter_of({});
  CHECK(filter->passes_all());
  CHECK_FALSE(filter->has_names());
  CHECK(filter->name_matches(gemm));
  CHECK(filter->selects_launch(gemm));
}

TEST_CASE("a plain name is the mangled, the demangled or the base name, whole") {
  CHECK(filter_of({{gemm, false}})->name_matches(gemm));
  CHECK(filter_of({{"void lib::gemm<float>(float*, int)", false}})->name_matches(gemm));
  CHECK(filter_of({{"gemm", false}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"gem", false}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"lib", false}})->name_matches(gemm));
}

TEST_CASE("a regular expression may be found anywhere in either form of the name") {
  CHECK(filter_of({{"ge.m", true}})->name_matches(gemm));
  CHECK(filter_of({{"gemm<float>", true}})->name_matches(gemm));
  CHECK(filter_of({{"^gemm$", true}})->name_matches(gemm));
  CHECK(filter_of({{"^_ZN3lib", true}})->name_matches(gemm));
  CHECK_FALSE(filter_of({{"gemm<double>", true}})->name_matches(gemm));
}

TEST_CASE("one matching pattern of several is enough") {
  auto const filter = filter_of({{"nothing", false}, {"^copy", true}, {"gemm", false}});
  CHECK(filter->has_names());
  CHECK(filter->name_matches(gemm));
  CHECK_FALSE(filter->name_matches("reduce"));
}

TEST_CASE("a bad regular expression is told with what is lost") {
  settings wishes;
  wishes.kernel_names = {{"gemm(", true}};
  auto const made = kernel_filter::make(wishes);
  REQUIRE(!made);
  CHECK(made.message().find("--kernel-name regex:gemm( is not a regular expression") == 0);
  CHECK(made.message().find("all kernels are traced") != std::string::npos);
}

TEST_CASE("skip and count select a stretch of the matching launches") {
  auto const filter = filter_of({{"gemm", false}}, 2, 3);
  std::string passed;
  for (int i = 0; i < 8; ++i) {
    CHECK_FALSE(filter->selects_launch("reduce"));
    passed += filter->selects_launch(gemm) ? 'y' : 'n';
  }
  CHECK(passed == "nnyyynnn");
}

TEST_CASE("skip alone, count alone, and a count at the end of the numbers") {
  CHECK_FALSE(filter_of({}, 1, 0)->selects_launch(gemm));
  auto const one = filter_of({}, 0, 1);
  CHECK(one->selects_launch(gemm));
  CHECK_FALSE(one->selects_launch(gemm));
  auto const many = filter_of({}, 1, ~std::uint64_t{0});
  CHECK_FALSE(many->selects_launch(gemm));
  CHECK(many->selects_launch(gemm));
  CHECK_FALSE(one->passes_all());
}

TEST_CASE("a launch without a name passes: better a kernel too many") {
  CHECK(filter_of({{"gemm", false}})->selects_launch(nullptr));
}

TEST_CASE("another name at the same address is looked at anew") {
  auto const filter = filter_of({{"gemm", false}});
  char name[16] = "gemm";
  CHECK(filter->selects_launch(name));
  CHECK(filter->selects_launch(name));
  std::strcpy(name, "reduce");
  CHECK_FALSE(filter->selects_launch(name));
  std::strcpy(name, "gemm");
  CHECK(filter->selects_launch(name));
}

TEST_CASE("filters do not share their answers") {
  CHECK(filter_of({{"gemm", false}})->selects_launch(gemm));
  CHECK_FALSE(filter_of({{"reduce", false}})->selects_launch(gemm));
}

TEST_CASE("a name's answer is found once, not at each launch") {
  // 300 names share 1024 places; whether remembered or found anew, each answer is right.
  auto const filter = filter_of({{"[02468]$", true}});
  std::vector<std::string> names;
  for (int i = 0; i < 300; ++i) names.push_back("kernel_number_" + std::to_string(i));
  for (int turn = 0; turn < 3; ++turn) {
    for (int i = 0; i < 300; ++i) CHECK(filter->selects_launch(names[i].c_str()) == (i % 2 == 0));
  }
}

TEST_CASE("many threads select exactly as many launches as asked for") {
  auto const filter = filter_of({{"gemm", false}}, 100, 250);
  std::atomic<int> selected{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        if (filter->selects_launch(gemm)) ++selected;
        if (filter->selects_launch("reduce")) ++selected;
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(selected == 250);
}

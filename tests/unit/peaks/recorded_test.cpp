// SPDX-License-Identifier: Apache-2.0
// What `gpuprof peaks --json` printed on an H200: it must hold against theory, survive the store,
// and be reported as it was.
#include "guest/peaks/obtain.hpp"
#include "guest/peaks/store/peaks_json.hpp"
#include "guest/peaks/store/store.hpp"
#include "guest/peaks/theory/test_list.hpp"
#include "guest/peaks/theory/theory.hpp"
#include "host/report/peaks_table.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/scratch_folder.hpp"
#include "support/test_data.hpp"

#include <algorithm>
#include <set>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::host;
using namespace gpuprof::guest::peaks;
using namespace gpuprof::test;

namespace {

std::string const path = test_data("peaks/h200.json");

gpu_peaks recorded_h200() {
  auto read = read_peaks_file(path);
  if (!read) FAIL(read.message());
  REQUIRE(read->size() == 1);
  return read->front();
}

constexpr chip_facts h200_chip{.compute_major = 9,
                               .compute_minor = 0,
                               .sm_count = 132,
                               .max_sm_clock_mhz = 1980,
                               .max_memory_clock_mhz = 3201,
                               .memory_bus_bits = 6016,
                               .pcie_generation = 5,
                               .pcie_width = 16};

/// By the width that its memory has by the datasheet; NVML tells what is in use.
constexpr double h200_dram_bytes_per_second = 6144 / 8 * 3201e6 * 2;

peak_result const& result_of(gpu_peaks const& gpu, test_id test) {
  auto const name = info_of(test).name;
  auto const found = std::find_if(gpu.results.begin(), gpu.results.end(),
                                  [&](peak_result const& r) { return r.test == name; });
  REQUIRE(found != gpu.results.end());
  return *found;
}

double share_per_clock(gpu_peaks const& gpu, test_id test) {
  auto const& r = result_of(gpu, test);
  return r.per_clock.value / r.per_clock_theory;
}

}  // namespace

TEST_CASE("an H200 has a result of every test, in order, and none failed") {
  auto const gpu = recorded_h200();
  REQUIRE(gpu.results.size() == all_tests().size());
  for (std::size_t i = 0; i < gpu.results.size(); ++i) {
    auto const& r = gpu.results[i];
    INFO(r.test);
    auto const& info = all_tests()[i];
    CHECK(r.test == info.name);
    CHECK(r.group == info.group);
    CHECK(r.unit == info.unit);
    bool const has_units = chip_has(info.id, 9, 0) && info.id != test_id::p2p;
    CHECK(r.outcome == (has_units ? peak_outcome::measured : peak_outcome::unavailable));
    CHECK(r.burst.is_there() == has_units);
    CHECK(r.method.empty() != has_units);
  }
  CHECK(gpu.seconds <= 3);
}

TEST_CASE("results of an H200 are within theory, which is computed again") {
  for (auto const& r : recorded_h200().results) {
    if (r.outcome != peak_outcome::measured) continue;
    INFO(r.test);
    auto const test = select_tests(r.test)->front();
    auto const t = theory_of(test, h200_chip);
    CHECK(r.per_clock_theory == t.per_clock);
    CHECK(r.theory == Approx(t.rate));
    CHECK(r.theory_formula == t.formula);
    CHECK_FALSE(is_above(r.per_clock.value, t.per_clock));
    CHECK_FALSE(is_above(r.burst.value, t.rate));
    CHECK_FALSE(is_above(r.sustained.value, t.rate));
    CHECK((t.rate == 0) == (r.group == "latency"));
  }
}

TEST_CASE("rate per clock, clock and rate per second are consistent") {
  for (auto const& r : recorded_h200().results) {
    if (r.clock.empty()) continue;
    INFO(r.test);
    bool const is_dram = r.clock == "memory clock";
    auto const clock_hz =
        1e6 * (is_dram ? r.burst.chip.memory_clock_mhz : r.burst.chip.sm_clock_mhz);
    auto const by_clock = r.per_clock.value * clock_hz * (is_dram ? 1 : 132);
    CHECK(r.burst.value == Approx(by_clock).epsilon(0.03));
    CHECK(clock_hz <= 1e6 * (is_dram ? 3201 : 1985));
    CHECK(r.per_clock.spread < (is_dram ? 0.05 : 0.02));
  }
}

TEST_CASE("sustained figures exist if power matters, with the measured watts") {
  std::set<std::string> sustained;
  for (auto const& r : recorded_h200().results) {
    if (!r.sustained.is_there()) continue;
    sustained.insert(r.test);
    INFO(r.test);
    CHECK(r.sustained.chip.watts > 200);
    CHECK(r.sustained.chip.sm_clock_mhz + r.sustained.chip.memory_clock_mhz > 0);
    CHECK(r.sustained.value < 1.05 * r.burst.value);
  }
  CHECK(sustained == std::set<std::string>{"fp64", "fp32", "tensor_fp64", "tensor_tf32",
                                           "tensor_fp16", "tensor_fp16_acc16", "tensor_bf16",
                                           "tensor_fp8", "tensor_int8", "dram_read", "dram_copy"});
}

TEST_CASE("tensor cores, CUDA cores and shared memory reach their targets per clock") {
  auto const gpu = recorded_h200();
  for (auto const test : {test_id::tensor_bf16, test_id::tensor_fp16, test_id::tensor_fp16_acc16,
                          test_id::tensor_tf32, test_id::tensor_fp8, test_id::tensor_int8}) {
    INFO(info_of(test).name);
    CHECK(share_per_clock(gpu, test) >= 0.98);
  }
  for (auto const test : {test_id::tensor_fp64, test_id::fp64, test_id::fp32, test_id::fp16,
                          test_id::bf16, test_id::int32, test_id::special, test_id::shared_read,
                          test_id::shared_write, test_id::l1_read}) {
    INFO(info_of(test).name);
    CHECK(share_per_clock(gpu, test) >= 0.97);
  }
}

TEST_CASE("DRAM reaches its targets") {
  auto const gpu = recorded_h200();
  CHECK(result_of(gpu, test_id::dram_read).burst.value >= 0.93 * h200_dram_bytes_per_second);
  CHECK(result_of(gpu, test_id::dram_write).burst.value >= 0.92 * h200_dram_bytes_per_second);
  CHECK(result_of(gpu, test_id::dram_triad).burst.value >= 0.87 * h200_dram_bytes_per_second);
  // 88 % of what this board has; of the datasheet's width it is 86 %.
  auto const& copy = result_of(gpu, test_id::dram_copy);
  CHECK(copy.burst.value >= 0.88 * copy.theory);
  for (auto const test : {test_id::dram_read, test_id::dram_write, test_id::dram_copy}) {
    CHECK(result_of(gpu, test).remark.empty());
    CHECK(result_of(gpu, test).buffer_bytes > 4.2e9);
  }
}

TEST_CASE("the recording is written back unchanged, and survives the store") {
  auto const gpu = recorded_h200();
  CHECK(to_json(std::vector{gpu}) == read_file(path));
  scratch_folder const scratch;
  REQUIRE(save_peaks(scratch / "store", gpu));
  auto const loaded = load_peaks(scratch / "store", gpu.key);
  REQUIRE(loaded);
  REQUIRE(*loaded);
  CHECK(to_json(std::vector{**loaded}) == read_file(path));
  auto other = gpu.key;
  other.power_limit_w = 600;
  CHECK_FALSE(*load_peaks(scratch / "store", other));
}

TEST_CASE("a selection of tests keeps only their results") {
  auto gpu = recorded_h200();
  keep_only(gpu, *select_tests("tensor_bf16,links"));
  REQUIRE(gpu.results.size() == 7);
  CHECK(gpu.results[0].test == "tensor_bf16");
  CHECK(std::all_of(gpu.results.begin() + 1, gpu.results.end(),
                    [](peak_result const& r) { return r.group == "links"; }));
}

TEST_CASE("the recording satisfies requests for no more than was measured") {
  auto const gpu = recorded_h200();
  measure_options asked;
  for (auto const& test : all_tests()) asked.tests.push_back(test.id);
  CHECK(answers(gpu, asked));
  asked.quick = true;
  CHECK(answers(gpu, asked));
  asked.quick = false;
  asked.sustain_all = true;
  CHECK_FALSE(answers(gpu, asked));
}

TEST_CASE("the report of an H200 equals the reviewed one") {
  std::string text;
  report::write_peaks(std::vector{recorded_h200()}, {},
                      [&](std::string_view piece) { text += piece; });
  check_golden("peaks_h200.txt", text);
}

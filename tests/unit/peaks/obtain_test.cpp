// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/obtain.hpp"

#include "guest/peaks/store/store.hpp"
#include "support/catch.hpp"
#include "support/pretended_gpu.hpp"
#include "support/scratch_folder.hpp"

#include <filesystem>
#include <fstream>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using peaks::test_id;

namespace {

peak_result bandwidth(std::string test, peak_outcome outcome = peak_outcome::measured) {
  auto r = measured(std::move(test), "memory", "A test", "B/s", 1e12, 2e12);
  return outcome == peak_outcome::measured ? r : without_figure(r, outcome, "why");
}

/// Measures every test there is the moment it is asked, and counts how often that was.
struct quick_gpu {
  peaks_key key = key_of_gpu(1);
  int measurements = 0;
  peak_outcome outcome = peak_outcome::measured;

  peaks::gpu_access access() {
    return {[this](int) { return result<peaks_key>(key); },
            [this](int, peaks::measure_options const& asked) {
              ++measurements;
              gpu_peaks made;
              made.key = key;
              made.measured_at = "2026-01-0" + std::to_string(measurements) + "T00:00:00Z";
              for (auto const test : asked.tests) {
                auto& r = made.results.emplace_back(
                    bandwidth(std::string(peaks::info_of(test).name), outcome));
                r.effort = asked.quick         ? peak_effort::quick
                           : asked.sustain_all ? peak_effort::sustained
                                               : peak_effort::standard;
              }
              return result<gpu_peaks>(made);
            }};
  }
};

struct store {
  scratch_folder scratch;
  quick_gpu gpu;

  peaks::obtain_options asking(std::vector<test_id> tests) const {
    peaks::obtain_options options;
    options.what.tests = std::move(tests);
    options.folder = scratch / "peaks";
    return options;
  }
  peaks::obtained obtain(peaks::obtain_options const& options) {
    auto made = peaks::obtain(gpu.access(), 0, options);
    if (!made) FAIL(made.message());
    return std::move(*made);
  }
};

}  // namespace

TEST_CASE("measured peaks are not measured again, and both runs say where they are stored") {
  store s;
  auto const options = s.asking({test_id::dram_read, test_id::dram_write});
  auto const first = s.obtain(options);
  CHECK(first.origin == "measured now, stored in " + peaks::store_path(options.folder, s.gpu.key));
  CHECK(first.trouble.empty());
  CHECK_FALSE(first.is_stored);
  auto const second = s.obtain(options);
  CHECK(s.gpu.measurements == 1);
  CHECK(second.origin == "measured 2026-01-01T00:00:00Z, stored in " +
                             peaks::store_path(options.folder, s.gpu.key) +
                             "; gpuprof peaks --refresh measures anew");
  CHECK(second.is_stored);
  CHECK(second.peaks.results.size() == 2);
}

TEST_CASE("stored peaks are returned for the requested tests") {
  store s;
  s.obtain(s.asking({test_id::dram_read, test_id::dram_write}));
  auto const one = s.obtain(s.asking({test_id::dram_write}));
  CHECK(s.gpu.measurements == 1);
  REQUIRE(one.peaks.results.size() == 1);
  CHECK(one.peaks.results[0].test == "dram_write");
  s.obtain(s.asking({test_id::dram_write, test_id::dram_copy}));
  CHECK(s.gpu.measurements == 2);
}

TEST_CASE("a request for peer copies returns those to each other GPU") {
  gpu_peaks gpu;
  for (auto const* name : {"p2p", "p2p_to_1", "p2p_both_1", "h2d"})
    gpu.results.push_back(bandwidth(name));
  peaks::keep_only(gpu, {test_id::p2p});
  REQUIRE(gpu.results.size() == 3);
  CHECK(gpu.results[0].test == "p2p");
  CHECK(gpu.results[2].test == "p2p_both_1");
}

TEST_CASE("a refresh measures, whatever is stored, even if that is damaged") {
  store s;
  auto options = s.asking({test_id::dram_read});
  s.obtain(options);
  std::ofstream(peaks::store_path(options.folder, s.gpu.key)) << "damage";
  auto const refused = peaks::obtain(s.gpu.access(), 0, options);
  REQUIRE_FALSE(refused);
  CHECK(refused.message().ends_with("gpuprof peaks --refresh measures anew"));
  options.refresh = true;
  s.obtain(options);
  CHECK(s.gpu.measurements == 2);
  options.refresh = false;
  s.obtain(options);
  CHECK(s.gpu.measurements == 2);
}

TEST_CASE("a GPU whose key has changed is measured again") {
  store s;
  auto const options = s.asking({test_id::dram_read});
  s.obtain(options);
  s.gpu.key.power_limit_w = 300;
  s.obtain(options);
  CHECK(s.gpu.measurements == 2);
}

TEST_CASE("a quick run does not replace a full one, but a full one replaces a quick one") {
  store s;
  auto quick = s.asking({test_id::dram_read}), full = quick, sustained = quick;
  quick.what.quick = true;
  sustained.what.sustain_all = true;
  s.obtain(quick);
  s.obtain(quick);
  CHECK(s.gpu.measurements == 1);
  s.obtain(full);
  CHECK(s.gpu.measurements == 2);
  s.obtain(quick);
  CHECK(s.gpu.measurements == 2);
  s.obtain(sustained);
  CHECK(s.gpu.measurements == 3);
  s.obtain(full);
  CHECK(s.gpu.measurements == 3);
}

TEST_CASE("a test that failed is tried again, one that the GPU cannot do is not") {
  store s;
  auto const options = s.asking({test_id::tensor_fp4});
  s.gpu.outcome = peak_outcome::failed;
  s.obtain(options);
  s.obtain(options);
  CHECK(s.gpu.measurements == 2);
  s.gpu.outcome = peak_outcome::unavailable;
  s.obtain(options);
  CHECK(s.gpu.measurements == 3);
  s.obtain(options);
  CHECK(s.gpu.measurements == 3);
}

TEST_CASE("results with zeros are neither stored nor taken from the store") {
  store s;
  auto options = s.asking({test_id::tensor_bf16});
  s.obtain(options);
  options.what.zeros = true;
  auto const made = s.obtain(options);
  CHECK(s.gpu.measurements == 2);
  CHECK(made.origin.find("not stored") != std::string::npos);
  options.what.zeros = false;
  CHECK(s.obtain(options).peaks.measured_at == "2026-01-01T00:00:00Z");
  CHECK(s.gpu.measurements == 2);
}

TEST_CASE("forced results are not stored, but stored results need no force") {
  store s;
  auto options = s.asking({test_id::tensor_bf16});
  options.what.force = true;
  CHECK(s.obtain(options).origin.ends_with("not stored"));
  options.what.force = false;
  s.obtain(options);
  CHECK(s.gpu.measurements == 2);
  options.what.force = true;
  CHECK(s.obtain(options).origin.find("--refresh") != std::string::npos);
  CHECK(s.gpu.measurements == 2);
}

TEST_CASE("peaks that cannot be stored are still returned, with a line that says why") {
  store s;
  auto options = s.asking({test_id::dram_read});
  std::ofstream(s.scratch / "peaks") << "a file stands where the folder should";
  auto const made = s.obtain(options);
  CHECK(made.peaks.results.size() == 1);
  CHECK(made.origin == "measured now");
  CHECK(made.trouble.find("the peaks are not stored") == 0);
}

TEST_CASE("a GPU that cannot be queried or measured gives one line") {
  store s;
  auto const options = s.asking({test_id::dram_read});
  auto access = s.gpu.access();
  access.measure = [](int, peaks::measure_options const&) {
    return result<gpu_peaks>(error{"the GPU is gone"});
  };
  auto const gone = peaks::obtain(access, 0, options);
  REQUIRE_FALSE(gone);
  CHECK(gone.message() == "the GPU is gone");
  CHECK_FALSE(std::filesystem::exists(s.scratch / "peaks"));
  access.key_of = [](int) { return result<peaks_key>(error{"no such GPU"}); };
  CHECK(peaks::obtain(access, 0, options).message() == "no such GPU");
}

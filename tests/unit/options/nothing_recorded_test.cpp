// SPDX-License-Identifier: Apache-2.0
// The line for a run that has recorded nothing: what never came, and what came instead.
#include "guest/options/nothing_recorded.hpp"

#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

constexpr std::uint64_t second = 1'000'000'000;

settings with_range(std::string name) {
  settings s;
  s.range = capture_range::nvtx;
  s.nvtx_capture = range_pattern{std::move(name), {}, false};
  return s;
}

std::string why(settings const& s, capture_plan const& plan) {
  return why_nothing_was_recorded(s, plan, name_registry{});
}

}  // namespace

TEST_CASE("a range that never began is reported with the nearest name that came") {
  auto const s = with_range("train");
  capture_plan plan(s);
  plan.begin(1);
  CHECK(why(s, plan) ==
        "the range \"train\" of --nvtx-capture never began; the program has named nothing through "
        "NVTX. \"train@*\" takes it in any domain");
  name_registry names;
  names.intern("train");  // by what looks for it
  for (auto const* name : {"step", "trian", "a", "b", "c", "d"})
    names.intern(name, name_place::program);
  CHECK(
      why_nothing_was_recorded(s, plan, names) ==
      "the range \"train\" of --nvtx-capture never began; the program's NVTX names are \"trian\", "
      "\"step\", \"a\", \"b\", \"c\" and 1 more. \"train@*\" takes it in any domain");
  plan.range_entered(2);
  CHECK(plan.why_none().empty());
}

TEST_CASE("a name that was only searched for is not a name of the program") {
  auto const s = with_range("lib:stp");
  capture_plan plan(s);
  plan.begin(1);
  name_registry names;
  for (auto const* asked : {"lib:stp", "lib", "stp", "step"}) names.intern(asked);
  CHECK(why_nothing_was_recorded(s, plan, names).find("NVTX names are \"step\". ") !=
        std::string::npos);
}

TEST_CASE("an event before the end of the delay is distinguished from one that never came") {
  auto s = with_range("train");
  s.delay.value = 10 * second;
  capture_plan plan(s);
  plan.begin(second);
  CHECK(plan.why_none() == "the range \"train\" of --nvtx-capture never began");
  plan.range_entered(2 * second);
  CHECK(plan.why_none() ==
        "the range \"train\" of --nvtx-capture began only before the --delay was over");
}

TEST_CASE("each way to begin a capture has its own reason why none began") {
  settings s;
  SECTION("CUDA's profiler calls") {
    s.range = capture_range::cuda_profiler_api;
    capture_plan plan(s);
    plan.begin(1);
    CHECK(why(s, plan) == "cudaProfilerStart was never called");
  }
  SECTION("a delay") {
    s.delay.value = 10 * second;
    capture_plan plan(s);
    plan.begin(1);
    CHECK(why(s, plan) == "the program ended before the --delay was over");
    s.delay.value = 1'000'000'000 * second;  // the program starts captures itself, or wants none
    CHECK(why(s, plan).empty());
  }
  SECTION("steps") {
    s.schedule = step_schedule{.wait = 2, .warmup = 1, .skip_first = 1};
    capture_plan plan(s);
    plan.begin(1);
    CHECK(
        why(s, plan) ==
        "the --schedule captures from the end of step 4 on, and no step ended (each "
        "gpuprof_step(), or libgpuprof.step() in Python, is one). --step-range NAME takes each end "
        "of an NVTX range instead; the program has named nothing through NVTX");
    name_registry names;
    for (auto const* name : {"backward", "step"}) names.intern(name, name_place::program);
    CHECK(why_nothing_was_recorded(s, plan, names)
              .ends_with(" instead; the program's NVTX names are \"step\", \"backward\""));
    plan.step(2);
    CHECK(why(s, plan).ends_with("libgpuprof.step() in Python, is one)"));
    s.step_range = range_pattern{"step", "train", false};
    CHECK(
        why(s, plan) ==
        "the --schedule captures from the end of step 4 on, and only 1 of them ended (each end of "
        "the range \"step@train\" is one); the program has named nothing through NVTX");
  }
}

TEST_CASE(
    "filters that left out every kernel are reported with the kernels that ran, the nearest "
    "first") {
  settings s;
  s.kernel_names = {{"elementwize", false, false}};
  std::vector<std::string> const ran = {"", "_Z3oddPfi", "_Z11elementwisePf", "_Z11elementwisePd"};
  CHECK(why_no_kernel_was_selected(s, 1234, ran) ==
        "no kernel was recorded: --kernel-name \"elementwize\" selects none of the 1,234 kernels "
        "that "
        "ran; their names are \"elementwise\", \"odd\"");
  s.kernel_names.push_back({"x", true, false});
  s.launch_skip = 5;
  CHECK(why_no_kernel_was_selected(s, 2, {"_Z3oddPfi"}) ==
        "no kernel was recorded: --kernel-name \"elementwize\" and the others with --launch-skip 5 "
        "selects none of the 2 kernels that ran; their names are \"odd\"");
  s.kernel_names.clear();
  CHECK(why_no_kernel_was_selected(s, 2, {}) ==
        "no kernel was recorded: --launch-skip 5 passes over the 2 kernels that ran");
}

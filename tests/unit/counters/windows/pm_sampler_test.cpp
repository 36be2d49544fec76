// SPDX-License-Identifier: Apache-2.0
// Sampling GPUs in windows of time, with a pretended CUPTI.
#include "guest/counters/windows/pm_sampler.hpp"

#include "base/time.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/moments.hpp"

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

struct sampled_program {
  explicit sampled_program(unsigned version = 130001) : cupti(version) {}

  fake_cupti cupti;
  std::uint32_t next_metric = 1;
  std::vector<metric_record> metrics;
  sampling_results results;
  std::vector<device_id> devices{device_id{0}};
  std::atomic<bool> halted{false};
  gpu_pauses pauses;
  pm_sampler sampler{cupti.library.api,
                     {.words = {"sm__cycles_active.avg", "dram__bytes_read.sum"},
                      .interval_ns = 20'000,
                      .pauses = &pauses},
                     halted};

  bool begin(std::uint64_t interval_ns = 20'000) {
    return sampler.begin_window(devices, interval_ns, next_metric, metrics,
                                [](std::string const&) { return name_id{7}; });
  }
  /// Samples of 20 us from now on, after one that begins a second too early.
  void sample(std::size_t count, std::size_t device = 0) {
    auto const start = now().value;
    auto& waiting = cupti.sampling.waiting[device];
    waiting.push_back({start - 1'000'000 * us, start, 1e9});
    for (std::size_t i = 0; i < count; ++i)
      waiting.push_back({start + i * 20 * us, start + (i + 1) * 20 * us, static_cast<double>(i)});
  }
};

}  // namespace

TEST_CASE("a window yields its samples metric by metric, without the first") {
  sampled_program program;
  REQUIRE(program.begin());
  REQUIRE(program.metrics.size() == 2);
  CHECK(program.metrics[0].sampled);
  CHECK(program.metrics[1].metric == metric_id{2});
  program.sample(3);
  program.sampler.end_window(program.results);
  auto const& samples = program.results.samples;
  REQUIRE(samples.size() == 6);
  CHECK(samples[0].metric == metric_id{1});
  CHECK(samples[0].value == 0);
  CHECK(samples[2].value == 2);
  CHECK(samples[3].metric == metric_id{2});
  CHECK(samples[3].value == 1);
  CHECK(samples[1].start == samples[0].start + samples[0].duration);
  REQUIRE(program.results.windows.size() == 1);
  auto const& window = program.results.windows[0];
  CHECK(window.samples == 3);
  CHECK(window.overflows == 0);
  CHECK(window.interval.value == 20'000);
  CHECK(window.start < window.end);
  CHECK(program.cupti.sampling.mistakes().empty());
}

TEST_CASE("samples are decoded in pieces, each into an empty image") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sample(1000);
  program.sampler.end_window(program.results);
  CHECK(program.results.samples.size() == 2 * 1000);
  CHECK(program.results.windows.at(0).samples == 1000);
  CHECK(program.results.windows.at(0).overflows == 1);  // CUPTI may have dropped some
  CHECK(program.sampler.counts().samples == 1000);
  CHECK(program.cupti.sampling.mistakes().empty());
}

TEST_CASE("the first sample of each window is dropped, and the sampler object is reused") {
  sampled_program program;
  for (int i = 0; i < 3; ++i) {
    REQUIRE(program.begin());
    program.sample(5);
    program.sampler.end_window(program.results);
  }
  CHECK(program.results.samples.size() == 3 * 2 * 5);
  CHECK(program.metrics.size() == 2);
  CHECK(program.cupti.count("cuptiPmSamplingEnable") == 1);
  CHECK(program.sampler.counts().windows == 3);
  program.sampler.release_all();
  CHECK(program.cupti.sampling.objects().empty());
  CHECK(program.cupti.sampling.mistakes().empty());
}

TEST_CASE("all GPUs are stopped before the samples of any are decoded") {
  sampled_program program;
  program.devices = {device_id{0}, device_id{1}};
  REQUIRE(program.begin());
  program.sample(3, 0);
  program.sample(4, 1);
  program.cupti.forget_calls();
  program.sampler.end_window(program.results);
  std::vector<std::string> order;
  for (auto const& call : program.cupti.calls())
    if (call == "cuptiPmSamplingStop" || call == "cuptiPmSamplingDecodeData") order.push_back(call);
  REQUIRE(order.size() == 4);
  CHECK(order[1] == "cuptiPmSamplingStop");
  CHECK(order[2] == "cuptiPmSamplingDecodeData");
  CHECK(program.sampler.counts().samples == 7);
  CHECK(program.cupti.sampling.mistakes().empty());
}

TEST_CASE("a GPU that is set up again may get another interval") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sampler.end_window(program.results);
  REQUIRE(program.begin(100'000));  // still set up
  program.sampler.end_window(program.results);
  program.sampler.release();
  REQUIRE(program.begin(100'000));
  CHECK(program.cupti.sampling.objects().front().interval_ns == 100'000);
  program.sampler.end_window(program.results);
  REQUIRE(program.results.windows.size() == 3);
  CHECK(program.results.windows[1].interval.value == 20'000);
  CHECK(program.results.windows[2].interval.value == 100'000);
}

TEST_CASE("each call that takes or releases counters is recorded as a pause of the GPU") {
  sampled_program program;
  auto const pauses = [&] { return program.pauses.take(); };
  auto const before = now();
  REQUIRE(program.begin());
  auto const taken = pauses();
  REQUIRE(taken.size() == 2);  // which counters there are, and the configuration
  CHECK(taken[0].device == device_id{0});
  CHECK(taken[0].start >= before);
  CHECK(taken[1].start + taken[1].duration <= now());
  program.sampler.end_window(program.results);
  REQUIRE(program.begin());  // they are held still
  program.sampler.end_window(program.results);
  CHECK(pauses().empty());
  program.sampler.release();
  program.sampler.release();  // nothing is held
  CHECK(pauses().size() == 1);
  REQUIRE(program.begin());
  CHECK(pauses().size() == 1);
  program.sampler.release_all();
  CHECK(pauses().size() == 1);
}

TEST_CASE("only the first and last 10 ms of a long call count as pauses") {
  gpu_pauses pauses;
  pauses.add_call(device_id{1}, {1'000'000'000}, {1'150'000'000});
  pauses.add_call(device_id{0}, {2'000'000'000}, {2'015'000'000});
  auto const told = pauses.take();
  REQUIRE(told.size() == 3);
  CHECK(told[0].start == timestamp_ns{1'000'000'000});
  CHECK(told[0].duration == duration_ns{10'000'000});
  CHECK(told[1].start == timestamp_ns{1'140'000'000});
  CHECK(told[1].device == device_id{1});
  CHECK(told[2].duration == duration_ns{15'000'000});
}

TEST_CASE("an overflow of the buffer is counted, and later samples are kept") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sample(4);
  program.cupti.sampling.overflows = true;
  program.sampler.end_window(program.results);
  CHECK(program.results.windows.at(0).overflows == 1);
  CHECK(program.results.windows.at(0).samples == 4);
  CHECK(program.sampler.counts().overflows == 1);
}

TEST_CASE("decoding that never ends is stopped after a second") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sample(2);
  program.cupti.sampling.never_ends = true;
  auto const before = monotonic_ns();
  program.sampler.end_window(program.results);
  CHECK(monotonic_ns() - before < 10'000'000'000);
  CHECK(program.results.windows.at(0).overflows == 1);
}

TEST_CASE("older libraries get the configuration structure that they know") {
  sampled_program before(24);  // CUDA 12.6
  CHECK(before.begin());
  CHECK(before.cupti.sampling.objects().front().config_struct_bytes ==
        offsetof(CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode));
}

TEST_CASE("all GPUs are sampled at once, each with metrics of its own") {
  sampled_program program;
  program.devices = {device_id{0}, device_id{1}};
  REQUIRE(program.begin());
  CHECK(program.metrics.size() == 4);
  CHECK(program.metrics[2].device == device_id{1});
  program.sample(3, 0);
  program.sample(4, 1);
  program.sampler.end_window(program.results);
  REQUIRE(program.results.windows.size() == 2);
  CHECK(program.results.windows[0].samples == 3);
  CHECK(program.results.windows[1].samples == 4);
}

TEST_CASE("counters held by another tool are tried again ten seconds later") {
  sampled_program program;
  program.cupti.fail_nth("cuptiPmSamplingStart", 1, CUPTI_ERROR_HARDWARE_BUSY);
  CHECK_FALSE(program.begin());
  auto const said = program.sampler.take_warnings();
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("another tool holds them") != std::string::npos);
  CHECK(said[0].find("every 10 s") != std::string::npos);
  auto const moment = monotonic_ns();
  CHECK_FALSE(program.sampler.can_sample(program.devices, moment));
  CHECK(program.sampler.can_sample(program.devices, moment + 11'000'000'000));
  CHECK(program.sampler.counts().busy == 1);
}

TEST_CASE("counters held by another tool during preparation are also tried again") {
  for (auto const* const call : {"cuptiPmSamplingGetCounterAvailability", "cuptiPmSamplingEnable",
                                 "cuptiPmSamplingSetConfig"}) {
    sampled_program program;
    program.cupti.fail_nth(call, 1, CUPTI_ERROR_HARDWARE_BUSY);
    INFO(call);
    CHECK_FALSE(program.begin());
    CHECK(program.sampler.can_sample(program.devices, monotonic_ns() + 11'000'000'000));
    CHECK(program.cupti.sampling.objects().empty());
  }
}

TEST_CASE("a window that ends with a failure is reported, with its earlier samples") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sample(600);
  program.cupti.fail_nth("cuptiPmSamplingDecodeData", 2, CUPTI_ERROR_UNKNOWN);
  program.sampler.end_window(program.results);
  REQUIRE(program.results.windows.size() == 1);
  CHECK(program.results.windows[0].samples == 511);  // 512 with the first
  CHECK(program.results.windows[0].overflows == 1);
  CHECK(program.sampler.counts().windows == 1);
  CHECK(program.cupti.sampling.objects().empty());
}

TEST_CASE("after CUPTI has shut down it is not called") {
  sampled_program program;
  REQUIRE(program.begin());
  program.sample(3);
  program.cupti.forget_calls();
  program.halted = true;
  program.sampler.end_window(program.results);
  program.sampler.release_all();
  CHECK_FALSE(program.begin());
  CHECK(program.cupti.calls().empty());
  program.halted = false;
}

TEST_CASE("without rights nothing is sampled, and one line gives the remedy") {
  sampled_program program;
  program.cupti.fail_nth("cuptiPmSamplingEnable", 1, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  CHECK_FALSE(program.begin());
  auto const said = program.sampler.take_warnings();
  REQUIRE(said.size() == 1);
  CHECK(said[0].find("GPU 0: counters are off: ") == 0);
  CHECK(said[0].find("NVreg_RestrictProfilingToAdminUsers=0") != std::string::npos);
  CHECK_FALSE(program.sampler.can_sample(program.devices, monotonic_ns() + 60'000'000'000));
  CHECK_FALSE(program.begin());
  CHECK(program.sampler.take_warnings().empty());
}

TEST_CASE("if any call fails at most one window is lost, and everything is released") {
  for (unsigned n = 1; n < 40; ++n) {
    sampled_program program;
    program.cupti.fail_call(n, CUPTI_ERROR_UNKNOWN);
    INFO(n);
    if (program.begin()) {
      program.sample(2);
      program.sampler.end_window(program.results);
    }
    program.sampler.release_all();
    CHECK(program.cupti.sampling.mistakes().empty());
  }
}

TEST_CASE("the one pass of sampling takes the metrics that fit, first ones first") {
  sampled_program program;
  pm_sampler sampler(program.cupti.library.api,
                     {.words = {"dram__bytes_read.sum", "sm__wide.sum", "dram__bytes_write.sum"},
                      .interval_ns = 20'000},
                     program.halted);
  REQUIRE(sampler.begin_window(
      program.devices, 20'000, program.next_metric, program.metrics,
      [&](std::string const& name) { return name == "sm__wide.sum" ? name_id{1} : name_id{2}; }));
  REQUIRE(program.metrics.size() == 2);
  CHECK(program.metrics[0].name == name_id{2});
  CHECK(program.metrics[1].name == name_id{2});
}

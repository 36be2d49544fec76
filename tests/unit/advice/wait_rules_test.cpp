// SPDX-License-Identifier: Apache-2.0
#include "made_run.hpp"
#include "support/catch.hpp"

using namespace gpuprof;
using namespace gpuprof::host::advice;

TEST_CASE("idle time after a wait: the low gain is the wait itself, the high gain all idle time") {
  auto facts = made_run(600 * ms, time_bucket::synchronization, 500 * ms);
  facts.gaps = {waits("cudaStreamSynchronize", 400, 300 * ms, 100 * ms)};
  auto const found = found_by("sync_point", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.low_ns == Approx(100 * ms));
  CHECK(found[0].gain.high_ns == Approx(300 * ms));
  CHECK(found[0].call == "cudaStreamSynchronize");
  CHECK(found[0].instances == 400);
}

TEST_CASE("a wait costs only its low gain if the launching thread needs the whole step") {
  auto facts = made_run(600 * ms, time_bucket::synchronization, 980 * ms);
  facts.gaps = {waits("cudaStreamSynchronize", 400, 300 * ms, 100 * ms)};
  auto const found = found_by("sync_point", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(100 * ms));
}

TEST_CASE("a wait below 1 % of the window, or that happens only twice, is not reported") {
  auto facts = made_run(900 * ms, time_bucket::synchronization);
  facts.gaps = {waits("cudaStreamSynchronize", 400, 9.9 * ms)};
  CHECK(found_by("sync_point", facts).empty());
  facts.gaps = {waits("cudaStreamSynchronize", 2, 90 * ms)};
  CHECK(found_by("sync_point", facts).empty());
  facts.gaps = {waits("cudaStreamSynchronize", 3, 90 * ms)};
  CHECK(found_by("sync_point", facts).size() == 1);
}

TEST_CASE("a wait for a result includes its copy and the pause before it") {
  auto facts = made_run(600 * ms, time_bucket::synchronization);
  facts.devices[0].ledger[time_bucket::transfer] = 10 * ms;
  facts.devices[0].ledger[time_bucket::back_to_back] = 10 * ms;
  facts.devices[0].ledger[time_bucket::synchronization] = 380 * ms;
  facts.gaps = {waits("cudaStreamSynchronize", 400, 380 * ms, 100 * ms)};
  facts.gaps[0].reads_result = true;
  facts.copies = {{.kind = copy_kind::device_to_host,
                   .is_small = true,
                   .range = "forward",
                   .count = 400,
                   .bytes = 1600,
                   .total_ns = 8 * ms,
                   .alone_ns = 8 * ms}};
  auto const found = found_by("sync_point", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(388.4 * ms));  // 380 + 8 + 400 x 1 us
  CHECK(found[0].to_do.find(".item()") != std::string::npos);
  facts.run.before_copy = 5 * us;  // an engine of its own takes a while
  CHECK(found_by("sync_point", facts).at(0).gain.high_ns == Approx(390 * ms));
}

TEST_CASE("waits for the whole device are a finding of their own") {
  auto facts = made_run(600 * ms, time_bucket::synchronization);
  facts.gaps = {waits("cudaDeviceSynchronize", 100, 300 * ms)};
  facts.gaps[0].whole_device = true;
  CHECK(found_by("sync_point", facts).empty());
  auto const found = found_by("device_wide_sync", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(300 * ms));
}

TEST_CASE("streams serialized by the default stream save the shorter of each pair") {
  auto facts = made_run(1000 * ms, time_bucket::dependency);
  facts.serialized = {
      {.range = "step", .count = 100, .waited_ns = 400 * ms, .overlap_ns = 300 * ms}};
  facts.devices[0].ledger[time_bucket::back_to_back] = 1 * ms;
  auto found = found_by("serialized_streams", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gain.high_ns == Approx(300.2 * ms));  // and 2 x 100 x 1 us
  CHECK(found[0].bucket == time_bucket::compute);
  facts.serialized[0].overlap_ns = 19 * ms;
  CHECK(found_by("serialized_streams", facts).empty());
}

TEST_CASE("rules without data count as not looked at and not as passed") {
  auto facts = made_run(1000 * ms, time_bucket::dependency);
  facts.there = data::kernels;
  auto const advice =
      give_advice(facts, {.only = {"serialized_streams", "late_rank"}, .skipped = {}});
  REQUIRE(advice.missing.size() == 2);
  CHECK(advice.missing[0].of->name == "serialized_streams");
  CHECK(how_to_record(advice.missing[1].missing) ==
        "the captures of all ranks on the command line");
}

TEST_CASE("idle time of the CPU's making is named by what its thread was seen to do") {
  auto facts = made_run(600 * ms, time_bucket::cpu_work);
  facts.gaps = {gaps(time_bucket::cpu_work, 100, 300 * ms)};
  idle_look gil;
  gil.bucket = time_bucket::cpu_work;
  gil.cause = gpuprof::host::idle_cause::gil;
  gil.has_python = true;
  gil.words = "waits for the GIL";
  gil.where = "train.py:5";
  gil.held_by = "log.py:9";
  gil.looks = 80;
  auto runs = gil;
  runs.cause = gpuprof::host::idle_cause::running;
  runs.words = "runs Python";
  runs.held_by.clear();
  runs.looks = 20;
  facts.looks = {gil, runs};
  auto const found = found_by("gpu_idle", facts);
  REQUIRE(found.size() == 1);
  CHECK(found[0].what.find("waits for Python's GIL") != std::string::npos);
  CHECK(found[0].line == "train.py:5 (80 % of it)");
  REQUIRE(found[0].because.size() >= 3);
  CHECK(found[0].because[1].name == "waits for the GIL at train.py:5, held by log.py:9");
  CHECK(found[0].because[1].value == Approx(80));
  CHECK(found[0].because[2].name == "runs Python at train.py:5");

  facts.looks[0].looks = 6;  // too few to say anything
  facts.looks[1].looks = 3;
  CHECK(found_by("gpu_idle", facts).at(0).what.find("something else") != std::string::npos);
}

TEST_CASE("Python that modules run between launches is told from other Python") {
  auto facts = made_run(600 * ms, time_bucket::cpu_work);
  facts.gaps = {gaps(time_bucket::cpu_work, 100, 300 * ms)};
  idle_look look;
  look.bucket = time_bucket::cpu_work;
  look.has_python = true;
  look.cause = gpuprof::host::idle_cause::running;
  look.looks = 50;
  look.in_module = 20;
  facts.looks = {look};
  CHECK(found_by("gpu_idle", facts).at(0).to_do.find("another thread") != std::string::npos);
  facts.looks[0].in_module = 30;
  CHECK(found_by("gpu_idle", facts).at(0).to_do.find("torch.compile") != std::string::npos);
}

TEST_CASE("a loader that computes in the program itself is told from slow processes of a loader") {
  auto facts = made_run(600 * ms, time_bucket::cpu_work);
  facts.gaps = {gaps(time_bucket::cpu_work, 100, 300 * ms)};
  idle_look look;
  look.bucket = time_bucket::cpu_work;
  look.has_python = look.loads_data = true;
  look.cause = gpuprof::host::idle_cause::running;
  look.looks = 50;
  facts.looks = {look};
  CHECK(found_by("gpu_idle", facts).at(0).to_do.find("num_workers=4") != std::string::npos);
  facts.looks[0].cause = gpuprof::host::idle_cause::input;
  CHECK(found_by("gpu_idle", facts).at(0).what.find("waits for its data loader") !=
        std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
// Kernel records off for a moment, while captures come and go.
#include "guest/collect/switch_guard.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

namespace {

std::atomic<int> recording{0};  // 1 when CUPTI records; anything but 0 and 1 is a fault
std::atomic<int> calls{0};
std::atomic<bool> refuses{false};
std::atomic<bool> out_of_order{false};

CUptiResult CUPTIAPI enable(CUpti_ActivityKind kind) {
  ++calls;
  if (refuses) return CUPTI_ERROR_UNKNOWN;
  if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || recording.exchange(1) != 0)
    out_of_order = true;
  return CUPTI_SUCCESS;
}
CUptiResult CUPTIAPI disable(CUpti_ActivityKind kind) {
  ++calls;
  if (kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || recording.exchange(0) != 1)
    out_of_order = true;
  return CUPTI_SUCCESS;
}

struct switch_scene {
  switch_scene() {
    recording = calls = 0;
    refuses = out_of_order = false;
    api.cuptiActivityEnable = enable;
    api.cuptiActivityDisable = disable;
  }
  cupti_api api;
  switch_guard switches;
  kernel_switch records{api, switches};
};

}  // namespace

TEST_CASE("records are on while a capture wants them and no pause is active") {
  switch_scene s;
  REQUIRE(s.records.want(true));
  CHECK(recording == 1);
  REQUIRE(s.records.pause());
  CHECK(recording == 0);
  REQUIRE(s.records.pause());
  s.records.resume();
  CHECK(recording == 0);
  s.records.resume();
  CHECK(recording == 1);
  REQUIRE(s.records.want(false));
  CHECK(recording == 0);
  CHECK_FALSE(out_of_order);
}

TEST_CASE("a capture that ends or begins during a pause takes effect after it") {
  switch_scene s;
  REQUIRE(s.records.want(true));
  REQUIRE(s.records.pause());
  REQUIRE(s.records.want(false));
  s.records.resume();
  CHECK(recording == 0);
  REQUIRE(s.records.pause());
  REQUIRE(s.records.want(true));
  CHECK(recording == 0);
  s.records.resume();
  CHECK(recording == 1);
  CHECK_FALSE(out_of_order);
}

TEST_CASE("the capture learns of a refusal, and records are off then") {
  switch_scene s;
  refuses = true;
  CHECK_FALSE(s.records.want(true));
  refuses = false;
  REQUIRE(s.records.pause());
  s.records.resume();
  CHECK(recording == 0);
  REQUIRE(s.records.want(true));
  CHECK(recording == 1);
}

TEST_CASE("if records cannot be stopped they stay on, and pauses are refused") {
  switch_scene s;
  kernel_switch stays(s.api, s.switches, false);
  REQUIRE(stays.want(true));
  CHECK_FALSE(stays.pause());
  REQUIRE(stays.want(false));
  CHECK(recording == 1);
  REQUIRE(stays.want(true));
  CHECK(calls == 1);
  CHECK_FALSE(out_of_order);
}

TEST_CASE("a CUPTI that has shut itself down is not called") {
  switch_scene s;
  REQUIRE(s.records.want(true));
  s.records.abandon();
  auto const before = calls.load();
  (void)s.records.pause();
  s.records.resume();
  REQUIRE(s.records.want(false));
  CHECK(calls == before);
}

TEST_CASE("concurrent pauses and captures leave the records in the wanted state") {
  switch_scene s;
  REQUIRE(s.records.want(true));
  std::atomic<bool> recorded_in_pause{false};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 5000; ++i) {
          if (!s.records.pause()) continue;
          if (recording != 0) recorded_in_pause = true;
          s.records.resume();
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; ++i) (void)s.records.want(i % 2 == 0);
      (void)s.records.want(true);
    });
  }
  CHECK(recording == 1);
  CHECK_FALSE(recorded_in_pause);
  CHECK_FALSE(out_of_order);
}

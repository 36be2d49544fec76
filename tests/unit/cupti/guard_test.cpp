// SPDX-License-Identifier: Apache-2.0
// What a failed CUPTI call turns into, and in which order things are undone.
#include "guest/cupti/guard.hpp"

#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

#include <stdexcept>

using namespace gpuprof;
using namespace gpuprof::guest;
using gpuprof::test::fake_cupti;

TEST_CASE("a call that works returns no failure") {
  fake_cupti cupti;
  cupti_guard const guard(cupti.library.api);
  CHECK(guard.call<&cupti_api::cuptiActivityEnable>(CUPTI_ACTIVITY_KIND_MEMCPY));
  REQUIRE(cupti.calls().size() == 1);
  CHECK(cupti.calls().front() == "cuptiActivityEnable 1");
}

TEST_CASE("a failed call is reported with function, CUPTI's text, number and meaning") {
  fake_cupti cupti;
  cupti_guard const guard(cupti.library.api);
  cupti.fail_nth("cuptiActivityEnable", 0, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  auto const taken = guard.call<&cupti_api::cuptiActivityEnable>(CUPTI_ACTIVITY_KIND_MEMCPY);
  REQUIRE(!taken);
  CHECK(taken.message() ==
        "cuptiActivityEnable failed, CUPTI is held by another tool: "
        "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (39)");
}

TEST_CASE("an error without a special meaning keeps CUPTI's text") {
  fake_cupti cupti;
  CHECK(describe(cupti.library.api, CUPTI_ERROR_NOT_COMPATIBLE) ==
        "CUPTI_ERROR_NOT_COMPATIBLE (14)");
  CHECK(describe(cupti.library.api, CUPTI_ERROR_UNKNOWN) ==
        "there is no usable GPU driver: CUPTI_ERROR_UNKNOWN (999)");
}

TEST_CASE("an error can be described without cuptiGetResultString") {
  cupti_api const nothing;
  CHECK(describe(nothing, CUPTI_ERROR_INVALID_KIND) == "CUPTI error (21)");
}

TEST_CASE("a function this libcupti does not have is an error, not a crash") {
  fake_cupti cupti;
  cupti.library.api.cuptiEnableDomain = nullptr;
  cupti_guard const guard(cupti.library.api);
  auto const absent = guard.call<&cupti_api::cuptiEnableDomain>(1u, CUpti_SubscriberHandle{},
                                                                CUPTI_CB_DOMAIN_DRIVER_API);
  REQUIRE(!absent);
  CHECK(absent.message() == "cuptiEnableDomain is not in this libcupti");
  CHECK_FALSE(guard.try_call<&cupti_api::cuptiEnableDomain>(1u, CUpti_SubscriberHandle{},
                                                            CUPTI_CB_DOMAIN_DRIVER_API));
}

TEST_CASE("the table names the first missing function that tracing needs") {
  fake_cupti cupti;
  CHECK(cupti.library.api.first_missing_for_tracing() == nullptr);
  cupti.library.api.cuptiSubscribe_v2 = nullptr;  // only good to have
  CHECK(cupti.library.api.first_missing_for_tracing() == nullptr);
  cupti.library.api.cuptiFinalize = nullptr;
  CHECK(cupti.library.api.first_missing_for_tracing() == std::string("cuptiFinalize"));
}

TEST_CASE("steps are undone in reverse order, once") {
  std::string order;
  undo_stack steps;
  for (auto const step : {'a', 'b', 'c'}) steps.push([&order, step] { order += step; });
  CHECK_FALSE(steps.empty());
  steps.undo_all();
  CHECK(order == "cba");
  CHECK(steps.empty());
  steps.undo_all();
  CHECK(order == "cba");
}

TEST_CASE("an undo step that throws does not keep the others from running") {
  std::string order;
  undo_stack steps;
  steps.push([&] { order += 'a'; });
  steps.push([] { throw std::runtime_error("no"); });
  steps.push([&] { order += 'c'; });
  steps.undo_all();
  CHECK(order == "ca");
}

TEST_CASE("an undo step may push a further one, which is undone next") {
  std::string order;
  undo_stack steps;
  steps.push([&] { order += 'a'; });
  steps.push([&] {
    order += 'b';
    steps.push([&] { order += 'x'; });
  });
  steps.undo_all();
  CHECK(order == "bxa");
}

TEST_CASE("steps that are forgotten are not undone") {
  auto undone = false;
  undo_stack steps;
  steps.push([&] { undone = true; });
  steps.forget_all();
  steps.undo_all();
  CHECK_FALSE(undone);
}

TEST_CASE("CUPTI's version numbers are shown as the CUDA release that contains them") {
  CHECK(cupti_version_text(18) == "11.8");
  CHECK(cupti_version_text(19) == "12.0");
  CHECK(cupti_version_text(28) == "12.9.1");
  CHECK(cupti_version_text(130000) == "13.0");
  CHECK(cupti_version_text(130102) == "13.1.2");
  CHECK(cupti_version_text(21) != "");
  CHECK(cupti_version_text(25) == "API 25");
}

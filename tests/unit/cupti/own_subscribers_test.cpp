// SPDX-License-Identifier: Apache-2.0
// Clients that CUPTI 13.2 and newer keep apart by itself: they are passed on to it.
#include "guest/cupti/sharing/shared_cupti.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"

#include <cstddef>
#include <string>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using test::fake_cupti;

namespace {

/// As the headers of CUPTI 13.2 have it.
struct params_of_13_2 {
  CUpti_SubscriberParams older{};
  std::uint8_t allow_multiple = 0;
  std::uint8_t padding[7] = {};
};
static_assert(offsetof(params_of_13_2, allow_multiple) == 32);

/// CUPTI's part: several subscribers if all ask for it, else one.
struct given_one {
  CUpti_CallbackFunc function;
  void* data;
};
std::vector<given_one> subscribers_given;
bool subscriber_is_alone = false;
std::vector<std::pair<CUpti_SubscriberHandle, CUpti_CallbackId>> callbacks_given;
std::vector<CUpti_SubscriberHandle> subscribers_gone;

CUptiResult give_subscriber(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function, void* data,
                            CUpti_SubscriberParams* params) {
  auto const among_several = asks_to_be_one_of_several(params);
  if (!subscribers_given.empty() && (subscriber_is_alone || !among_several))
    return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscriber_is_alone = !among_several;
  subscribers_given.push_back({function, data});
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(0x1000 * subscribers_given.size());
  return CUPTI_SUCCESS;
}

void hear_nothing(void*, CUpti_CallbackDomain, CUpti_CallbackId, void const*) {}
auto const ears = reinterpret_cast<CUpti_CallbackFunc>(&hear_nothing);

struct several_subscribers {
  several_subscribers() : shared(prepared(cupti.library)) {
    shared.become_the_one();
    subscribers_given.clear();
    subscriber_is_alone = false;
    callbacks_given.clear();
    subscribers_gone.clear();
  }
  static loaded_cupti prepared(loaded_cupti library) {
    library.api.cuptiSubscribe_v2 = &give_subscriber;
    library.api.cuptiUnsubscribe = [](CUpti_SubscriberHandle handle) {
      subscribers_gone.push_back(handle);
      return CUPTI_SUCCESS;
    };
    library.api.cuptiEnableCallback = [](std::uint32_t, CUpti_SubscriberHandle handle,
                                         CUpti_CallbackDomain, CUpti_CallbackId id) {
      callbacks_given.emplace_back(handle, id);
      return CUPTI_SUCCESS;
    };
    return library;
  }
  CUptiResult they_subscribe(std::uint8_t allow = 1) {
    params.older.structSize = sizeof params;
    params.older.subscriberName = "theirs";
    params.allow_multiple = allow;
    return shared.subscribe(cupti_client::program, &their_handle, ears, this, &params.older);
  }
  CUptiResult we_subscribe() {
    CUpti_SubscriberParams ours{};
    ours.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    return shared.subscribe(cupti_client::gpuprof, &our_handle, ears, nullptr, &ours);
  }

  fake_cupti cupti;
  shared_cupti shared;
  params_of_13_2 params;
  CUpti_SubscriberHandle our_handle = nullptr, their_handle = nullptr;
};

}  // namespace

TEST_CASE("a client that allows several subscribers gets its own") {
  several_subscribers s;
  REQUIRE(s.they_subscribe() == CUPTI_SUCCESS);
  REQUIRE(subscribers_given.size() == 1);
  CHECK(subscribers_given[0].function == ears);
  CHECK(subscribers_given[0].data == &s);
  CHECK(s.shared.enable_callback(cupti_client::program, 1, s.their_handle,
                                 CUPTI_CB_DOMAIN_DRIVER_API, 7) == CUPTI_SUCCESS);
  CHECK(callbacks_given == std::vector{std::pair(s.their_handle, CUpti_CallbackId{7})});
  CHECK(s.shared.unsubscribe(cupti_client::program, s.their_handle) == CUPTI_SUCCESS);
  CHECK(subscribers_gone == std::vector{s.their_handle});
  // It has left, and its handle is not valid any more.
  CHECK(s.shared.unsubscribe(cupti_client::program, s.their_handle) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(subscribers_gone.size() == 1);
}

TEST_CASE("if such a client holds CUPTI we get the usual error, and do not end CUPTI") {
  several_subscribers s;
  REQUIRE(s.they_subscribe() == CUPTI_SUCCESS);
  CHECK(s.we_subscribe() == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(s.shared.ours().api.cuptiFinalize() == CUPTI_SUCCESS);
  CHECK(s.cupti.count("cuptiFinalize") == 0);
}

TEST_CASE("if we subscribed first such a client gets CUPTI's own answer") {
  several_subscribers s;
  REQUIRE(s.we_subscribe() == CUPTI_SUCCESS);
  CHECK(s.they_subscribe() == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  CHECK(s.their_handle == nullptr);
  // What it does then is shared as ever.
  REQUIRE(s.they_subscribe(0) == CUPTI_SUCCESS);
  CHECK(s.their_handle == s.our_handle);
}

TEST_CASE("a client built with older headers shares CUPTI") {
  CUpti_SubscriberParams older{};
  older.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  CHECK_FALSE(asks_to_be_one_of_several(nullptr));
  if (sizeof older == 32) CHECK_FALSE(asks_to_be_one_of_several(&older));
  params_of_13_2 newer;
  newer.older.structSize = sizeof newer;
  CHECK_FALSE(asks_to_be_one_of_several(&newer.older));
  newer.allow_multiple = 1;
  CHECK(asks_to_be_one_of_several(&newer.older));
}

// SPDX-License-Identifier: Apache-2.0
// Two clients of one CUPTI: each gets what it asked for, as if it were alone.
#include "guest/cupti/sharing/shared_cupti.hpp"

#include "base/time.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/record_walk.hpp"
#include "support/records.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;
using test::fake_cupti;

namespace {

constexpr auto us = cupti_client::gpuprof, program = cupti_client::program;
constexpr auto kernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
constexpr auto copies = CUPTI_ACTIVITY_KIND_MEMCPY;
constexpr auto api = CUPTI_ACTIVITY_KIND_RUNTIME;
constexpr CUpti_CallbackId launch = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
constexpr CUpti_CallbackId copy = CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2;

/// What a client hears and gets.
struct client {
  std::vector<CUpti_CallbackId> heard;
  std::uint64_t writes = 0;  // to the number that CUPTI keeps for a call
  std::vector<std::uint64_t> kept;
  std::vector<std::pair<int, std::uint32_t>> records;  // kind, correlation id
  std::vector<std::uint64_t> starts;
  std::set<std::uint8_t*> lent;
  std::size_t buffer_bytes = 4096, refuse_after = 1000;
  unsigned completions = 0, not_mine = 0;
  std::function<void()> before_it_takes = [] {};
};
client ours, theirs;

template <client& Me>
void CUPTIAPI hear(void* user, CUpti_CallbackDomain, CUpti_CallbackId id, void const* data) {
  CHECK(user == &Me);
  Me.heard.push_back(id);
  auto const& call = *static_cast<CUpti_CallbackData const*>(data);
  if (call.callbackSite == CUPTI_API_ENTER)
    *call.correlationData = Me.writes;
  else
    Me.kept.push_back(*call.correlationData);
}

template <client& Me>
void CUPTIAPI lend(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = nullptr;
  *size = Me.buffer_bytes;
  *most = 0;
  if (Me.lent.size() >= Me.refuse_after) return;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  std::memset(*buffer, &Me == &theirs ? 0xee : 0, *size);
  Me.lent.insert(*buffer);
}

template <client& Me>
void CUPTIAPI take(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                   std::size_t used) {
  Me.before_it_takes();
  static std::mutex one_at_a_time;
  std::lock_guard const lock(one_at_a_time);
  ++Me.completions;
  if (Me.lent.erase(buffer) != 1) {
    ++Me.not_mine;
    return;
  }
  CHECK(size == Me.buffer_bytes);
  CUpti_Activity* record = nullptr;
  while (test::next_record_by_size(buffer, used, &record) == CUPTI_SUCCESS) {
    int const kind = record->kind;
    if (kind == api) {
      std::uint32_t const call = reinterpret_cast<CUpti_ActivityAPI*>(record)->correlationId;
      Me.records.emplace_back(kind, call);
      continue;
    }
    auto const& k = *reinterpret_cast<CUpti_ActivityKernel9*>(record);
    std::uint32_t const launch_of_it = k.correlationId;
    Me.records.emplace_back(kind, launch_of_it);
    Me.starts.push_back(k.start);
  }
  if (&Me == &ours)  // lent again, it must be clear where CUPTI has not written
    for (auto i = used; i < size; ++i) REQUIRE(buffer[i] == 0);
  std::free(buffer);
}

struct witness final : other_client_observer {
  void other_client_begins(std::string const& who) noexcept override {
    told += "begins:" + who + " ";
  }
  void other_client_ends() noexcept override { told += "ends "; }
  std::string told;
};

struct scene {
  scene() : shared(cupti.library) {
    shared.become_the_one();
    ours = {};
    theirs = {};
    ours.writes = 11;
    theirs.writes = 22;
    cupti.library.api.cuptiActivityGetNextRecord = &test::next_record_by_size;
    shared.observe(seen);
  }
  ~scene() {
    for (auto* const one : {&ours, &theirs})
      for (auto* const buffer : one->lent) std::free(buffer);
  }

  void we_subscribe() {
    REQUIRE(table().cuptiSubscribe(&handle, reinterpret_cast<CUpti_CallbackFunc>(&hear<ours>),
                                   &ours) == CUPTI_SUCCESS);
  }
  void they_subscribe() {
    REQUIRE(shared.subscribe(program, &their_handle,
                             reinterpret_cast<CUpti_CallbackFunc>(&hear<theirs>), &theirs,
                             nullptr) == CUPTI_SUCCESS);
  }
  void we_listen(CUpti_CallbackId id, bool on = true) {
    CHECK(table().cuptiEnableCallback(on, handle, CUPTI_CB_DOMAIN_DRIVER_API, id) == CUPTI_SUCCESS);
  }
  void they_listen(CUpti_CallbackId id, bool on = true) {
    CHECK(shared.enable_callback(program, on, their_handle, CUPTI_CB_DOMAIN_DRIVER_API, id) ==
          CUPTI_SUCCESS);
  }
  void call(CUpti_CallbackId id, std::uint32_t correlation) {
    begin(correlation);
    enter(id);
    leave(id);
  }
  void begin(std::uint32_t correlation) {
    kept_by_cupti = 0;
    data = {};
    data.correlationId = correlation;
    data.correlationData = &kept_by_cupti;
  }
  void enter(CUpti_CallbackId id) { cupti.driver_call(CUPTI_API_ENTER, data, id); }
  void leave(CUpti_CallbackId id) { cupti.driver_call(CUPTI_API_EXIT, data, id); }
  bool cupti_calls_back_for(CUpti_CallbackId id) {
    return cupti.callbacks().count({CUPTI_CB_DOMAIN_DRIVER_API, static_cast<int>(id)}) != 0;
  }

  void we_want(CUpti_ActivityKind kind) {
    table().cuptiActivityRegisterCallbacks(&lend<ours>, &take<ours>);
    CHECK(table().cuptiActivityEnable(kind) == CUPTI_SUCCESS);
  }
  void they_want(CUpti_ActivityKind kind) {
    shared.program_comes();
    shared.register_buffers(program, {&lend<theirs>, &take<theirs>});
    CHECK(shared.enable_kind(program, kind, "libother.so") == CUPTI_SUCCESS);
  }
  cupti_api const& table() { return shared.ours().api; }

  fake_cupti cupti;
  shared_cupti shared;
  witness seen;
  CUpti_SubscriberHandle handle = nullptr, their_handle = nullptr;
  CUpti_CallbackData data{};
  std::uint64_t kept_by_cupti = 0;
};

std::uint64_t real_now() {
  return now().value;
}

/// CUPTI fills a buffer and hands it back.
struct cupti_buffer {
  explicit cupti_buffer(scene& s) : cupti(s.cupti) {
    std::tie(bytes, size) = cupti.request_buffer();
    REQUIRE(bytes != nullptr);
    for (std::size_t i = 0; i < size; ++i) REQUIRE(bytes[i] == 0);
  }
  template <class Record>
  cupti_buffer& add(Record const& record) {
    REQUIRE(used + sizeof record <= size);
    std::memcpy(bytes + used, &record, sizeof record);
    used += sizeof record;
    return *this;
  }
  cupti_buffer& kernel(std::uint32_t correlation, std::uint64_t start) {
    return add(test::kernel_record_of("kernel", correlation, start, start + 1000));
  }
  cupti_buffer& call(std::uint32_t correlation, std::uint64_t start) {
    CUpti_ActivityAPI r{};
    r.kind = api;
    r.correlationId = correlation;
    r.start = start;
    r.end = start + 10;
    return add(r);
  }
  void hand_back() { cupti.complete_buffer(bytes, size, used); }

  fake_cupti& cupti;
  std::uint8_t* bytes = nullptr;
  std::size_t size = 0, used = 0;
};

using ids = std::vector<CUpti_CallbackId>;
using found = std::vector<std::pair<int, std::uint32_t>>;

}  // namespace

TEST_CASE("both clients subscribe in any order, and a third is refused") {
  scene s;
  bool const we_first = GENERATE(true, false);
  if (we_first) s.we_subscribe();
  s.they_subscribe();
  if (!we_first) s.we_subscribe();
  CHECK(s.cupti.count("cuptiSubscribe") == 1);
  CUpti_SubscriberHandle third = nullptr;
  CHECK(s.shared.subscribe(program, &third, reinterpret_cast<CUpti_CallbackFunc>(&hear<theirs>),
                           nullptr, nullptr) == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
}

TEST_CASE("each client gets the callbacks it asked for") {
  scene s;
  s.we_subscribe();
  s.we_listen(launch);
  s.call(launch, 1);
  s.they_subscribe();
  s.they_listen(copy);
  s.call(launch, 2);
  s.call(copy, 3);
  CHECK(ours.heard == ids{launch, launch, launch, launch});
  CHECK(theirs.heard == ids{copy, copy});
}

TEST_CASE("each client finds at the end of a call the data it wrote at the beginning") {
  scene s;
  s.we_subscribe();
  s.we_listen(launch);
  s.begin(7);
  s.enter(launch);  // they come while the program is inside the call
  s.they_subscribe();
  s.they_listen(launch);
  s.leave(launch);
  CHECK(ours.kept == std::vector<std::uint64_t>{11});
  s.call(launch, 8);
  CHECK(ours.kept == std::vector<std::uint64_t>{11, 11});
  CHECK(theirs.kept.back() == 22);
  CHECK(s.kept_by_cupti == 22);
  s.begin(9);
  s.enter(launch);  // and go while it is inside another
  s.shared.unsubscribe(program, s.their_handle);
  s.leave(launch);
  CHECK(ours.kept == std::vector<std::uint64_t>{11, 11, 11});
}

TEST_CASE("a call without a seen beginning has no data") {
  scene s;
  s.we_subscribe();
  s.they_subscribe();
  s.they_listen(launch);
  s.begin(5);
  s.enter(launch);
  s.we_listen(launch);
  s.leave(launch);
  CHECK(ours.kept == std::vector<std::uint64_t>{0});
}

TEST_CASE("callbacks that one client switches off still reach the other") {
  scene s;
  s.we_subscribe();
  s.they_subscribe();
  s.we_listen(launch);
  s.they_listen(launch);
  s.they_listen(copy);
  SECTION("call by call") {
    s.they_listen(launch, false);
    CHECK(s.cupti_calls_back_for(launch));
    s.we_listen(launch, false);
    CHECK_FALSE(s.cupti_calls_back_for(launch));
  }
  SECTION("a whole domain") {
    CHECK(s.shared.enable_domain(program, 0, s.their_handle, CUPTI_CB_DOMAIN_DRIVER_API) ==
          CUPTI_SUCCESS);
    CHECK(s.cupti_calls_back_for(launch));
    CHECK_FALSE(s.cupti_calls_back_for(copy));
  }
  SECTION("all that it heard") {
    CHECK(s.shared.unsubscribe(program, s.their_handle) == CUPTI_SUCCESS);
    CHECK(s.cupti_calls_back_for(launch));
    CHECK_FALSE(s.cupti_calls_back_for(copy));
    CHECK(s.cupti.subscribed());
    s.call(launch, 1);
    CHECK(theirs.heard.empty());
    s.table().cuptiUnsubscribe(s.handle);
    CHECK_FALSE(s.cupti.subscribed());
  }
}

TEST_CASE("if the program has a client, only that one ends CUPTI") {
  scene s;
  s.we_subscribe();
  s.we_want(kernels);
  s.they_subscribe();
  s.they_want(kernels);
  CHECK(s.table().cuptiFinalize() == CUPTI_SUCCESS);
  CHECK(s.cupti.count("cuptiFinalize") == 0);
  CHECK(s.cupti.kinds().count(kernels) == 1);
  CHECK(s.shared.finalize(program) == CUPTI_SUCCESS);
  CHECK(s.cupti.count("cuptiFinalize") == 1);
  s.we_subscribe();  // from the beginning
  CHECK(s.cupti.subscribed());
  s.they_subscribe();
  s.they_want(kernels);
  CHECK(s.shared.finalize(program) == CUPTI_SUCCESS);  // we are there
  CHECK(s.cupti.count("cuptiFinalize") == 1);
  CHECK_FALSE(s.shared.other_client_records());
  CHECK(s.table().cuptiFinalize() == CUPTI_SUCCESS);  // it may come back
  CHECK(s.cupti.count("cuptiFinalize") == 1);
}

TEST_CASE("without another client we end CUPTI") {
  scene s;
  s.we_subscribe();
  s.we_want(kernels);
  CHECK(s.table().cuptiFinalize() == CUPTI_SUCCESS);
  CHECK(s.cupti.count("cuptiFinalize") == 1);
}

TEST_CASE("a client that has left does not affect the other, with the shared handle") {
  scene s;
  s.we_subscribe();
  s.we_listen(launch);
  s.they_subscribe();
  CHECK(s.shared.unsubscribe(program, s.their_handle) == CUPTI_SUCCESS);
  CHECK(s.shared.unsubscribe(program, s.their_handle) == CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(s.shared.enable_callback(program, 0, s.their_handle, CUPTI_CB_DOMAIN_DRIVER_API, launch) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(s.shared.enable_domain(program, 0, s.their_handle, CUPTI_CB_DOMAIN_DRIVER_API) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(s.cupti.subscribed());
  CHECK(s.cupti_calls_back_for(launch));
}

TEST_CASE("callbacks that CUPTI refuses do not count as on") {
  scene s;
  s.we_subscribe();
  s.cupti.fail_nth("cuptiEnableCallback", 1, CUPTI_ERROR_INVALID_PARAMETER);
  CHECK(s.table().cuptiEnableCallback(1, s.handle, CUPTI_CB_DOMAIN_DRIVER_API, launch) ==
        CUPTI_ERROR_INVALID_PARAMETER);
  s.they_subscribe();
  s.they_listen(launch);
  s.call(launch, 1);
  CHECK(ours.heard.empty());
  CHECK(theirs.heard.size() == 2);
}

TEST_CASE("of two flushes at the same time ours is skipped") {
  scene s;
  s.we_want(kernels);
  s.they_want(kernels);
  auto inside = CUPTI_SUCCESS;
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    s.cupti.when_called("cuptiActivityFlushAll", [] {});
    inside = s.table().cuptiActivityFlushAll(0);
  });
  CHECK(s.shared.flush(program, 0) == CUPTI_SUCCESS);
  CHECK(inside == CUPTI_ERROR_NOT_READY);
  CHECK(s.table().cuptiActivityFlushAll(0) == CUPTI_SUCCESS);
}

TEST_CASE("functions of the other client are not called while we flush") {
  scene s;
  theirs.buffer_bytes = 1024;
  s.we_want(kernels);
  s.they_want(kernels);
  cupti_buffer buffer(s);
  for (std::uint32_t i = 0; i < 12; ++i) buffer.kernel(i, real_now());
  unsigned inside = 0;
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    buffer.hand_back();
    inside = theirs.completions;
  });
  s.table().cuptiActivityFlushAll(0);
  CHECK(inside == 0);
  CHECK(theirs.completions > 0);
}

TEST_CASE("a flush of the other client returns after all buffers are delivered, by any thread") {
  scene s;
  theirs.buffer_bytes = 1024;
  s.we_want(kernels);
  s.they_want(kernels);
  cupti_buffer buffer(s);
  for (std::uint32_t i = 0; i < 12; ++i) buffer.kernel(i, real_now());
  s.cupti.when_called("cuptiActivityFlushAll", [&] {
    s.cupti.when_called("cuptiActivityFlushAll", [] {});
    buffer.hand_back();
  });
  std::atomic<bool> begun{false};
  theirs.before_it_takes = [&begun, main = std::this_thread::get_id()] {
    if (std::this_thread::get_id() == main) return;
    begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  };
  std::thread drain([&s] { s.table().cuptiActivityFlushAll(0); });
  while (!begun) std::this_thread::yield();
  s.shared.flush(program, 0);
  auto const found_after_flush = theirs.records.size();
  drain.join();
  CHECK(found_after_flush == 12);
}

TEST_CASE("a kind of records is on while either client wants it") {
  scene s;
  s.we_want(kernels);
  s.they_want(kernels);
  s.they_want(api);
  CHECK(s.shared.disable_kind(program, kernels) == CUPTI_SUCCESS);
  CHECK(s.cupti.kinds() == std::set<int>{kernels, api});
  CHECK(s.shared.other_client_records());
  s.shared.disable_kind(program, api);
  CHECK(s.cupti.kinds() == std::set<int>{kernels});
  CHECK_FALSE(s.shared.other_client_records());
  CHECK(s.seen.told == "begins:libother.so ends ");
  s.table().cuptiActivityDisable(kernels);
  CHECK(s.cupti.kinds().empty());
}

TEST_CASE("single calls of the program are passed to CUPTI unchanged, and outlive our captures") {
  scene s;
  auto const driver = CUPTI_ACTIVITY_KIND_DRIVER;
  CUpti_CallbackId const wait = CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize;
  auto const is_on = [&] { return s.cupti.single_calls().count({driver, wait}) != 0; };
  REQUIRE(s.shared.enable_call(driver, wait, 1, "libother.so") == CUPTI_SUCCESS);
  CHECK(is_on());
  CHECK(s.shared.other_client_records());
  CHECK(s.seen.told == "begins:libother.so ");
  SECTION("of a kind that a capture of ours has on meanwhile") {
    s.we_want(driver);
    s.table().cuptiActivityDisable(driver);
    CHECK(s.cupti.kinds().count(driver) == 1);  // else CUPTI would record none of them again
  }
  SECTION("until the program switches them off, or their kind") {
    REQUIRE(s.shared.enable_call(driver, wait, 0) == CUPTI_SUCCESS);
    CHECK_FALSE(is_on());
    CHECK_FALSE(s.shared.other_client_records());
  }
  SECTION("beside the whole kind") {
    REQUIRE(s.shared.enable_kind(program, driver) == CUPTI_SUCCESS);
    REQUIRE(s.shared.enable_call(driver, wait, 0) == CUPTI_SUCCESS);
    CHECK(s.shared.other_client_records());
    REQUIRE(s.shared.disable_kind(program, driver) == CUPTI_SUCCESS);
    CHECK(s.cupti.kinds().count(driver) == 0);
    CHECK_FALSE(s.shared.other_client_records());
  }
}

TEST_CASE("a single call that CUPTI refuses starts no session") {
  scene s;
  s.cupti.fail_nth("cuptiActivityEnableRuntimeApi", 1, CUPTI_ERROR_NOT_SUPPORTED);
  CHECK(s.shared.enable_call(api, CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020, 1) ==
        CUPTI_ERROR_NOT_SUPPORTED);
  CHECK_FALSE(s.shared.other_client_records());
}

TEST_CASE("each client gets the records of the calls it asked for") {
  scene s;
  CUpti_CallbackId const wait = CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020;
  CUpti_CallbackId const query = CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020;
  auto const record = [](CUpti_CallbackId id, std::uint32_t correlation) {
    auto made = test::api_record_of(false, id, correlation);
    made.start = real_now();
    made.end = made.start + 10;
    return made;
  };
  s.we_want(api);
  s.shared.register_buffers(program, {&lend<theirs>, &take<theirs>});
  SECTION("all but one") {
    s.they_want(api);
    REQUIRE(s.shared.enable_call(api, query, 0) == CUPTI_SUCCESS);
    s.we_want(api);  // CUPTI forgets what was said of single calls
  }
  SECTION("one alone") {
    REQUIRE(s.shared.enable_call(api, wait, 1) == CUPTI_SUCCESS);
  }
  cupti_buffer(s).add(record(wait, 1)).add(record(query, 2)).hand_back();
  CHECK(ours.records == found{{api, 1}, {api, 2}});
  s.shared.flush(program, 0);
  CHECK(theirs.records == found{{api, 1}});
}

TEST_CASE("a kind that CUPTI refuses starts no session") {
  scene s;
  s.cupti.fail_nth("cuptiActivityEnable", 1, CUPTI_ERROR_NOT_COMPATIBLE);
  CHECK(s.shared.enable_kind(program, kernels, "libother.so") == CUPTI_ERROR_NOT_COMPATIBLE);
  CHECK_FALSE(s.shared.other_client_records());
  CHECK(s.seen.told == "begins:libother.so ends ");
}

TEST_CASE("a session that is switched off and on keeps records that were not fetched yet") {
  scene s;
  s.we_want(kernels);
  std::vector<std::uint64_t> in_session;
  for (int i = 0; i < 3; ++i) {
    s.they_want(kernels);
    in_session.push_back(real_now());
    s.shared.disable_kind(program, kernels);
  }
  cupti_buffer buffer(s);
  for (std::uint32_t i = 0; i < 3; ++i) buffer.kernel(i, in_session[i]);
  buffer.hand_back();
  s.shared.flush(program, 0);
  CHECK(theirs.records.size() == 3);
}

TEST_CASE("records of whole graphs wait when the other client was there first") {
  scene s;
  s.they_want(kernels);
  s.we_want(kernels);
  s.we_want(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  CHECK(s.cupti.kinds() == std::set<int>{kernels});
  CHECK(s.shared.graph_suspensions() == 1);
  s.shared.disable_kind(program, kernels);
  CHECK(s.cupti.kinds() == std::set<int>{kernels, CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
  CHECK(s.shared.graph_suspensions() == 2);
}

TEST_CASE("records of whole graphs, which hide kernels, are not forced on the other client") {
  scene s;
  s.we_want(kernels);
  s.we_want(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  s.they_want(kernels);
  CHECK(s.cupti.kinds() == std::set<int>{kernels});
  s.shared.disable_kind(program, kernels);
  CHECK(s.cupti.kinds() == std::set<int>{kernels, CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
}

TEST_CASE("each client gets the records of its kinds, and of its time") {
  scene s;
  s.we_want(kernels);
  auto const before = real_now() - 1'000'000;
  s.they_want(kernels);
  s.they_want(api);
  cupti_buffer buffer(s);
  buffer.kernel(1, before).kernel(2, real_now()).call(3, real_now()).hand_back();
  CHECK(ours.records == found{{kernels, 1}, {kernels, 2}});
  CHECK(theirs.records.empty());  // their buffer is not full yet
  s.shared.flush(program, 0);
  CHECK(theirs.records == found{{kernels, 2}, {api, 3}});
  s.shared.disable_kind(program, kernels);
  s.shared.disable_kind(program, api);
  auto const in_time = real_now();  // launched before they stopped
  s.shared.flush(program, 0);
  cupti_buffer later(s);
  later.kernel(4, in_time).kernel(5, in_time + 60'000'000'000).hand_back();
  s.shared.flush(program, 0);
  CHECK(theirs.records.back() == std::pair<int, std::uint32_t>{kernels, 4});
  CHECK(ours.records.size() == 4);
  CHECK(ours.not_mine + theirs.not_mine == 0);
}

TEST_CASE("the other client is asked for a buffer at once, and gets it back when it stops") {
  scene s;
  s.we_want(kernels);
  bool const buffers_first = GENERATE(true, false);
  if (!buffers_first) CHECK(s.shared.enable_kind(program, kernels, "libother.so") == CUPTI_SUCCESS);
  s.shared.register_buffers(program, {&lend<theirs>, &take<theirs>});
  if (buffers_first) s.shared.enable_kind(program, kernels, "libother.so");
  CHECK(theirs.lent.size() == 1);
  s.shared.flush(program, 0);
  CHECK(theirs.completions == 0);  // nothing is in it
  cupti_buffer buffer(s);
  buffer.kernel(1, real_now()).hand_back();
  s.shared.flush(program, 0);
  CHECK(theirs.records == found{{kernels, 1}});
  CHECK(theirs.lent.size() == 1);
  s.shared.disable_kind(program, kernels);
  s.shared.flush(program, 0);
  CHECK(theirs.lent.empty());
}

TEST_CASE("buffers of the other client are filled one after the other") {
  scene s;
  theirs.buffer_bytes = 1024;
  s.we_want(kernels);
  s.they_want(kernels);
  for (std::uint32_t i = 0; i < 5; ++i) {
    cupti_buffer buffer(s);
    buffer.kernel(2 * i, real_now()).kernel(2 * i + 1, real_now()).hand_back();
  }
  CHECK(theirs.completions <= 3);
  s.shared.flush(program, 0);
  CHECK(theirs.records.size() == 10);
  CHECK(theirs.completions == 10 / (1024 / sizeof(CUpti_ActivityKernel10)) +
                                  (10 % (1024 / sizeof(CUpti_ActivityKernel10)) != 0));
}

TEST_CASE("without us CUPTI fills the buffers of the other client directly") {
  scene s;
  s.they_want(kernels);
  auto const [bytes, size] = s.cupti.request_buffer();
  CHECK(theirs.lent.count(bytes) == 1);
  CHECK(size == theirs.buffer_bytes);
  s.cupti.complete_buffer(bytes, size, 0);
  CHECK(theirs.completions == 1);
  CHECK(ours.completions == 0);
}

TEST_CASE("a buffer of the other client filled while we trace also contains our records") {
  scene s;
  s.they_want(kernels);
  auto const [bytes, size] = s.cupti.request_buffer();
  std::memset(bytes, 0, size);
  s.we_want(kernels);
  s.we_want(copies);
  auto const kernel = test::kernel_record_of("kernel", 1, real_now(), real_now() + 1);
  CUpti_ActivityMemcpy6 moved{};
  moved.kind = copies;
  moved.start = real_now();
  moved.correlationId = 2;
  std::memcpy(bytes, &kernel, sizeof kernel);
  std::memcpy(bytes + sizeof kernel, &moved, sizeof moved);
  s.cupti.complete_buffer(bytes, size, sizeof kernel + sizeof moved);
  CHECK(theirs.records == found{{kernels, 1}});
  CHECK(ours.records.size() == 2);
}

TEST_CASE("the other client lends buffers when we have none left, and gets their content") {
  scene s;
  s.we_want(kernels);
  s.they_want(kernels);
  ours.refuse_after = 0;
  cupti_buffer buffer(s);
  CHECK(theirs.lent.count(buffer.bytes) == 1);
  buffer.kernel(1, real_now()).hand_back();
  CHECK(theirs.records == found{{kernels, 1}});
}

namespace {

std::uint64_t CUPTIAPI clock_of_ticks() {
  return (real_now() - 1'700'000'000'000'000'000u) * 3;
}

}  // namespace

TEST_CASE("the clock of the other client applies only to its records") {
  scene s;
  bool const we_trace = GENERATE(true, false);
  if (we_trace) s.we_want(kernels);
  s.shared.program_comes();
  CHECK(s.shared.register_clock(&clock_of_ticks) == CUPTI_SUCCESS);
  CHECK(s.cupti.count("cuptiActivityRegisterTimestampCallback") == 0);
  s.they_want(kernels);
  auto const begin = real_now();
  while (real_now() < begin + 30'000'000) {
  }
  auto const ticks = clock_of_ticks();
  auto const real = real_now();
  auto const [bytes, size] = s.cupti.request_buffer();
  auto const kernel = test::kernel_record_of("kernel", 1, real, real + 10'000);
  std::memcpy(bytes, &kernel, sizeof kernel);
  s.cupti.complete_buffer(bytes, size, sizeof kernel);
  s.shared.flush(program, 0);
  REQUIRE(theirs.starts.size() == 1);
  CHECK(theirs.starts[0] + 6'000'000 > ticks);
  CHECK(theirs.starts[0] < ticks + 6'000'000);
  if (we_trace) CHECK(ours.starts == std::vector<std::uint64_t>{real});
}

TEST_CASE("times between two known points are interpolated linearly") {
  constexpr std::uint64_t begin = 1'700'000'000'000'000'000u, second = 1'000'000'000;
  clock_map const map({{begin, 1000},
                       {begin + second, 1000 + 3 * second},
                       {begin + 3 * second, 1000 + 6 * second}});
  CHECK(map.theirs(begin) == 1000);
  CHECK(map.theirs(begin + second / 2) == 1000 + 3 * second / 2);
  CHECK(map.theirs(begin + 2 * second) == 1000 + 9 * second / 2);
  CHECK(map.theirs(begin + 4 * second) == 1000 + 15 * second / 2);
  CHECK(map.theirs(begin - 100) == 700);
  CHECK(map.theirs(0) == 0);
  CHECK(clock_map{}.theirs(5) == 5);
  CHECK(clock_map{{{begin, 7}}}.theirs(begin + 10) == 17);
}

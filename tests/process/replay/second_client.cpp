// SPDX-License-Identifier: Apache-2.0
// A part of a program that uses CUPTI itself, as torch.profiler and Proton do, as a library to
// preload: a thread of it holds sessions, of kernels, copies and launch callbacks, and checks that
// it gets what CUPTI gives to a client that is alone. Built twice: linked against libcupti
// (SECOND_CLIENT_LINKED), and asking dlsym for each function.
//
// REPLAY_SECOND_OUTPUT       file for the counts, one name=value a line
// REPLAY_SECOND_SESSION_MS   length of a session, or that of 200 launches; 0 (default): to the end
// REPLAY_SECOND_GAP_MS       time before each session, default 0
// REPLAY_SECOND_SESSIONS     how many, default 1
// REPLAY_SECOND_KINDS        activity kinds by number, default 1,10
// REPLAY_SECOND_BUFFER_BYTES size of buffers, default 65536
// REPLAY_SECOND_LIBRARY      the libcupti to open, where it is opened
// REPLAY_SECOND_CLOCK        1: registers a clock of its own
// REPLAY_SECOND_AFTER        after each session: keep (default), unsubscribe or finalize
#include "replay/tests/client/calls.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;

#ifdef SECOND_CLIENT_LINKED
#define FUNCTION(name) &::name
#else
#define FUNCTION(name) reinterpret_cast<decltype(&::name)>(dlsym(opened_cupti(), #name))
void* opened_cupti() {
  static void* const library =
      dlopen(variable("REPLAY_SECOND_LIBRARY", "libcupti.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  return library;
}
#endif
#define CALL(name, ...) (FUNCTION(name))(__VA_ARGS__)

unsigned long number(char const* name, unsigned long otherwise) {
  auto const text = variable(name);
  return text.empty() ? otherwise : std::stoul(text);
}

std::mutex lock;  // protects the next five
std::map<std::string, unsigned long>& counts = *new std::map<std::string, unsigned long>;
std::map<std::uint32_t, std::uint64_t>& entered = *new std::map<std::uint32_t, std::uint64_t>;
std::set<std::uint32_t>& to_be_recorded = *new std::set<std::uint32_t>;
std::set<std::uint32_t>& owed = *new std::set<std::uint32_t>;  // launched, and no record yet
std::set<std::uint32_t>& recorded = *new std::set<std::uint32_t>;
std::atomic<bool> in_session{false}, closing{false}, closed{false};
CUpti_SubscriberHandle subscriber = nullptr;

void count(std::string const& name, unsigned long more = 1) {
  std::lock_guard const hold(lock);
  counts[name] += more;
}

bool fine(CUptiResult code, char const* what) {
  if (code != CUPTI_SUCCESS) count(std::string("failed:") + what + "=" + std::to_string(code));
  return code == CUPTI_SUCCESS;
}

std::uint64_t clock_ns(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}
bool has_clock() {
  static bool const own = number("REPLAY_SECOND_CLOCK", 0) != 0;
  return own;
}
// Hours away from the machine's clock.
std::uint64_t CUPTIAPI my_clock() {
  return has_clock() ? clock_ns(CLOCK_MONOTONIC) + 7'200'000'000'000u : clock_ns(CLOCK_REALTIME);
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = number("REPLAY_SECOND_BUFFER_BYTES", 65536);
  *buffer = static_cast<std::uint8_t*>(std::malloc(*size));
  std::memset(*buffer, 0xee, *size);
  *most = 0;
  count("requests");
}

void look_at_kernel(CUpti_ActivityKernel9 const& k) {
  std::lock_guard const hold(lock);
  counts["kernel_ns"] += k.end - k.start;
  owed.erase(k.correlationId);
  if (!recorded.insert(k.correlationId).second && k.graphId == 0) ++counts["kernels_twice"];
  auto const launch = entered.find(k.correlationId);
  if (launch == entered.end()) {
    ++counts["kernels_without_launch"];  // launched when callbacks were not on yet
  } else if (k.start < launch->second || k.start > launch->second + 3'600'000'000'000u) {
    ++counts["kernels_at_the_wrong_time"];
  }
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size,
                       std::size_t used) {
  count("completions");
  if (size != number("REPLAY_SECOND_BUFFER_BYTES", 65536)) count("buffers_of_others");
  CUpti_Activity* record = nullptr;
  while (CALL(cuptiActivityGetNextRecord, buffer, used, &record) == CUPTI_SUCCESS) {
    count("records_" + std::to_string(record->kind));
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
      look_at_kernel(*reinterpret_cast<CUpti_ActivityKernel9 const*>(record));
  }
  std::free(buffer);
}

void close_and_write();

void CUPTIAPI callback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId,
                       void const* data) {
  if (user != &counts) count("user_data_lost");
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return count("callbacks_not_asked_for");
  // Exit handlers run last one first, and the driver's is registered at the end of cuInit.
  static bool const registered = std::atexit(close_and_write) == 0;
  if (!registered) count("failed:atexit");
  auto const& call = *static_cast<CUpti_CallbackData const*>(data);
  std::lock_guard const hold(lock);
  if (call.callbackSite == CUPTI_API_ENTER) {
    ++counts["enters"];
    *call.correlationData = 0x5ec0d000u + call.correlationId;
    entered[call.correlationId] = my_clock();
    if (in_session) to_be_recorded.insert(call.correlationId);
    return;
  }
  if (entered.count(call.correlationId) == 0) return;  // began before the session
  ++counts["exits"];
  if (*call.correlationData != 0x5ec0d000u + call.correlationId) ++counts["correlation_data_lost"];
  if (in_session && to_be_recorded.count(call.correlationId) != 0 &&
      recorded.count(call.correlationId) == 0)
    owed.insert(call.correlationId);
}

std::vector<CUpti_ActivityKind> kinds() {
  std::vector<CUpti_ActivityKind> all;
  std::istringstream text(variable("REPLAY_SECOND_KINDS", "1,10"));
  for (std::string kind; std::getline(text, kind, ',');)
    all.push_back(static_cast<CUpti_ActivityKind>(std::stoi(kind)));
  return all;
}

// There is no driver at first.
bool subscribe() {
  if (subscriber != nullptr) return true;
  auto const function = reinterpret_cast<CUpti_CallbackFunc>(&callback);
  auto code = CUPTI_SUCCESS;
  for (int i = 0; i < 20000 && !closing; ++i) {
    code = CALL(cuptiSubscribe, &subscriber, function, &counts);
    if (code == CUPTI_SUCCESS || code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) break;
    std::this_thread::sleep_for(1ms);
  }
  return fine(code, "subscribe") && subscriber != nullptr;
}

void begin() {
  if (has_clock()) fine(CALL(cuptiActivityRegisterTimestampCallback, &my_clock), "clock");
  fine(CALL(cuptiActivityRegisterCallbacks, request, complete), "register");
  fine(CALL(cuptiEnableCallback, 1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
       "callback");
  for (auto const kind : kinds()) fine(CALL(cuptiActivityEnable, kind), "enable");
  in_session = true;
}

void end() {
  in_session = false;
  std::this_thread::sleep_for(20ms);  // as who waits for the GPU before he stops
  fine(CALL(cuptiActivityFlushAll, 0), "flush");
  for (auto const kind : kinds()) fine(CALL(cuptiActivityDisable, kind), "disable");
  fine(CALL(cuptiEnableCallback, 0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
       "callback");
  fine(CALL(cuptiActivityFlushAll, 0), "flush");
  std::uint32_t on = 7;
  fine(CALL(cuptiGetCallbackState, &on, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
            CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
       "state");
  if (on != 0) count("callback_still_on");
  count("sessions");
  auto const after = variable("REPLAY_SECOND_AFTER", "keep");
  if (after == "unsubscribe") fine(CALL(cuptiUnsubscribe, subscriber), "unsubscribe");
  if (after == "finalize") fine(CALL(cuptiFinalize), "finalize");
  if (after != "keep") subscriber = nullptr;
}

template <class Condition>
void wait(unsigned long ms, Condition enough) {
  auto const until = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!closing && (ms == 0 || std::chrono::steady_clock::now() < until || !enough()))
    std::this_thread::sleep_for(1ms);
}

unsigned long launches_seen() {
  std::lock_guard const hold(lock);
  return counts["enters"];
}

void hold_sessions() {
  std::atexit(close_and_write);
  auto const sessions = number("REPLAY_SECOND_SESSIONS", 1);
  for (unsigned long i = 0; i < sessions && !closing; ++i) {
    if (auto const gap = number("REPLAY_SECOND_GAP_MS", 0); gap != 0)
      wait(gap, [] { return true; });
    if (!subscribe()) break;
    begin();
    // On a busy machine the program may not have begun yet.
    auto const before = launches_seen();
    wait(number("REPLAY_SECOND_SESSION_MS", 0), [=] { return launches_seen() > before + 200; });
    end();
  }
  closed = true;
}

void close_and_write() {
  if (closing.exchange(true)) return;
  for (int i = 0; i < 5000 && !closed; ++i) std::this_thread::sleep_for(1ms);
  std::lock_guard const hold(lock);
  output = std::fopen(variable("REPLAY_SECOND_OUTPUT", "/dev/null").c_str(), "w");
  if (output == nullptr) return;
  for (auto const& [name, value] : counts) std::fprintf(output, "%s=%lu\n", name.c_str(), value);
  std::fprintf(output, "owed=%zu\n", owed.size());
  std::fclose(output);
}

bool const started = [] {
  if (variable("REPLAY_SECOND_OUTPUT").empty()) return false;
  std::thread(hold_sessions).detach();
  return true;
}();

}  // namespace

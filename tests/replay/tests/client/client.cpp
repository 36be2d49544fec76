// SPDX-License-Identifier: Apache-2.0
// A CUPTI client of the simplest sort, as a library to inject: counts what it gets and writes the
// counts at exit. With REPLAY_CLIENT_MISUSE it breaks one of CUPTI's rules, to see that noticed.
//
// REPLAY_CLIENT_OUTPUT           file for the counts, one name=value a line
// REPLAY_CLIENT_MISUSE           which rule to break (see misuse_is)
// REPLAY_CLIENT_KINDS            activity kinds by number, default 1,2,4,5,10,38,49
// REPLAY_CLIENT_MOST_BUFFERS     refuse further buffers
// REPLAY_CLIENT_BUFFER_BYTES     size of buffers
// REPLAY_CLIENT_DETACH_AT        call cuptiFinalize at the end of that launch, counted from 1
// REPLAY_CLIENT_ATTACH_AGAIN     start once more right after that
#include "guest/cupti/loader.hpp"
#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::replay;

std::string variable(char const* name, char const* otherwise = "") {
  char const* const text = std::getenv(name);
  return text != nullptr ? text : otherwise;
}
unsigned long number(char const* name, unsigned long otherwise) {
  auto const text = variable(name);
  return text.empty() ? otherwise : std::stoul(text);
}
bool misuse_is(char const* which) {
  return variable("REPLAY_CLIENT_MISUSE") == which;
}

struct counts {
  std::map<std::string, unsigned long> by_name;
  std::map<std::uint32_t, std::uint64_t> entered;  // launch callbacks by correlation id
  std::set<std::string> kernel_names;
  std::vector<std::string> failures;
};

std::mutex lock;  // protects `seen`
counts& seen = *new counts;
loaded_cupti* cupti = nullptr;
CUpti_SubscriberHandle subscriber = nullptr;
std::atomic<unsigned long> launches{0}, buffers_out{0};
bool attached = false;

void count(std::string const& name, unsigned long more = 1) {
  std::lock_guard const hold(lock);
  seen.by_name[name] += more;
}

bool works(CUptiResult code, char const* what) {
  if (code == CUPTI_SUCCESS) return true;
  std::lock_guard const hold(lock);
  seen.failures.push_back(std::string(what) + "=" + std::to_string(code));
  return false;
}

void CUPTIAPI request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *buffer = nullptr;
  *size = number("REPLAY_CLIENT_BUFFER_BYTES", 16384);
  *most = 0;
  count("requests");
  if (buffers_out.load() >= number("REPLAY_CLIENT_MOST_BUFFERS", 1'000'000)) return;
  ++buffers_out;
  auto* const bytes = static_cast<std::uint8_t*>(std::calloc(1, *size + 8));
  if (misuse_is("flush in request")) cupti->api.cuptiActivityFlushAll(0);
  if (misuse_is("throw")) throw std::runtime_error("from a buffer request");
  if (misuse_is("most records")) *most = 7;
  if (misuse_is("not zeroed")) bytes[*size - 1] = 1;
  if (misuse_is("small")) *size = 100;
  static std::uint8_t* const first = bytes;
  *buffer = misuse_is("unaligned") ? bytes + 4 : misuse_is("reuse") ? first : bytes;
}

void look_at_kernel(void const* record) {
  auto const& k = *static_cast<CUpti_ActivityKernel9 const*>(record);
  std::lock_guard const hold(lock);
  auto& n = seen.by_name;
  if (k.name != nullptr) seen.kernel_names.insert(k.name);
  if (k.start == 0 || k.end == 0) {
    ++n["kernels_without_times"];
    return;
  }
  n["kernel_ns"] += k.end - k.start;
  if (k.end < k.start) ++n["kernels_backwards"];
  auto const launch = seen.entered.find(k.correlationId);
  if (launch == seen.entered.end()) {
    ++n["kernels_without_launch"];
  } else if (k.start < launch->second) {
    ++n["kernels_before_launch"];
  }
}

void CUPTIAPI complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                       std::size_t used) {
  count("completions");
  if (misuse_is("flush in complete")) cupti->api.cuptiActivityFlushAll(1);
  CUpti_Activity* record = nullptr;
  while (cupti->api.cuptiActivityGetNextRecord(buffer, used, &record) == CUPTI_SUCCESS) {
    count("records_" + std::to_string(record->kind));
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) look_at_kernel(record);
  }
  if (!misuse_is("reuse")) std::free(buffer);
  --buffers_out;
}

void attach();
void detach();

std::uint64_t realtime_ns() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

void on_call(CUpti_CallbackId id, CUpti_CallbackData const& call) {
  bool const enter = call.callbackSite == CUPTI_API_ENTER;
  count(enter ? "enters" : "exits");
  if (enter) {
    *call.correlationData = call.correlationId;
    std::lock_guard const hold(lock);
    seen.entered[call.correlationId] = realtime_ns();
    return;
  }
  if (*call.correlationData != call.correlationId) count("correlation_data_lost");
  if (id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
    if (call.symbolName == nullptr) count("launches_without_name");
    if (++launches == number("REPLAY_CLIENT_DETACH_AT", 0)) {
      detach();
      if (!variable("REPLAY_CLIENT_ATTACH_AGAIN").empty()) attach();
    }
  }
}

void CUPTIAPI callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    on_call(id, *static_cast<CUpti_CallbackData const*>(data));
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    count("resource_" + std::to_string(id));
    if (misuse_is("flush in resource callback")) cupti->api.cuptiActivityFlushAll(0);
  } else if (domain == CUPTI_CB_DOMAIN_STATE) {
    count("state_" + std::to_string(id));
    attached = false;
  }
}

void attach() {
  auto const& api = cupti->api;
  auto const function = reinterpret_cast<CUpti_CallbackFunc>(&callback);
  char holder[64] = {};
  CUpti_SubscriberParams params{};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.subscriberName = "replay client";
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = sizeof holder;
  if (!works(api.cuptiSubscribe_v2(&subscriber, function, nullptr, &params), "subscribe")) {
    std::lock_guard const hold(lock);
    seen.failures.push_back("held_by=" + std::string(holder));
    return;
  }
  attached = true;
  CUpti_SubscriberHandle second = nullptr;
  count("second_subscribe",
        static_cast<unsigned long>(api.cuptiSubscribe(&second, function, nullptr)));
  std::uint8_t zeroed = 1;
  std::size_t size = sizeof zeroed;
  works(
      api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &zeroed),
      "attribute");
  if (!misuse_is("not registered"))
    works(api.cuptiActivityRegisterCallbacks(request, complete), "register");
  if (misuse_is("late per thread")) {
    api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &zeroed);
  }
  for (auto const id :
       {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
        CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2}) {
    works(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id), "callback");
  }
  works(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                CUPTI_CBID_RESOURCE_CONTEXT_CREATED),
        "callback");
  works(api.cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR),
        "callback");
  std::istringstream kinds(variable("REPLAY_CLIENT_KINDS", "1,2,4,5,10,38,49"));
  for (std::string kind; std::getline(kinds, kind, ',');) {
    works(api.cuptiActivityEnable(static_cast<CUpti_ActivityKind>(std::stoi(kind))), "enable");
  }
}

void detach() {
  works(cupti->api.cuptiActivityFlushAll(1), "flush");
  works(cupti->api.cuptiFinalize(), "finalize");
  attached = false;
}

void write_counts() {
  std::FILE* const out = std::fopen(variable("REPLAY_CLIENT_OUTPUT", "/dev/null").c_str(), "w");
  if (out == nullptr) return;
  std::lock_guard const hold(lock);
  for (auto const& [name, value] : seen.by_name) std::fprintf(out, "%s=%lu\n", name.c_str(), value);
  for (auto const& name : seen.kernel_names) std::fprintf(out, "kernel:%s=1\n", name.c_str());
  for (auto const& failure : seen.failures) std::fprintf(out, "failed:%s\n", failure.c_str());
  std::fclose(out);
}

void flush_from_two_threads() {
  std::thread other([] { cupti->api.cuptiActivityFlushAll(1); });
  cupti->api.cuptiActivityFlushAll(1);
  other.join();
}

void flush_in_a_child() {
  auto const child = fork();
  if (child == 0) {
    cupti->api.cuptiActivityFlushAll(1);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void at_exit() {
  if (attached) {
    if (misuse_is("two flushes")) flush_from_two_threads();
    if (misuse_is("fork")) flush_in_a_child();
    works(cupti->api.cuptiActivityFlushAll(1), "flush");
    std::size_t dropped = 0;
    if (works(cupti->api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped), "dropped")) {
      count("dropped", dropped);
    }
  }
  write_counts();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  auto loaded = load_cupti(13);
  if (!loaded) {
    std::fprintf(stderr, "replay client: %s\n", loaded.message().c_str());
    return 0;
  }
  cupti = new loaded_cupti(std::move(*loaded));
  std::atexit(at_exit);
  attach();
  return 1;
}

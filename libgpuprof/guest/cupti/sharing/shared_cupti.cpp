// SPDX-License-Identifier: Apache-2.0
#include "guest/cupti/sharing/shared_cupti.hpp"

#include "base/no_cancellation.hpp"
#include "base/process.hpp"
#include "base/time.hpp"
#include "guest/cupti/sharing/client_state.hpp"

#include <utility>

namespace gpuprof::guest {
namespace {

// CUPTI's functions for buffers carry no user pointer. Set once, before they are registered.
std::atomic<shared_cupti*> the_shared{nullptr};

constinit std::atomic<bool> all_clients_are_seen{false};

constinit thread_local bool inside_our_flush __attribute__((tls_model("initial-exec"))) = false;

template <auto Act>
struct for_us;
template <class Result, class... Args, Result (shared_cupti::*Act)(cupti_client, Args...)>
struct for_us<Act> {
  static Result CUPTIAPI call(Args... args) {
    return (the_shared.load(std::memory_order_acquire)->*Act)(cupti_client::gpuprof, args...);
  }
};

loaded_cupti with_our_functions(loaded_cupti real) {
  auto& api = real.api;
  api.cuptiSubscribe = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc f, void* data) {
    return the_shared.load()->subscribe(cupti_client::gpuprof, handle, f, data, nullptr);
  };
  if (api.cuptiSubscribe_v2 != nullptr)
    api.cuptiSubscribe_v2 = [](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc f, void* data,
                               CUpti_SubscriberParams* named) {
      return the_shared.load()->subscribe(cupti_client::gpuprof, handle, f, data, named);
    };
  api.cuptiActivityRegisterCallbacks = [](CUpti_BuffersCallbackRequestFunc request,
                                          CUpti_BuffersCallbackCompleteFunc complete) {
    return the_shared.load()->register_buffers(cupti_client::gpuprof, {request, complete});
  };
  api.cuptiActivityEnable = [](CUpti_ActivityKind kind) {
    return the_shared.load()->enable_kind(cupti_client::gpuprof, kind);
  };
  api.cuptiUnsubscribe = &for_us<&shared_cupti::unsubscribe>::call;
  api.cuptiEnableCallback = &for_us<&shared_cupti::enable_callback>::call;
  if (api.cuptiEnableDomain != nullptr)
    api.cuptiEnableDomain = &for_us<&shared_cupti::enable_domain>::call;
  api.cuptiActivityDisable = &for_us<&shared_cupti::disable_kind>::call;
  api.cuptiActivityFlushAll = &for_us<&shared_cupti::flush>::call;
  api.cuptiFinalize = &for_us<&shared_cupti::finalize>::call;
  return real;
}

}  // namespace

shared_cupti::shared_cupti(loaded_cupti real)
    : real_(std::move(real)), ours_(with_our_functions(real_)) {}

void shared_cupti::note_all_clients_are_seen() noexcept {
  all_clients_are_seen.store(true);
}

void shared_cupti::become_the_one() noexcept {
  the_shared.store(this, std::memory_order_release);
}

shared_cupti* shared_cupti::existing() noexcept {
  return the_shared.load(std::memory_order_acquire);
}

// Several threads may load it at once; all use the one that was first.
result<shared_cupti*> shared_cupti::of_process(unsigned driver_major) {
  if (auto* const there = the_shared.load(std::memory_order_acquire)) return there;
  watch_process_life();
  keep_children_inert();
  auto loaded = load_cupti(driver_major);
  if (!loaded) return error{loaded.message()};
  auto fresh = std::make_unique<shared_cupti>(std::move(*loaded));
  shared_cupti* none = nullptr;
  if (!the_shared.compare_exchange_strong(none, fresh.get())) return none;
  return fresh.release();
}

bool shared_cupti::is_inside_our_flush() noexcept {
  return inside_our_flush;
}

shared_cupti& shared_cupti::the_one() noexcept {
  return *the_shared.load(std::memory_order_acquire);
}

void shared_cupti::other_client_begins(std::string const& by) noexcept {
  // The client asked for the records of kernels, not for one record of the whole graph.
  if (records_of(cupti_client::gpuprof).has(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) &&
      !graphs_suspended_.exchange(true)) {
    ++graph_suspensions_;
    real_.api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  }
  if (auto* const observer = observer_.load()) observer->other_client_begins(by);
}

void shared_cupti::other_client_ends() noexcept {
  if (graphs_suspended_.exchange(false)) {
    if (records_of(cupti_client::gpuprof).has(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
      real_.api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    ++graph_suspensions_;
  }
  if (auto* const observer = observer_.load()) observer->other_client_ends();
}

void shared_cupti::note_kind_on(cupti_client who, CUpti_ActivityKind kind,
                                std::string const& by) noexcept {
  if (records_of(who).begin(kind, now().value) && who == cupti_client::program)
    other_client_begins(by);
}

void shared_cupti::note_kind_off(cupti_client who, CUpti_ActivityKind kind) noexcept {
  if (records_of(who).end(kind, now().value) && who == cupti_client::program) other_client_ends();
}

/// Our records of whole graphs are suspended while the program's client has records on but not this
/// kind.
bool shared_cupti::would_hide_kernels(cupti_client who, CUpti_ActivityKind kind) const noexcept {
  auto const& theirs = records_of(cupti_client::program);
  return who == cupti_client::gpuprof && kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE &&
         theirs.has_any() && !theirs.has(kind);
}

CUptiResult shared_cupti::enable_kind(cupti_client who, CUpti_ActivityKind kind,
                                      std::string const& by) {
  if (!enabled_records::knows(kind)) return real_.api.cuptiActivityEnable(kind);
  auto const was_on = records_of(who).has(kind);
  if (who == cupti_client::program) single_calls_.kind_switched(kind, true);
  note_kind_on(who, kind, by);
  if (would_hide_kernels(who, kind)) {
    if (!graphs_suspended_.exchange(true)) ++graph_suspensions_;
    return CUPTI_SUCCESS;
  }
  auto const code = real_.api.cuptiActivityEnable(kind);
  if (code != CUPTI_SUCCESS && !was_on) note_kind_off(who, kind);
  if (code == CUPTI_SUCCESS && who == cupti_client::program) ask_for_buffer();
  return code;
}

CUptiResult shared_cupti::disable_kind(cupti_client who, CUpti_ActivityKind kind) {
  if (!enabled_records::knows(kind)) return real_.api.cuptiActivityDisable(kind);
  if (who == cupti_client::program) single_calls_.kind_switched(kind, false);
  note_kind_off(who, kind);
  return switch_kind_off(who, kind);
}

// Checks again after switching off, because the other client may have enabled the kind meanwhile.
CUptiResult shared_cupti::switch_kind_off(cupti_client who, CUpti_ActivityKind kind) noexcept {
  auto const& others = records_of(other_than(who));
  if (others.has(kind)) return CUPTI_SUCCESS;
  if (who == cupti_client::gpuprof && single_calls_.had_any(kind)) return CUPTI_SUCCESS;
  auto const code = real_.api.cuptiActivityDisable(kind);
  if (others.has(kind)) real_.api.cuptiActivityEnable(kind);
  return code;
}

/// Only the program's client uses this; noted so that it gets records of these calls, and of no
/// others.
CUptiResult shared_cupti::enable_call(CUpti_ActivityKind kind, CUpti_CallbackId id, std::uint8_t on,
                                      std::string const& by) {
  auto const switch_one = kind == CUPTI_ACTIVITY_KIND_RUNTIME
                              ? real_.api.cuptiActivityEnableRuntimeApi
                              : real_.api.cuptiActivityEnableDriverApi;
  if (switch_one == nullptr) return CUPTI_ERROR_NOT_SUPPORTED;
  auto const code = switch_one(id, on);
  if (code != CUPTI_SUCCESS || !enabled_calls::knows(kind, id)) return code;
  auto const had_one = single_calls_.has_any_on(kind);
  single_calls_.set(kind, id, on != 0);
  if (!had_one && on != 0) {
    note_kind_on(cupti_client::program, kind, by);
    ask_for_buffer();
  }
  if (had_one && !single_calls_.has_any_on(kind) && !single_calls_.has_whole(kind))
    note_kind_off(cupti_client::program, kind);
  return code;
}

CUptiResult shared_cupti::enable_kind_in(CUcontext context, CUpti_ActivityKind kind,
                                         std::string const& by) {
  auto const code = real_.api.cuptiActivityEnableContext(context, kind);
  if (code == CUPTI_SUCCESS && enabled_records::knows(kind)) {
    note_kind_on(cupti_client::program, kind, by);
    ask_for_buffer();
  }
  return code;
}

CUptiResult shared_cupti::disable_kind_in(CUcontext context, CUpti_ActivityKind kind) {
  if (enabled_records::knows(kind)) note_kind_off(cupti_client::program, kind);
  if (enabled_records::knows(kind) && records_of(cupti_client::gpuprof).has(kind))
    return CUPTI_SUCCESS;
  return real_.api.cuptiActivityDisableContext(context, kind);
}

CUptiResult shared_cupti::register_clock(CUpti_TimestampCallbackFunc clock) {
  if (clock == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  clock_.is_now(clock);
  return CUPTI_SUCCESS;
}

// Two threads inside cuptiActivityFlushAll have been seen to block each other forever, so only one
// may be inside. We skip our flush if the program's client is flushing. That client waits for ours,
// which waits for no thread: the client's buffers are handed over only after our flush.
CUptiResult shared_cupti::flush(cupti_client who, std::uint32_t flag) {
  auto& theirs = of(cupti_client::program);
  auto code = CUPTI_SUCCESS;
  if (who == cupti_client::gpuprof) {
    {
      taken_flag const alone(flushing_, taken_flag::wait::no);
      if (!alone) return CUPTI_ERROR_NOT_READY;
      inside_our_flush = true;
      code = real_.api.cuptiActivityFlushAll(flag);
      inside_our_flush = false;
    }
    theirs.copies.deliver(false);
    return code;
  }
  no_cancellation const here;
  theirs.records.settle(now().value);
  {
    taken_flag const alone(flushing_, taken_flag::wait::yes);
    if (alone) code = real_.api.cuptiActivityFlushAll(flag);
  }
  // A thread that is copying may ask the client for a buffer, and the client may wait there for
  // this thread. So the wait is limited.
  (void)wait_for([this] { return copying_.load(std::memory_order_acquire) == 0; }, 1000);
  theirs.copies.deliver(true, !theirs.records.has_any());
  // As with CUPTI, this returns when all is handed over, even by another thread.
  (void)wait_for([&theirs] { return !theirs.copies.is_delivered_elsewhere(); });
  ask_for_buffer();
  return code;
}

CUptiResult shared_cupti::flush_every(std::uint32_t ms) {
  deliver_at_once_.store(ms != 0);
  return real_.api.cuptiActivityFlushPeriod(ms);
}

// If one client ends, the other continues. If the program has a client, we never end CUPTI: the
// client may have set up things that we do not see, and may come back at any time. If clients are
// not seen, a libcupti that was loaded before us counts as a sign of one.
CUptiResult shared_cupti::finalize(cupti_client who) {
  auto const& other = of(other_than(who));
  finalizing_.store(true);
  auto const may_end = who == cupti_client::gpuprof
                           ? !program_came_.load() && (all_clients_are_seen || !real_.was_mapped)
                           : !other.taken.load() && !other.records.has_any();
  auto code = CUPTI_SUCCESS;
  if (may_end) {
    code = real_.api.cuptiFinalize();
    if (code == CUPTI_SUCCESS) {
      if (who == cupti_client::program && records_of(who).has_any()) other_client_ends();
      forget_everything();
    }
  }
  finalizing_.store(false);
  if (may_end) return code;
  for (std::uint32_t kind = 0; kind < enabled_records::kinds; ++kind)
    if (records_of(who).has(static_cast<CUpti_ActivityKind>(kind)))
      (void)disable_kind(who, static_cast<CUpti_ActivityKind>(kind));
  if (of(who).listens.load()) leave_seat(who);
  return CUPTI_SUCCESS;
}

void shared_cupti::program_comes() noexcept {
  if (!program_came_.load(std::memory_order_relaxed)) program_came_.store(true);
  if (finalizing_.load()) (void)wait_for([this] { return !finalizing_.load(); });
}

void shared_cupti::forget_everything() noexcept {
  handle_.store(nullptr, std::memory_order_release);
  for (auto& one : seats_) {
    one.listens.store(false);
    for (auto const domain : enabled_callbacks::all_domains)
      one.callbacks.set_domain(domain, false);
    one.records.forget();
    one.taken.store(false);
  }
  single_calls_.forget();
  own_subscribers_.forget();
}

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// The part of shared_cupti for subscribers and callbacks: which client gets which callbacks.
#include "base/log.hpp"
#include "guest/cupti/sharing/client_state.hpp"
#include "guest/cupti/sharing/shared_cupti.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace gpuprof::guest {
namespace {

// Correlation data of the nested calls that this thread is in. Initial-exec: the access needs no
// function call.
struct kept_number {
  std::uint32_t call = 0;  // its correlation id
  std::uint64_t value = 0;
};
constexpr std::size_t calls_kept = 4;
constinit thread_local kept_number calls_under_way[calls_kept]
    __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local unsigned next_call __attribute__((tls_model("initial-exec"))) = 0;

void say_that_it_is_refused(char const* name) noexcept {
  static std::atomic<bool> said{false};
  if (!first_time(said)) return;
  try {
    log_warning((name != nullptr ? '"' + std::string(name) + '"' : "a client in this process") +
                " wants to be one of several subscribers of CUPTI, which CUPTI refuses because "
                "this capture has subscribed alone. Run without gpuprof if you need that client");
  } catch (...) {  // no memory: CUPTI's error tells it
  }
}

}  // namespace

CUptiResult shared_cupti::subscribe(cupti_client who, CUpti_SubscriberHandle* handle,
                                    CUpti_CallbackFunc function, void* data,
                                    CUpti_SubscriberParams* named) {
  if (who == cupti_client::program) {
    program_comes();
    if (asks_to_be_one_of_several(named))
      return subscribe_beside_us(handle, function, data, *named);
  }
  auto& mine = of(who);
  // CUPTI itself answers a second subscriber, with the name of the first.
  if (function == nullptr || handle == nullptr || mine.taken.exchange(true))
    return named != nullptr ? real_.api.cuptiSubscribe_v2(handle, function, data, named)
                            : real_.api.cuptiSubscribe(handle, function, data);
  mine.function.store(function, std::memory_order_release);
  mine.data.store(data, std::memory_order_release);
  auto const code = subscribe_for_both(handle, named);
  if (code == CUPTI_SUCCESS)
    mine.listens.store(true, std::memory_order_release);
  else
    mine.taken.store(false);
  return code;
}

// Such a client has its own callbacks and buffers, which CUPTI distinguishes from ours by its
// handle. While we are subscribed, CUPTI may refuse it and return our name.
CUptiResult shared_cupti::subscribe_beside_us(CUpti_SubscriberHandle* handle,
                                              CUpti_CallbackFunc function, void* data,
                                              CUpti_SubscriberParams& named) {
  auto const code = real_.api.cuptiSubscribe_v2(handle, function, data, &named);
  if (code == CUPTI_SUCCESS && handle != nullptr) own_subscribers_.add(*handle);
  if (code == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED &&
      of(cupti_client::gpuprof).taken.load())
    say_that_it_is_refused(named.subscriberName);
  return code;
}

CUptiResult shared_cupti::subscribe_for_both(CUpti_SubscriberHandle* handle,
                                             CUpti_SubscriberParams* named) {
  taken_flag const alone(subscribing_, taken_flag::wait::yes);
  auto* known = handle_.load(std::memory_order_acquire);
  auto code = CUPTI_SUCCESS;
  if (known == nullptr) {
    CUpti_CallbackFunc const entry = &callback;
    code = named != nullptr ? real_.api.cuptiSubscribe_v2(&known, entry, this, named)
                            : real_.api.cuptiSubscribe(&known, entry, this);
    if (code == CUPTI_SUCCESS) handle_.store(known, std::memory_order_release);
  }
  if (code == CUPTI_SUCCESS) *handle = known;
  return code;
}

CUptiResult shared_cupti::unsubscribe(cupti_client who, CUpti_SubscriberHandle handle) {
  if (is_beside_us(who, handle)) {
    own_subscribers_.remove(handle);
    return real_.api.cuptiUnsubscribe(handle);
  }
  if (!is_subscriber(who, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  taken_flag const alone(subscribing_, taken_flag::wait::yes);
  leave_seat(who);
  if (of(other_than(who)).taken.load()) return CUPTI_SUCCESS;
  handle_.store(nullptr, std::memory_order_release);
  return real_.api.cuptiUnsubscribe(handle);
}

void shared_cupti::leave_seat(cupti_client who) noexcept {
  auto& mine = of(who);
  auto const other_listens = of(other_than(who)).listens.load();
  mine.listens.store(false, std::memory_order_release);
  for (auto const domain : enabled_callbacks::all_domains) {
    if (other_listens)
      mine.callbacks.for_each(domain, [&](CUpti_CallbackId id) { switch_off(who, domain, id); });
    mine.callbacks.set_domain(domain, false);
  }
  mine.taken.store(false, std::memory_order_release);
}

// Checks again after switching off, because the other client may have enabled it meanwhile.
void shared_cupti::switch_off(cupti_client who, CUpti_CallbackDomain domain,
                              CUpti_CallbackId id) noexcept {
  auto const& others = of(other_than(who)).callbacks;
  auto* const handle = handle_.load(std::memory_order_acquire);
  of(who).callbacks.set(domain, id, false);
  if (others.has(domain, id)) return;
  real_.api.cuptiEnableCallback(0, handle, domain, id);
  if (others.has(domain, id)) real_.api.cuptiEnableCallback(1, handle, domain, id);
}

bool shared_cupti::is_beside_us(cupti_client who, CUpti_SubscriberHandle handle) const noexcept {
  return who == cupti_client::program && own_subscribers_.has(handle);
}

// A client that has left must not switch the other one off, although both have the same handle.
bool shared_cupti::is_subscriber(cupti_client who, CUpti_SubscriberHandle handle) const noexcept {
  return handle != nullptr && handle == handle_.load() && of(who).listens.load();
}

// A client that enables notes that first, so that the other one sees it when it checks again.
CUptiResult shared_cupti::enable_callback(cupti_client who, std::uint32_t on,
                                          CUpti_SubscriberHandle handle,
                                          CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (is_beside_us(who, handle)) return real_.api.cuptiEnableCallback(on, handle, domain, id);
  if (!is_subscriber(who, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& mine = of(who).callbacks;
  if (on == 0) {
    switch_off(who, domain, id);
    return CUPTI_SUCCESS;
  }
  auto const was_on = mine.has(domain, id);
  mine.set(domain, id, true);
  auto const code = real_.api.cuptiEnableCallback(on, handle, domain, id);
  if (code != CUPTI_SUCCESS && !was_on) mine.set(domain, id, false);
  return code;
}

CUptiResult shared_cupti::enable_domain(cupti_client who, std::uint32_t on,
                                        CUpti_SubscriberHandle handle,
                                        CUpti_CallbackDomain domain) {
  if (is_beside_us(who, handle)) return real_.api.cuptiEnableDomain(on, handle, domain);
  if (!is_subscriber(who, handle)) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& mine = of(who).callbacks;
  auto const& others = of(other_than(who)).callbacks;
  if (on != 0) {
    auto const had_some = mine.has_any(domain);
    mine.set_domain(domain, true);
    auto const code = real_.api.cuptiEnableDomain(on, handle, domain);
    if (code != CUPTI_SUCCESS && !had_some) mine.set_domain(domain, false);
    return code;
  }
  if (others.has_any(domain)) {
    mine.for_each(domain, [&](CUpti_CallbackId id) { switch_off(who, domain, id); });
    return CUPTI_SUCCESS;
  }
  mine.set_domain(domain, false);
  auto const code = real_.api.cuptiEnableDomain(0, handle, domain);
  others.for_each(
      domain, [&](CUpti_CallbackId id) { real_.api.cuptiEnableCallback(1, handle, domain, id); });
  return code;
}

CUptiResult shared_cupti::enable_all_domains(cupti_client who, std::uint32_t on,
                                             CUpti_SubscriberHandle handle) {
  if (is_beside_us(who, handle)) return real_.api.cuptiEnableAllDomains(on, handle);
  auto all = CUPTI_SUCCESS;
  for (auto const domain : enabled_callbacks::all_domains)
    if (auto const code = enable_domain(who, on, handle, domain); code != CUPTI_SUCCESS) all = code;
  return all;
}

CUptiResult shared_cupti::callback_state(cupti_client who, std::uint32_t* on,
                                         CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                         CUpti_CallbackId id) {
  auto const code = real_.api.cuptiGetCallbackState(on, handle, domain, id);
  if (is_beside_us(who, handle)) return code;
  if (code == CUPTI_SUCCESS && !of(who).callbacks.has(domain, id)) *on = 0;
  return code;
}

void shared_cupti::call(seat const& s, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        void const* data) {
  s.function.load(std::memory_order_acquire)(s.data.load(std::memory_order_acquire), domain, id,
                                             data);
}

void CUPTIAPI shared_cupti::callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                     void const* data) {
  auto& shared = *static_cast<shared_cupti*>(self);
  auto const& ours = shared.of(cupti_client::gpuprof);
  auto const& theirs = shared.of(cupti_client::program);
  auto const alone = !shared.program_came_.load(std::memory_order_acquire);
  if (ours.listens.load(std::memory_order_acquire) && (alone || ours.callbacks.has(domain, id))) {
    auto const is_call =
        domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (is_call && data != nullptr)
      shared.call_ours(domain, id, *static_cast<CUpti_CallbackData const*>(data));
    else
      call(ours, domain, id, data);
  }
  if (!alone && theirs.listens.load(std::memory_order_acquire) && theirs.callbacks.has(domain, id))
    call(theirs, domain, id, data);
  if (domain == CUPTI_CB_DOMAIN_STATE && id == CUPTI_CBID_STATE_FATAL_ERROR)
    shared.forget_everything();  // CUPTI has shut itself down
}

// CUPTI keeps one number from the begin of a call to its end, and both clients may write it. The
// program's client gets CUPTI's number, and ours is kept here, even before that client has come,
// because it may come during the call.
void shared_cupti::call_ours(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                             CUpti_CallbackData data) noexcept {
  auto const& ours = of(cupti_client::gpuprof);
  if (data.callbackSite == CUPTI_API_ENTER) {
    auto* free = std::find_if(std::begin(calls_under_way), std::end(calls_under_way),
                              [](kept_number const& k) { return k.call == 0; });
    if (free == std::end(calls_under_way)) free = &calls_under_way[next_call++ % calls_kept];
    auto& kept = *free;
    kept = {data.correlationId, 0};
    data.correlationData = &kept.value;
    return call(ours, domain, id, &data);
  }
  kept_number none;
  auto* kept = std::find_if(std::begin(calls_under_way), std::end(calls_under_way),
                            [&](kept_number const& k) { return k.call == data.correlationId; });
  if (kept == std::end(calls_under_way)) kept = &none;
  data.correlationData = &kept->value;
  call(ours, domain, id, &data);
  kept->call = 0;
}

}  // namespace gpuprof::guest

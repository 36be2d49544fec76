// SPDX-License-Identifier: Apache-2.0
// Shares one CUPTI between two clients: this library, and a profiler that the program brings along
// (torch.profiler, Proton, JAX's profiler). CUPTI has one subscriber and one set of buffers per
// process; here each client has its own.
#pragma once

#include "guest/cupti/loader.hpp"
#include "guest/cupti/sharing/client_state.hpp"
#include "guest/cupti/sharing/other_client_observer.hpp"
#include "guest/cupti/sharing/record_copies.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace gpuprof::guest {

enum class cupti_client : std::uint8_t { gpuprof, program };

/// CUPTI's functions for subscribers and buffers, for each client. They answer as CUPTI does to its
/// only client. Any thread; no lock is held while CUPTI or a client is called. One per process,
/// never destroyed, because CUPTI may call late.
class shared_cupti {
 public:
  explicit shared_cupti(loaded_cupti real);
  /// Makes this object receive CUPTI's buffers; called by of_process().
  void become_the_one() noexcept;

  /// Returns the object of this process, with the libcupti that load_cupti() finds, or the error of
  /// load_cupti().
  static result<shared_cupti*> of_process(unsigned driver_major);

  /// Tells that from now on every client of the program calls program_comes(). Otherwise an unseen
  /// client may have set up things that only CUPTI knows. May be called at any time.
  static void note_all_clients_are_seen() noexcept;

  /// Returns the object of this process, or null.
  static shared_cupti* existing() noexcept;

  /// CUPTI's own functions.
  loaded_cupti const& real() const noexcept { return real_; }
  /// The same for this library, with the functions below instead of CUPTI's.
  loaded_cupti const& ours() const noexcept { return ours_; }

  void observe(other_client_observer& observer) noexcept { observer_.store(&observer); }
  /// Called before each call of the program's client.
  void program_comes() noexcept;
  /// True if the program's client has records on.
  bool other_client_records() const noexcept { return records_of(cupti_client::program).has_any(); }
  /// Odd while our records of whole graphs are off because of the program's client; changes before
  /// they go off and after they are on again.
  std::atomic<std::uint32_t> const& graph_suspensions() const noexcept {
    return graph_suspensions_;
  }

  CUptiResult subscribe(cupti_client who, CUpti_SubscriberHandle* handle,
                        CUpti_CallbackFunc function, void* data, CUpti_SubscriberParams* named);
  CUptiResult unsubscribe(cupti_client who, CUpti_SubscriberHandle handle);
  CUptiResult enable_callback(cupti_client who, std::uint32_t on, CUpti_SubscriberHandle handle,
                              CUpti_CallbackDomain domain, CUpti_CallbackId id);
  CUptiResult enable_domain(cupti_client who, std::uint32_t on, CUpti_SubscriberHandle handle,
                            CUpti_CallbackDomain domain);
  CUptiResult enable_all_domains(cupti_client who, std::uint32_t on, CUpti_SubscriberHandle handle);
  CUptiResult callback_state(cupti_client who, std::uint32_t* on, CUpti_SubscriberHandle handle,
                             CUpti_CallbackDomain domain, CUpti_CallbackId id);
  CUptiResult register_buffers(cupti_client who, buffer_functions functions);
  CUptiResult enable_kind(cupti_client who, CUpti_ActivityKind kind, std::string const& by = {});
  CUptiResult disable_kind(cupti_client who, CUpti_ActivityKind kind);
  CUptiResult flush(cupti_client who, std::uint32_t flag);
  CUptiResult finalize(cupti_client who);
  // Used by the program's client only.
  CUptiResult enable_kind_in(CUcontext context, CUpti_ActivityKind kind, std::string const& by);
  CUptiResult disable_kind_in(CUcontext context, CUpti_ActivityKind kind);
  /// Switches a single call of the runtime or the driver, which CUPTI does independently of the
  /// kinds.
  CUptiResult enable_call(CUpti_ActivityKind kind, CUpti_CallbackId id, std::uint8_t on,
                          std::string const& by = {});
  CUptiResult flush_every(std::uint32_t ms);
  CUptiResult register_clock(CUpti_TimestampCallbackFunc clock);

 private:
  struct seat {
    std::atomic<bool> taken{false}, listens{false};
    std::atomic<CUpti_CallbackFunc> function{nullptr};
    std::atomic<void*> data{nullptr};
    std::atomic<CUpti_BuffersCallbackRequestFunc> request{nullptr};
    std::atomic<CUpti_BuffersCallbackCompleteFunc> complete{nullptr};
    enabled_callbacks callbacks;
    enabled_records records;
    record_copies copies;
  };
  seat& of(cupti_client who) noexcept { return seats_[static_cast<std::size_t>(who)]; }
  seat const& of(cupti_client who) const noexcept { return seats_[static_cast<std::size_t>(who)]; }
  enabled_records& records_of(cupti_client who) noexcept { return of(who).records; }
  enabled_records const& records_of(cupti_client who) const noexcept { return of(who).records; }
  static shared_cupti& the_one() noexcept;
  static bool is_inside_our_flush() noexcept;
  static cupti_client other_than(cupti_client who) noexcept {
    return who == cupti_client::program ? cupti_client::gpuprof : cupti_client::program;
  }
  static buffer_functions buffers_of(seat const& s) noexcept {
    return {s.request.load(std::memory_order_acquire), s.complete.load(std::memory_order_acquire)};
  }

  CUptiResult subscribe_beside_us(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc function,
                                  void* data, CUpti_SubscriberParams& named);
  CUptiResult subscribe_for_both(CUpti_SubscriberHandle* handle, CUpti_SubscriberParams* named);
  bool is_beside_us(cupti_client who, CUpti_SubscriberHandle handle) const noexcept;
  bool is_subscriber(cupti_client who, CUpti_SubscriberHandle handle) const noexcept;
  void leave_seat(cupti_client who) noexcept;
  void switch_off(cupti_client who, CUpti_CallbackDomain domain, CUpti_CallbackId id) noexcept;
  CUptiResult switch_kind_off(cupti_client who, CUpti_ActivityKind kind) noexcept;
  void note_kind_on(cupti_client who, CUpti_ActivityKind kind, std::string const& by) noexcept;
  void note_kind_off(cupti_client who, CUpti_ActivityKind kind) noexcept;
  bool would_hide_kernels(cupti_client who, CUpti_ActivityKind kind) const noexcept;
  void other_client_begins(std::string const& by) noexcept;
  void other_client_ends() noexcept;
  void forget_everything() noexcept;

  void call_ours(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 CUpti_CallbackData data) noexcept;
  static void call(seat const& s, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                   void const* data);

  bool lend(cupti_client lender, std::uint8_t** buffer, std::size_t* size, std::size_t* most);
  void ask_for_buffer();
  bool looks_for_records(cupti_client who) const noexcept;
  bool wants(cupti_client who, CUpti_Activity& record) const noexcept;
  std::size_t hand_out(CUcontext context, std::span<std::uint8_t> buffer, cupti_client lender);

  static void CUPTIAPI callback(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                void const* data);
  static void CUPTIAPI request_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most);
  static void CUPTIAPI complete_buffer(CUcontext context, std::uint32_t stream,
                                       std::uint8_t* buffer, std::size_t size, std::size_t used);

  loaded_cupti const real_;
  loaded_cupti ours_;
  std::array<seat, 2> seats_;
  std::atomic<CUpti_SubscriberHandle> handle_{nullptr};  // CUPTI's handle, used by both
  own_subscribers own_subscribers_;                      // the program's, which CUPTI keeps apart
  std::atomic_flag subscribing_ = ATOMIC_FLAG_INIT;
  std::atomic_flag flushing_ = ATOMIC_FLAG_INIT;
  std::atomic<bool> program_came_{false};  // a client has come; it may have left
  std::atomic<bool> finalizing_{false};
  std::atomic<bool> deliver_at_once_{false};
  std::atomic<bool> graphs_suspended_{false};
  std::atomic<std::uint32_t> graph_suspensions_{0};
  std::atomic<int> copying_{0};  // threads now copying records for the program
  enabled_calls single_calls_;   // switched by the program
  lent_buffers lent_;
  record_clock clock_;
  std::atomic<other_client_observer*> observer_{nullptr};
};

}  // namespace gpuprof::guest

// SPDX-License-Identifier: Apache-2.0
// Groups launches that do the same work into signatures, and keeps what is known of each.
#pragma once

#include "guest/cupti/call_parameters.hpp"
#include "model/ids.hpp"
#include "model/kernel_code.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace gpuprof::guest {

/// Launches of one function (handle and name) in one context with the same grid, block and dynamic
/// shared memory do the same work, unless their times differ: then the values of arguments tell
/// them apart.
class launch_signature {
 public:
  /// Bits, by number of the metric group.
  using groups = std::uint32_t;
  static constexpr unsigned max_groups = 32;

  enum class standing : std::uint8_t { unknown, deciding, allowed, never };

  // Called by launching threads -----------------------------------------------
  void count_launch() noexcept { launches_.fetch_add(1, relaxed); }
  /// Returns a launch of this signature in this capture that has a kernel record; 0: none yet.
  correlation_id pattern(std::uint32_t capture) const noexcept {
    auto const known = pattern_.load(relaxed);
    return static_cast<correlation_id>(known >> 32 == capture ? known & 0xffff'ffff : 0);
  }
  void note_pattern(std::uint32_t capture, correlation_id launch) noexcept {
    pattern_.store(std::uint64_t{capture} << 32 | raw(launch), relaxed);
  }
  /// As in kernel_shape.
  std::uint32_t arguments() const noexcept { return arguments_.load(relaxed); }
  standing is() const noexcept { return standing_.load(std::memory_order_acquire); }
  /// Returns true if this thread must decide: no other thread does after that.
  bool begin_deciding() noexcept {
    auto expected = standing::unknown;
    return standing_.compare_exchange_strong(expected, standing::deciding, relaxed);
  }
  void decide(standing what) noexcept { standing_.store(what, std::memory_order_release); }
  /// The signature is a graph. Call it between begin_deciding() and decide().
  void note_graph() noexcept { is_graph_ = true; }
  bool is_graph() const noexcept { return is_graph_; }
  /// Its blocks must run at the same time. Call it when note_graph() may be called.
  void note_cooperative() noexcept { is_cooperative_ = true; }
  bool is_cooperative() const noexcept { return is_cooperative_; }
  /// Sets what its machine code holds. Call it when note_graph() may be called.
  void set_code(kernel_code const& code) noexcept { code_ = code; }
  void set_identity(std::uint64_t identity) noexcept { identity_ = identity; }
  /// Its handle may soon mean another graph: forgets what was learned.
  void forget() noexcept {
    for (auto* const learned : {&done_, &ever_done_, &hopeless_, &read_elsewhere_})
      learned->store(0, relaxed);
    is_wanted_.store(false, relaxed);
  }
  /// True if the keeper of the gate waits for a launch of this signature.
  bool is_wanted() const noexcept { return is_wanted_.load(relaxed); }
  /// True if this signature stands for all values of the arguments and the keeper waits for a
  /// launch with some of them.
  bool has_wanted_values() const noexcept { return wanted_values_.load(relaxed) > 0; }

  // Called by the reader of kernel records ------------------------------------
  /// Adds the time of a launch, or of one kernel of a graph (`is_part`). One thread.
  void add_time(std::uint64_t ns, bool is_part) noexcept;

  // Called by the worker's thread ----------------------------------------------
  std::uint64_t launches() const noexcept { return launches_.load(relaxed); }
  std::uint64_t gpu_ns() const noexcept { return gpu_ns_.load(relaxed); }
  /// True if the times of its launches differ so much that one reading does not stand for all.
  bool varies() const noexcept { return varies_.load(relaxed); }
  void want(bool now) noexcept {
    if (is_wanted() == now) return;
    is_wanted_.store(now, relaxed);
    if (auto* const whole = whole_.load(relaxed))
      whole->wanted_values_.fetch_add(now ? 1 : -1, relaxed);
  }
  /// Valid after decide(). nullopt: unknown.
  std::optional<kernel_code> const& code() const noexcept { return code_; }
  /// Equal in every process for a kernel with this name, geometry and arguments; 0: unknown. Valid
  /// after decide().
  std::uint64_t identity() const noexcept { return identity_; }
  /// Mean time of a launch, over the records so far; 0: no record. Not for graphs.
  std::uint64_t mean_ns() const noexcept {
    auto const timed = timed_launches_.load(relaxed);
    return timed == 0 ? 0 : gpu_ns() / timed;
  }
  /// The groups of this signature that another rank of the job has read.
  groups read_elsewhere() const noexcept { return read_elsewhere_.load(relaxed); }
  void note_read_elsewhere(groups which) noexcept { read_elsewhere_.store(which, relaxed); }
  groups done() const noexcept { return done_.load(relaxed); }
  void mark_done(unsigned group) noexcept { done_.fetch_or(groups{1} << group, relaxed); }
  /// Stops reading these groups of the signature, because they failed too often or must never be
  /// read. Any thread.
  void give_up(groups which) noexcept {
    if ((hopeless() & which) != which) hopeless_.fetch_or(which, relaxed);  // called at each launch
  }
  groups hopeless() const noexcept { return hopeless_.load(relaxed); }
  /// Marks all groups to be read again, because the work of equal launches may have changed.
  void begin_again() noexcept { ever_done_.fetch_or(done_.exchange(0, relaxed), relaxed); }
  /// Includes groups that are being read again.
  groups ever_done() const noexcept { return ever_done_.load(relaxed) | done(); }
  /// Counts a failed reading; returns the number of failures.
  unsigned count_failure() noexcept { return ++failures_; }
  /// True if a launch ended while its own thread waited: it does not depend on what the program
  /// does next.
  bool ends_alone() const noexcept { return ends_alone_; }
  void note_ends_alone() noexcept { ends_alone_ = true; }

  /// Copies what is known of `earlier`, which is not used after that although another thread may
  /// still see it. The variation of times is measured again.
  void take_over(launch_signature const& earlier) noexcept;

  /// Data of reading_targets, and of launch_signatures for aging.
  struct recency {
    std::uint64_t launches = 0;  // at the last check
    std::uint64_t last_seen_ns = 0;
    std::uint64_t read_at_launches = 0;
    std::uint64_t at_window = 0, in_windows = 0;  // launches: at its begin, in all windows
    bool is_target = false;
    groups told = 0;                               // shared with other ranks of the job
    std::uint64_t aged_launches = 0, used_ns = 0;  // at the last increase of launches
  } recent;

 private:
  friend class launch_signatures;
  static constexpr auto relaxed = std::memory_order_relaxed;  // values are independent
  std::atomic<std::uint64_t> key_{0};
  std::atomic<std::uint64_t> launches_{0}, gpu_ns_{0};
  std::atomic<std::uint64_t> timed_launches_{0};  // written by the record reader, as the next line
  double timed_ = 0, mean_ns_ = 0, squares_ = 0;
  std::atomic<bool> varies_{false}, is_wanted_{false};
  bool is_graph_ = false, is_cooperative_ = false;
  std::optional<kernel_code> code_;
  std::uint64_t identity_ = 0;
  std::atomic<groups> done_{0}, ever_done_{0}, hopeless_{0}, read_elsewhere_{0};
  std::atomic<std::uint32_t> arguments_{0}, values_{0};
  std::atomic<launch_signature*> whole_{nullptr};  // set if this is for one value of arguments
  std::atomic<std::int32_t> wanted_values_{0};     // written by the worker's thread
  std::atomic<std::uint64_t> pattern_{0};          // capture number and correlation id
  std::atomic<standing> standing_{standing::unknown};
  unsigned failures_ = 0;    // the worker's thread
  bool ends_alone_ = false;  // the worker's thread
};

/// All signatures of the process that are in use. Any thread, without lock. A table that is half
/// full is replaced by a new one with the recently launched signatures. References to the others
/// stay valid until the next replacement, but find() does not return them.
class launch_signatures {
 public:
  static constexpr std::size_t capacity = 1 << 14;
  /// Signatures that were not launched for this long are dropped. The table is not replaced more
  /// often than this.
  static constexpr std::uint64_t unused_after_ns = 60'000'000'000;

  /// For one function and extents with differing times, this many argument values are
  /// distinguished. If more come before these have recurred times_each times on average, they
  /// contain noise (a counter, old stack content), and none are distinguished any longer. This is
  /// not decided earlier, because a program may launch all its sizes once before the first recurs.
  static constexpr std::uint32_t max_values = 32;
  static constexpr std::uint64_t times_each = 4;

  launch_signatures() : tables_{std::make_unique<table>()} {}
  /// Returns null if the signature is new and the table is three quarters full. `context`: CUPTI's
  /// id; each context has its own signatures for a function handle. It is 0 for graphs, which
  /// belong to no single context. `fingerprint`: returns the fingerprint of the arguments, called
  /// only if needed; 0: unknown.
  template <class Fingerprint>
  launch_signature* find(launch_parameters const& launch, std::uint32_t context,
                         Fingerprint&& fingerprint) noexcept {
    auto const key = key_of(launch, context);
    auto* const any = at(key, true);
    return any != nullptr && any->varies() ? with_arguments(key, *any, fingerprint()) : any;
  }

  /// Call it when a graph is destroyed.
  void forget_graph(void const* graph) noexcept;

  /// In the order in which they were added.
  std::size_t size() const noexcept { return now().used.load(std::memory_order_acquire); }
  /// Null if another thread is adding it just now.
  launch_signature* at(std::size_t index) const noexcept {
    return now().order[index].load(std::memory_order_acquire);
  }
  /// True if there is no room for new signatures.
  bool is_full() const noexcept { return size() >= capacity / 4 * 3; }
  /// True if the signature is in the table in use.
  bool has(launch_signature const& signature) const noexcept {
    auto const& slots = now().slots;
    return &signature >= slots.data() && &signature < slots.data() + slots.size();
  }

  /// Called by the worker's thread from time to time. `may_replace`: the caller keeps no references
  /// to signatures. Returns true if the table was replaced.
  bool age(std::uint64_t now_ns, bool may_replace, launch_signature::groups all);

  struct tally {
    std::uint64_t signatures = 0;  // that may be read
    std::uint64_t unread = 0;      // of these: no group has been read
    std::uint64_t partly = 0;      // of these: some of `all` groups have been read
    std::uint64_t left_out = 0;    // of these: all was read that is not left to samples
  };
  /// Counts all signatures so far. A signature that was removed and added again counts twice.
  tally count(launch_signature::groups all) const noexcept;

 private:
  struct table {
    std::array<launch_signature, capacity> slots;
    std::array<std::atomic<launch_signature*>, capacity> order{};
    std::atomic<std::size_t> used{0};
    void clear() noexcept;
  };
  table& now() const noexcept { return *tables_[current_.load(std::memory_order_acquire)]; }
  bool was_used(launch_signature const& signature, std::uint64_t now_ns) const noexcept {
    return now_ns - signature.recent.used_ns < unused_after_ns;
  }
  void replace_table(std::uint64_t now_ns, launch_signature::groups all);
  static void add_to(tally& counted, launch_signature const& signature,
                     launch_signature::groups all) noexcept;
  static std::uint64_t key_of(launch_parameters const& launch, std::uint32_t context) noexcept;
  launch_signature* with_arguments(std::uint64_t key, launch_signature& any,
                                   std::uint32_t arguments) noexcept;
  launch_signature* at(std::uint64_t key, bool may_add) noexcept { return at(now(), key, may_add); }
  static launch_signature* at(table& in, std::uint64_t key, bool may_add) noexcept;
  static bool is_told_apart(launch_signature& any, bool is_new) noexcept;

  std::array<std::unique_ptr<table>, 2> tables_;  // the second is made when needed; never freed
  std::atomic<unsigned> current_{0};
  std::uint64_t looked_ns_ = 0, replaced_ns_ = 0;  // the worker's thread
  struct {
    std::atomic<std::uint64_t> signatures{0}, unread{0}, partly{0}, left_out{0};
  } removed_;
};

// Tells how long the launches of each signature run, from kernel records that come later.

/// Keeps the signatures of recent launches. Launching threads write, the reader of kernel records
/// reads; without lock. Records that arrive too late are not counted, which hardly changes the
/// shares.
class launch_times {
 public:
  static constexpr std::size_t capacity = 1 << 16;

  launch_times() : recent_(new std::array<entry, capacity>{}) {}

  void launched(std::uint32_t correlation, launch_signature& signature) noexcept {
    auto& slot = (*recent_)[correlation % capacity];
    slot.correlation.store(0, std::memory_order_relaxed);
    slot.signature.store(&signature, std::memory_order_release);
    slot.correlation.store(correlation, std::memory_order_release);
  }
  void ran(std::uint32_t correlation, std::uint64_t ns, bool is_part) noexcept {
    auto& slot = (*recent_)[correlation % capacity];
    if (correlation == 0 || slot.correlation.load(std::memory_order_acquire) != correlation) return;
    auto* const signature = slot.signature.load(std::memory_order_acquire);
    if (slot.correlation.load(std::memory_order_acquire) == correlation)
      signature->add_time(ns, is_part);
  }

 private:
  struct entry {
    std::atomic<std::uint32_t> correlation{0};
    std::atomic<launch_signature*> signature{nullptr};
  };
  std::unique_ptr<std::array<entry, capacity>> recent_;
};

}  // namespace gpuprof::guest

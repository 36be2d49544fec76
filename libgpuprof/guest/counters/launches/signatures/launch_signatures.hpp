// SPDX-License-Identifier: Apache-2.0
// Which launches are alike, and what is known of each signature.
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
  /// Bits by number of the group of metrics.
  using groups = std::uint32_t;
  static constexpr unsigned max_groups = 32;

  enum class standing : std::uint8_t { unknown, deciding, allowed, never };

  // Launching threads --------------------------------------------------------
  void count_launch() noexcept { launches_.fetch_add(1, relaxed); }
  /// A launch of it in this capture that has a kernel record; 0: none yet.
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
  /// Whether this thread is the one that decides: nobody else does after that.
  bool begin_deciding() noexcept {
    auto expected = standing::unknown;
    return standing_.compare_exchange_strong(expected, standing::deciding, relaxed);
  }
  void decide(standing what) noexcept { standing_.store(what, std::memory_order_release); }
  /// It is a graph; between begin_deciding() and decide().
  void note_graph() noexcept { is_graph_ = true; }
  bool is_graph() const noexcept { return is_graph_; }
  /// Its blocks have to run at once; as note_graph().
  void note_cooperative() noexcept { is_cooperative_ = true; }
  bool is_cooperative() const noexcept { return is_cooperative_; }
  /// What its machine code holds; as note_graph().
  void set_code(kernel_code const& code) noexcept { code_ = code; }
  void set_identity(std::uint64_t identity) noexcept { identity_ = identity; }
  /// Its handle is going to mean another graph, of which nothing is known.
  void forget() noexcept {
    for (auto* const learned : {&done_, &ever_done_, &hopeless_, &read_elsewhere_})
      learned->store(0, relaxed);
    is_wanted_.store(false, relaxed);
  }
  /// The keeper of the gate waits for a launch of it.
  bool is_wanted() const noexcept { return is_wanted_.load(relaxed); }
  /// It stands for all values of the arguments, and the keeper waits for a launch of some of them.
  bool has_wanted_values() const noexcept { return wanted_values_.load(relaxed) > 0; }

  // Whoever reads kernel records ----------------------------------------------
  /// A launch of it ran so long, or one kernel of a graph. One thread.
  void add_time(std::uint64_t ns, bool is_part) noexcept;

  // The worker's thread --------------------------------------------------------
  std::uint64_t launches() const noexcept { return launches_.load(relaxed); }
  std::uint64_t gpu_ns() const noexcept { return gpu_ns_.load(relaxed); }
  /// Its launches differ so much in their times that one reading does not stand for all.
  bool varies() const noexcept { return varies_.load(relaxed); }
  void want(bool now) noexcept {
    if (is_wanted() == now) return;
    is_wanted_.store(now, relaxed);
    if (auto* const whole = whole_.load(relaxed))
      whole->wanted_values_.fetch_add(now ? 1 : -1, relaxed);
  }
  /// Once it is decided. Nothing: not known.
  std::optional<kernel_code> const& code() const noexcept { return code_; }
  /// The same in every process for a kernel of this name, geometry and arguments; 0: not known.
  /// Once it is decided.
  std::uint64_t identity() const noexcept { return identity_; }
  /// Of a launch, as far as records have come; 0: none has. Not for graphs.
  std::uint64_t mean_ns() const noexcept {
    auto const timed = timed_launches_.load(relaxed);
    return timed == 0 ? 0 : gpu_ns() / timed;
  }
  /// Another rank of the job has read these groups of it.
  groups read_elsewhere() const noexcept { return read_elsewhere_.load(relaxed); }
  void note_read_elsewhere(groups which) noexcept { read_elsewhere_.store(which, relaxed); }
  groups done() const noexcept { return done_.load(relaxed); }
  void mark_done(unsigned group) noexcept { done_.fetch_or(groups{1} << group, relaxed); }
  /// Of it a group is not to be read any more, since it was tried too often, or never may be. Any
  /// thread.
  void give_up(groups which) noexcept {
    if ((hopeless() & which) != which) hopeless_.fetch_or(which, relaxed);  // asked at each launch
  }
  groups hopeless() const noexcept { return hopeless_.load(relaxed); }
  /// The work behind equal launches may have changed: all is read again.
  void begin_again() noexcept { ever_done_.fetch_or(done_.exchange(0, relaxed), relaxed); }
  /// Also those that are being read again.
  groups ever_done() const noexcept { return ever_done_.load(relaxed) | done(); }
  /// How often a reading of it failed.
  unsigned count_failure() noexcept { return ++failures_; }
  /// A launch of it ended while its own thread waited: it needs nothing that the program does next.
  bool ends_alone() const noexcept { return ends_alone_; }
  void note_ends_alone() noexcept { ends_alone_ = true; }

  /// All that is known of `earlier`, which is not used any more from here on, as another thread may
  /// still see it: how its times differ is found out anew.
  void take_over(launch_signature const& earlier) noexcept;

  /// What reading_targets keeps of it, and launch_signatures of its age.
  struct recency {
    std::uint64_t launches = 0;  // at the last look
    std::uint64_t last_seen_ns = 0;
    std::uint64_t read_at_launches = 0;
    std::uint64_t at_window = 0, in_windows = 0;  // launches: as a window began, in all windows
    bool is_target = false;
    groups told = 0;                               // to other ranks of the job
    std::uint64_t aged_launches = 0, used_ns = 0;  // when they last had become more
  } recent;

 private:
  friend class launch_signatures;
  static constexpr auto relaxed = std::memory_order_relaxed;  // each value stands for itself
  std::atomic<std::uint64_t> key_{0};
  std::atomic<std::uint64_t> launches_{0}, gpu_ns_{0};
  std::atomic<std::uint64_t> timed_launches_{0};  // whoever reads kernel records, as the next ones
  double timed_ = 0, mean_ns_ = 0, squares_ = 0;
  std::atomic<bool> varies_{false}, is_wanted_{false};
  bool is_graph_ = false, is_cooperative_ = false;
  std::optional<kernel_code> code_;
  std::uint64_t identity_ = 0;
  std::atomic<groups> done_{0}, ever_done_{0}, hopeless_{0}, read_elsewhere_{0};
  std::atomic<std::uint32_t> arguments_{0}, values_{0};
  std::atomic<launch_signature*> whole_{nullptr};  // where it is one of its values
  std::atomic<std::int32_t> wanted_values_{0};     // the worker's thread writes
  std::atomic<std::uint64_t> pattern_{0};          // number of the capture, correlation
  std::atomic<standing> standing_{standing::unknown};
  unsigned failures_ = 0;    // the worker's thread
  bool ends_alone_ = false;  // the worker's thread
};

/// All signatures of the process that are in use. Any thread, without lock. A table that is half
/// full is replaced by another with those that were launched lately: references to the others stay
/// valid for as long again, though nothing is found by them.
class launch_signatures {
 public:
  static constexpr std::size_t capacity = 1 << 14;
  /// What was not launched for so long is not kept; the table is replaced no more often than this.
  static constexpr std::uint64_t unused_after_ns = 60'000'000'000;

  /// So many values of arguments are told apart for one function and extents, once their times
  /// differ. When more come and
  /// these did not come again some times each, there is noise among them (a counter, what was on
  /// the stack before): then none is told apart any longer. A program launches all its sizes once
  /// before the first comes again, so it is not judged before.
  static constexpr std::uint32_t max_values = 32;
  static constexpr std::uint64_t times_each = 4;

  launch_signatures() : tables_{std::make_unique<table>()} {}
  /// Null when the table is three quarters full and this one is new.
  /// `context`: CUPTI's number of it. Of one function handle each context has its own signatures; 0
  /// for graphs, which are in no one context. `fingerprint`: of the arguments, asked where they
  /// matter; 0: not known.
  template <class Fingerprint>
  launch_signature* find(launch_parameters const& launch, std::uint32_t context,
                         Fingerprint&& fingerprint) noexcept {
    auto const key = key_of(launch, context);
    auto* const any = at(key, true);
    return any != nullptr && any->varies() ? with_arguments(key, *any, fingerprint()) : any;
  }

  /// A graph is destroyed.
  void forget_graph(void const* graph) noexcept;

  /// In the order in which they came.
  std::size_t size() const noexcept { return now().used.load(std::memory_order_acquire); }
  /// Null: another thread is just adding it.
  launch_signature* at(std::size_t index) const noexcept {
    return now().order[index].load(std::memory_order_acquire);
  }
  /// New ones find no room.
  bool is_full() const noexcept { return size() >= capacity / 4 * 3; }
  /// It is of the table that is in use.
  bool has(launch_signature const& signature) const noexcept {
    auto const& slots = now().slots;
    return &signature >= slots.data() && &signature < slots.data() + slots.size();
  }

  /// The worker's thread, now and then. `may_replace`: it keeps no reference to any. True: the
  /// table was replaced.
  bool age(std::uint64_t now_ns, bool may_replace, launch_signature::groups all);

  struct tally {
    std::uint64_t signatures = 0;  // that may be read
    std::uint64_t unread = 0;      // of these: no group has been read
    std::uint64_t partly = 0;      // of these: some of `all` groups have been read
    std::uint64_t left_out = 0;    // of these: all was read that is not left to samples
  };
  /// Of all so far. One that was removed and came again is counted twice.
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

  std::array<std::unique_ptr<table>, 2> tables_;  // the second once it is needed; never freed
  std::atomic<unsigned> current_{0};
  std::uint64_t looked_ns_ = 0, replaced_ns_ = 0;  // the worker's thread
  struct {
    std::atomic<std::uint64_t> signatures{0}, unread{0}, partly{0}, left_out{0};
  } removed_;
};

// Tells how long the launches of each signature run, from kernel records that come later.

/// Remembers of which signature the latest launches were. Launching threads write, whoever reads
/// kernel records asks; without lock. What comes too late is not counted, which shifts no share
/// much.
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

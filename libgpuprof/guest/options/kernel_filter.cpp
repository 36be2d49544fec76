// SPDX-License-Identifier: Apache-2.0
#include "guest/options/kernel_filter.hpp"

#include "base/no_cancellation.hpp"
#include "base/process.hpp"
#include "base/quiet_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>

namespace gpuprof::guest {
namespace {

constexpr std::size_t stack_bytes = 8 << 20;  // address space; only the used part takes memory

}  // namespace

name_matcher::name_matcher(question does_match) : does_match_(std::move(does_match)) {
  has_thread_ = start_quiet_thread(thread_, "gpuprof-names", stack_bytes, run, this) == 0;
}

name_matcher::~name_matcher() {
  if (!has_thread_ || is_forked_child()) return;
  {
    std::lock_guard const lock(mutex_);
    stop_ = true;
  }
  asked_.notify_one();
  pthread_join(thread_, nullptr);
}

std::optional<bool> name_matcher::ask(std::string_view name) noexcept {
  if (!has_thread_ || is_forked_child()) return std::nullopt;
  auto const saved_errno = errno;
  no_cancellation const here;
  std::optional<bool> answer;
  auto const deadline = std::chrono::steady_clock::now() + patience;
  {
    std::unique_lock lock(mutex_);
    if (idle_.wait_until(lock, deadline, [&] { return state_ == state::idle; })) {
      length_ = std::min(name.size(), max_name);
      std::copy_n(name.begin(), length_, name_.begin());
      state_ = state::asked;
      asked_.notify_one();
      if (answered_.wait_until(lock, deadline, [&] { return state_ == state::answered; })) {
        answer = answer_;
        state_ = state::idle;
      } else {
        state_ = state::nobody_waits;
      }
    }
  }
  idle_.notify_one();
  errno = saved_errno;
  return answer;
}

void* name_matcher::run(void* self) noexcept {
  static_cast<name_matcher*>(self)->answer_questions();
  return nullptr;
}

void name_matcher::answer_questions() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    asked_.wait(lock, [&] { return stop_ || state_ == state::asked; });
    if (stop_) return;
    std::optional<bool> answer;
    try {
      std::string const name(name_.data(), length_);
      lock.unlock();
      answer = does_match_(name);
    } catch (...) {
      // out of memory: no answer
    }
    if (!lock.owns_lock()) lock.lock();
    answer_ = answer;
    auto const somebody_waits = state_ == state::asked;
    state_ = somebody_waits ? state::answered : state::idle;
    (somebody_waits ? answered_ : idle_).notify_one();
  }
}

kernel_filter::kernel_filter(std::uint64_t skip, std::uint64_t count)
    : skip_(skip), count_(count) {}
kernel_filter::~kernel_filter() = default;

result<std::unique_ptr<kernel_filter>> kernel_filter::make(settings const& options) {
  std::unique_ptr<kernel_filter> filter(
      new kernel_filter(options.launch_skip, options.launch_count));
  if (auto const wrong = filter->add_names(options.kernel_names); !wrong.empty()) {
    return error{"--kernel-name " + wrong + ": all kernels are traced"};
  }
  return filter;
}

result<std::unique_ptr<kernel_filter>> kernel_filter::make(
    std::vector<kernel_pattern> const& names) {
  std::unique_ptr<kernel_filter> filter(new kernel_filter(0, 0));
  if (auto wrong = filter->add_names(names); !wrong.empty()) return error{std::move(wrong)};
  return filter;
}

std::string kernel_filter::add_names(std::vector<kernel_pattern> const& names) {
  auto made = kernel_patterns::make(names);
  if (!made) return made.message();
  patterns_ = *std::move(made);
  if (has_names()) {
    matcher_.emplace([this](std::string_view mangled) { return name_matches(mangled); });
  }
  return {};
}

bool kernel_filter::name_matches(std::string_view mangled) const {
  return patterns_.empty() || patterns_.match(mangled);
}

bool kernel_filter::selects_launch(char const* mangled) noexcept {
  if (mangled == nullptr) return true;
  if (!patterns_.empty() && !remembered_name_matches(mangled)) return false;
  auto const place = matching_.fetch_add(1, std::memory_order_relaxed);
  return place >= skip_ && (count_ == 0 || place - skip_ < count_);
}

// Looks up the whole name: after code was unloaded, the next kernel's name may be at the same
// address and begin the same way. Relaxed: each word holds a complete answer, and a lost answer is
// computed again.
bool kernel_filter::remembered_name_matches(char const* mangled) noexcept {
  std::string_view const name{mangled, strnlen(mangled, name_matcher::max_name)};
  std::uint64_t const key = std::hash<std::string_view>{}(name);
  auto const first = (key >> 1) % (answers_.size() / places_each) * places_each;
  auto* place = &answers_[first + (key >> 40) % places_each];  // replaced if all are taken
  for (auto i = first; i < first + places_each; ++i) {
    auto const known = answers_[i].load(std::memory_order_relaxed);
    if (known != 0 && (known | 1) == (key | 1)) return (known & 1) != 0;
    if (known == 0) {
      place = &answers_[i];
      break;
    }
  }
  auto const yes = matcher_->ask(name);
  if (!yes) return true;  // in doubt, select the kernel
  place->store((key & ~std::uint64_t{1}) | (*yes ? 1 : 0), std::memory_order_relaxed);
  return *yes;
}

}  // namespace gpuprof::guest

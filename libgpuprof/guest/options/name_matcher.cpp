// SPDX-License-Identifier: Apache-2.0
#include "guest/options/name_matcher.hpp"

#include "base/no_cancellation.hpp"
#include "base/process.hpp"
#include "base/quiet_thread.hpp"

#include <algorithm>
#include <cerrno>
#include <string>

namespace gpuprof::guest {
namespace {

constexpr std::size_t stack_bytes = 8 << 20;  // address space; as much as is used becomes memory

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
      // no memory: no answer
    }
    if (!lock.owns_lock()) lock.lock();
    answer_ = answer;
    auto const somebody_waits = state_ == state::asked;
    state_ = somebody_waits ? state::answered : state::idle;
    (somebody_waits ? answered_ : idle_).notify_one();
  }
}

}  // namespace gpuprof::guest

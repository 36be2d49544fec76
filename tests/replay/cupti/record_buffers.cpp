// SPDX-License-Identifier: Apache-2.0
#include "replay/cupti/record_buffers.hpp"

#include "base/time.hpp"
#include "replay/cupti/contract.hpp"
#include "replay/cupti/faults.hpp"
#include "replay/format/record_fields.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <pthread.h>

namespace gpuprof::replay {
void record_buffers::set_functions(CUpti_BuffersCallbackRequestFunc ask,
                                   CUpti_BuffersCallbackCompleteFunc hand_over) {
  complete_ = hand_over;
  request_ = ask;
}

record_buffers::owner& record_buffers::owner_of_this_thread() {
  static thread_local owner* mine = nullptr;
  std::lock_guard const hold(lists_);
  if (!per_thread_) {
    if (shared_ == nullptr) shared_ = owners_.emplace_back(std::make_unique<owner>()).get();
    return *shared_;
  }
  if (mine == nullptr) mine = owners_.emplace_back(std::make_unique<owner>()).get();
  return *mine;
}

void record_buffers::append(void const* record, std::size_t size, bool on_gpu,
                            std::uint64_t complete_at) {
  auto& own = owner_of_this_thread();
  std::lock_guard const one_at_a_time(own.appending);
  auto const fits = [&] {
    return own.current != nullptr && own.current->used + size <= own.current->size;
  };
  std::unique_lock hold(own.changing);
  if (!fits()) {
    if (own.current != nullptr) own.full.push_back(std::move(own.current));
    hold.unlock();
    auto fresh = request();
    hold.lock();
    own.current = std::move(fresh);
  }
  if (!fits()) {
    ++dropped_;
    return;
  }
  auto& b = *own.current;
  std::memcpy(b.bytes + b.used, record, size);
  put_on_clock(b.bytes + b.used);
  b.records.push_back({b.used, complete_at, on_gpu});
  b.used += size;
}

/// How far the clients' clock is ahead of the machine's.
std::uint64_t record_buffers::ahead() const {
  auto* const clock = clock_.load();
  if (clock == nullptr) return 0;
  std::uint64_t best = 0, shortest = ~std::uint64_t{0};
  for (int i = 0; i < 10; ++i) {  // a thread may lose the processor between two looks
    auto const before = read_clock(CLOCK_REALTIME);
    auto const theirs = clock();
    auto const took = read_clock(CLOCK_REALTIME) - before;
    if (took >= shortest) continue;
    shortest = took;
    best = theirs - before - took / 2;
  }
  return best;
}

void record_buffers::put_on_clock(std::uint8_t* record) const {
  auto const by = ahead();
  if (by == 0) return;
  auto const& fields = *fields_of(kind_of_record(record));
  for (auto const at : {fields.start, fields.end}) {
    auto const time = get_field<std::uint64_t>(record, at);
    if (time != 0) set_field<std::uint64_t>(record, at, time + by);
  }
}

std::unique_ptr<record_buffers::buffer> record_buffers::request() {
  auto const ask = request_.load();
  if (ask == nullptr) return nullptr;  // finalized meanwhile
  auto b = std::make_unique<buffer>();
  std::size_t max_records = ~std::size_t{0};
  {
    inside const mark(here().in_buffer_callback);
    call_client("buffer request function", [&] { ask(&b->bytes, &b->size, &max_records); });
  }
  if (b->bytes == nullptr) {
    if (faults::get().version < 27) {
      broken("it refused a buffer; CUPTI before CUDA 12.9 can crash on that");
    }
    return nullptr;
  }
  check(*b, max_records);
  return b;
}

void record_buffers::check(buffer const& b, std::size_t max_records) {
  if (reinterpret_cast<std::uintptr_t>(b.bytes) % ACTIVITY_RECORD_ALIGNMENT != 0) {
    broken("the buffer it handed out is not aligned to 8 bytes");
  }
  if (b.size < 1024)
    broken("the buffer it handed out has room for " + std::to_string(b.size) + " bytes");
  if (max_records != 0)
    broken("maxNumRecords was left at " + std::to_string(max_records) + ", not 0");
  {
    std::lock_guard const hold(lists_);
    if (!lent_.insert(b.bytes).second) {
      broken("it handed out a buffer again that it had not got back");
    }
  }
  if (zeroed_by_client_ && std::any_of(b.bytes, b.bytes + b.size, [](auto x) { return x != 0; })) {
    broken("ZEROED_OUT_ACTIVITY_BUFFER is set, but the buffer it handed out is not zeroed");
  }
}

bool record_buffers::is_complete(buffer const& b, std::uint64_t now) {
  return std::all_of(b.records.begin(), b.records.end(),
                     [&](auto const& r) { return r.complete_at <= now; });
}

// What still runs has no end yet, and will not be delivered a second time.
void record_buffers::cut_off(buffer& b, std::uint64_t now) const {
  for (auto const& r : b.records) {
    if (!r.on_gpu || r.complete_at <= now) continue;
    auto* const record = b.bytes + r.offset;
    auto const& fields = *fields_of(kind_of_record(record));
    if (get_field<std::uint64_t>(record, fields.start) > now + ahead())
      set_field<std::uint64_t>(record, fields.start, 0);
    set_field<std::uint64_t>(record, fields.end, 0);
  }
}

void record_buffers::release(std::unique_ptr<buffer> b) {
  {
    std::lock_guard const hold(lists_);
    lent_.erase(b->bytes);
  }
  auto const hand_over = complete_.load();
  if (hand_over == nullptr) return;  // finalized meanwhile
  inside const mark(here().in_buffer_callback);
  call_client("buffer completion function",
              [&] { hand_over(nullptr, 0, b->bytes, b->size, b->used); });
}

void record_buffers::flush(bool forced) {
  hand_back(forced ? selection::all : selection::complete);
}

// One thread at a time: when a flush returns, what the worker was handing back is back as well.
void record_buffers::hand_back(selection which) {
  std::lock_guard const one_at_a_time(handing_back_);
  std::vector<owner*> owners;
  {
    std::lock_guard const hold(lists_);
    for (auto const& o : owners_) owners.push_back(o.get());
  }
  for (auto* const o : owners) {
    auto const now = read_clock(CLOCK_REALTIME);
    auto const wanted = [&](buffer const& b) {
      return which == selection::all || is_complete(b, now);
    };
    std::vector<std::unique_ptr<buffer>> finished;
    {
      std::lock_guard const hold(o->changing);
      for (auto& b : o->full) {
        if (wanted(*b)) finished.push_back(std::move(b));
      }
      std::erase(o->full, nullptr);
      auto& c = o->current;
      if (which != selection::full && c != nullptr && c->used > 0 && wanted(*c)) {
        finished.push_back(std::move(c));
      }
    }
    for (auto& b : finished) {
      if (which == selection::all) cut_off(*b, now);
      release(std::move(b));
    }
  }
}

void record_buffers::work() {
  pthread_setname_np(pthread_self(), "cupti-worker");
  std::unique_lock hold(worker_lock_);
  while (!stop_) {
    hold.unlock();
    hand_back(selection::full);
    hold.lock();
    wake_.wait_for(hold, std::chrono::milliseconds(10), [this] { return stop_; });
  }
}

// As the real worker it takes no signals meant for the program.
void record_buffers::start_worker() {
  std::lock_guard const hold(worker_lock_);
  if (worker_.joinable()) return;
  stop_ = false;
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);  // blocked, it would end a test without a word
  pthread_sigmask(SIG_SETMASK, &all, &before);
  worker_ = std::thread([this] { work(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void record_buffers::shut_down() {
  std::thread worker;
  {
    std::lock_guard const hold(worker_lock_);
    stop_ = true;
    worker = std::move(worker_);
  }
  wake_.notify_all();
  if (worker.joinable()) worker.join();
  std::lock_guard const hold(lists_);
  // Another thread may be inside append() with its owner in hand: keep the owners, drop what they
  // hold.
  for (auto const& o : owners_) {
    std::lock_guard const change(o->changing);
    o->current.reset();
    o->full.clear();
  }
  lent_.clear();
}

}  // namespace gpuprof::replay

// SPDX-License-Identifier: Apache-2.0
// Fills the client's buffers with activity records and hands them back, as CUPTI does.
#pragma once

#include <cupti.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace gpuprof::replay {

/// One per process. A buffer belongs to the thread whose records it holds (or to all, when the
/// client asked for that), is requested on that thread, and comes back when all its records are
/// complete: from a flush, or once full from a thread of this library.
class record_buffers {
 public:
  void set_functions(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
  bool has_functions() const { return request_ != nullptr; }
  void set_zeroed_by_client(bool on) { zeroed_by_client_ = on; }
  void set_per_thread(bool on) { per_thread_ = on; }
  /// Of records that are written from now on.
  void set_clock(CUpti_TimestampCallbackFunc clock) { clock_ = clock; }

  /// Any thread. Writes one record; counts it as dropped when there is no buffer.
  void append(void const* record, std::size_t size, bool on_gpu, std::uint64_t complete_at);

  /// Hands over the buffers whose records are all complete; `forced`: every buffer that has
  /// records, with the times of kernels that still run set to 0.
  void flush(bool forced);
  std::uint64_t take_dropped() { return dropped_.exchange(0); }
  void count_dropped() { ++dropped_; }

  void start_worker();
  /// Stops the worker and forgets all buffers; what was not flushed is lost.
  void shut_down();

 private:
  struct record_place {
    std::size_t offset = 0;
    std::uint64_t complete_at = 0;
    bool on_gpu = false;
  };
  struct buffer {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0, used = 0;
    std::vector<record_place> records;
  };
  /// Full buffers if complete; any buffers if complete; all of them.
  enum class selection { full, complete, all };
  struct owner {
    std::mutex appending;  // one record at a time; held while the client is asked for a buffer
    std::mutex changing;   // protects `current` and `full`; never held during a client's function
    std::unique_ptr<buffer> current;
    std::vector<std::unique_ptr<buffer>> full;
  };

  owner& owner_of_this_thread();
  std::unique_ptr<buffer> request();
  void check(buffer const&, std::size_t max_records);
  static bool is_complete(buffer const&, std::uint64_t now);
  void cut_off(buffer&, std::uint64_t now) const;
  std::uint64_t ahead() const;
  void put_on_clock(std::uint8_t* record) const;
  void release(std::unique_ptr<buffer>);
  void hand_back(selection which);
  void work();

  std::atomic<CUpti_BuffersCallbackRequestFunc> request_{nullptr};
  std::atomic<CUpti_BuffersCallbackCompleteFunc> complete_{nullptr};
  std::atomic<CUpti_TimestampCallbackFunc> clock_{nullptr};
  std::atomic<bool> zeroed_by_client_{false};
  std::atomic<bool> per_thread_{true};
  std::atomic<std::uint64_t> dropped_{0};

  std::mutex lists_;  // protects the three below
  std::vector<std::unique_ptr<owner>> owners_;
  owner* shared_ = nullptr;  // of all threads, when the client asked for that
  std::set<std::uint8_t*> lent_;

  std::mutex handing_back_;  // held by a flush and by a turn of the worker

  std::mutex worker_lock_;  // protects worker_ and stop_
  std::condition_variable wake_;
  std::thread worker_;
  bool stop_ = false;
};

}  // namespace gpuprof::replay

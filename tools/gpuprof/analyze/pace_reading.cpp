// SPDX-License-Identifier: Apache-2.0
#include "analyze/pace_reading.hpp"

#include "host/reading/time_merge.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gpuprof::host::command {
namespace {

constexpr std::uint64_t max_sampled_launches = 100'000;
// 25 MB. CUPTI's buffers are flushed each half second, in which a GPU runs up to 200,000 kernels.
constexpr std::size_t kernels_kept = 1 << 19;
constexpr std::size_t max_waiting = 8;  // blocks, of 32,768 kernels at most

capture::column_set<kernel_record> kernel_columns_of_pace() {
  return capture::only(&kernel_record::start, &kernel_record::duration, &kernel_record::launched,
                       &kernel_record::device, &kernel_record::context, &kernel_record::stream,
                       &kernel_record::thread, &kernel_record::graph);
}

template <class Transfer>
capture::column_set<Transfer> transfer_columns_of_pace() {
  return capture::only(&Transfer::start, &Transfer::duration, &Transfer::launched,
                       &Transfer::device, &Transfer::context, &Transfer::stream);
}

launched_kernel launched_of(kernel_record const& kernel) {
  return {.start = kernel.start,
          .duration = kernel.duration,
          .launched = kernel.launched,
          .device = kernel.device,
          .context = kernel.context,
          .stream = kernel.stream,
          .thread = kernel.thread,
          .of_graph = raw(kernel.graph) != 0};
}

template <class Work>
gpu_item item_of(Work const& work) {
  return {.start = work.start,
          .end = work.start + work.duration,
          .launched = work.launched,
          .device = work.device,
          .stream = work.stream,
          .context = work.context};
}

}  // namespace

void join_kernel_blocks(capture_walk& walk, std::function<void(kernel_block)> take) {
  auto const block = std::make_shared<kernel_block>();
  walk.add<kernel_record>(kernel_columns_of_pace(), [block](std::span<kernel_record const> rows) {
    for (auto const& kernel : rows) block->push_back(launched_of(kernel));
  });
  walk.after_each_block<kernel_record>([block, take = std::move(take)] {
    kernel_block next;
    next.reserve(block->size());  // blocks mostly have equally many rows
    take(std::exchange(*block, std::move(next)));
  });
}

void kernel_block_queue::add(kernel_block block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < max_waiting || !is_taken_; });
  if (!is_taken_) return;
  waiting_.push_back(std::move(block));
  changed_.notify_all();
}

void kernel_block_queue::end() {
  std::lock_guard const lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

std::optional<kernel_block> kernel_block_queue::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !waiting_.empty() || has_ended_; });
  if (waiting_.empty()) return std::nullopt;
  std::optional block(std::move(waiting_.front()));
  waiting_.pop_front();
  changed_.notify_all();
  return block;
}

void kernel_block_queue::stop_taking() {
  std::lock_guard const lock(mutex_);
  is_taken_ = false;
  waiting_.clear();
  changed_.notify_all();
}

pace_reading::work_in_order::work_in_order(timestamp_ns until, std::uint64_t count)
    : launched_until(until), all_kernels(count) {
  launches.every = 1 + all_kernels / max_sampled_launches;
}

void pace_reading::work_in_order::operator()(launched_kernel const& kernel) {
  auto item = item_of(kernel);
  item.thread = kernel.thread;
  item.of_graph = kernel.of_graph;
  pace.add(item);
  note_end(kernel);
  if (kernels % launches.every == 0 && kernel.launched.value != 0)
    launches.launches.push_back({kernel.launched, kernel.thread});
  if (++kernels == all_kernels / 10) tenth_launched = kernel.launched;
}

void pace_reading::work_in_order::operator()(kernel_record const& kernel) {
  (*this)(launched_of(kernel));
}

template <class Transfer>
void pace_reading::work_in_order::take_transfer(Transfer const& transfer) {
  pace.add_transfer(item_of(transfer));
  note_end(transfer);
}

template <class Work>
void pace_reading::work_in_order::note_end(Work const& work) {
  if (work.launched.value != 0 && work.launched <= launched_until)
    ended = std::max(ended, work.start + work.duration);
}

pace_reading::pace_reading(trace_contents& trace, timestamp_ns launched_until)
    : trace_(trace),
      launched_until_(launched_until),
      all_kernels_(trace.file().row_count<kernel_record>()),
      kernels_(kernels_kept) {
  found_.emplace(launched_until_, all_kernels_);
}

void pace_reading::add(kernel_block block) {
  if (in_order_) in_order_ = kernels_.add(std::move(block));
  if (in_order_) take_ready();
}

void pace_reading::finish() {
  auto const count = trace_.file().row_count<kernel_record>();
  if (!in_order_ || count != all_kernels_) return read_in_order();
  kernels_.end();
  take_ready();
  take_transfers(std::nullopt);
}

void pace_reading::take_ready() {
  for (; kernels_.peek() != nullptr; kernels_.skip()) {
    auto const& kernel = *kernels_.peek();
    if (!copies_) look_for_transfer();
    if (next_transfer_ && *next_transfer_ <= kernel.start) take_transfers(kernel.start);
    (*found_)(kernel);
  }
}

/// Takes copies and fills that begin until this moment, or all; of equal times the copies first.
void pace_reading::take_transfers(std::optional<timestamp_ns> until) {
  if (!copies_) look_for_transfer();
  while (next_transfer_ && (!until || *next_transfer_ <= *until)) {
    auto const* const copy = copies_->peek();
    if (copy != nullptr && copy->start == *next_transfer_) {
      (*found_)(*copy);
      copies_->skip();
    } else {
      (*found_)(*fills_->peek());
      fills_->skip();
    }
    look_for_transfer();
  }
}

void pace_reading::look_for_transfer() {
  if (!copies_) {
    copies_.emplace(trace_.file(), transfer_columns_of_pace<copy_record>());
    fills_.emplace(trace_.file(), transfer_columns_of_pace<memset_record>());
  }
  next_transfer_.reset();
  if (auto const* const copy = copies_->peek()) next_transfer_ = copy->start;
  if (auto const* const fill = fills_->peek(); fill != nullptr)
    next_transfer_ = next_transfer_ ? std::min(*next_transfer_, fill->start) : fill->start;
}

void pace_reading::read_in_order() {
  found_.emplace(launched_until_, trace_.file().row_count<kernel_record>());
  for_each_in_time<copy_record, memset_record, kernel_record>(
      trace_.file(), *found_, transfer_columns_of_pace<copy_record>(),
      transfer_columns_of_pace<memset_record>(), kernel_columns_of_pace());
}

}  // namespace gpuprof::host::command

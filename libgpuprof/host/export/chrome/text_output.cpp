// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/text_output.hpp"

#include <algorithm>
#include <libdeflate.h>
#include <new>

namespace gpuprof::chrome {
namespace {

// Higher levels take twice the time for a file that is a sixth smaller.
constexpr int level = 1;

}  // namespace

void text_output::delete_compressor::operator()(libdeflate_compressor* compressor) const noexcept {
  libdeflate_free_compressor(compressor);
}

text_output::text_output(unfinished_file& file, bool compress) : file_(&file) {
  if (compress) {
    compressor_.reset(libdeflate_alloc_compressor(level));
    if (compressor_ == nullptr) throw std::bad_alloc();
    member_.resize(libdeflate_gzip_compress_bound(compressor_.get(), member_bytes));
  }
  filling_.reserve(member_bytes + member_bytes / 8);
  worker_ = std::thread([this] { work(); });
}

text_output::~text_output() {
  end_worker();
}

void text_output::finish() {
  hand_over();
  end_worker();
}

void text_output::hand_over() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !is_waiting_; });
  std::swap(filling_, waiting_);
  is_waiting_ = true;
  changed_.notify_all();
  lock.unlock();
  filling_.clear();
}

void text_output::end_worker() noexcept {
  if (!worker_.joinable()) return;
  {
    std::lock_guard const lock(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

void text_output::work() noexcept {
  text_buffer text;
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_waiting_ || ended_; });
      if (!is_waiting_) return;
      std::swap(text, waiting_);
      is_waiting_ = false;
    }
    changed_.notify_all();
    put(text);
    text.clear();
  }
}

void text_output::put(text_buffer const& text) noexcept {
  if (compressor_ == nullptr) {
    file_->put({text.data(), text.size()});
    return;
  }
  for (std::size_t at = 0; at < text.size(); at += member_bytes) {
    auto const size = libdeflate_gzip_compress(compressor_.get(), text.data() + at,
                                               std::min(member_bytes, text.size() - at),
                                               member_.data(), member_.size());
    file_->put({member_.data(), size});
  }
}

}  // namespace gpuprof::chrome

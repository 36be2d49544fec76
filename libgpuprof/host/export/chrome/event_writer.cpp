// SPDX-License-Identifier: Apache-2.0
#include "host/export/chrome/event_writer.hpp"

#include "base/utf8.hpp"
#include "host/analysis/api_summary.hpp"

#include <algorithm>
#include <cmath>
#include <libdeflate.h>
#include <new>

namespace gpuprof::host::chrome {
namespace {

// Higher levels take twice the time for a file that is a sixth smaller.
constexpr int level = 1;

constexpr std::uint64_t exact_in_double = std::uint64_t{1} << 53;

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

std::string quoted(std::string_view text) {
  std::string json;
  append_json_text(json, text);
  return json;
}

std::string const& quoted_names::of(name_id id) {
  auto const [at, is_new] = texts_.try_emplace(id);
  if (is_new) at->second = quoted(names_->text(id));
  return at->second;
}

std::string const& quoted_names::of_operator(name_id id) {
  auto const [at, is_new] = operators_.try_emplace(id);
  auto const& name = names_->text(id);
  if (is_new && name.starts_with("aten::")) at->second = quoted(name.substr(0, name.find(", ")));
  return at->second;
}

std::string const& quoted_names::of_call(name_id id) {
  auto const [at, is_new] = calls_.try_emplace(id);
  if (is_new) at->second = quoted(without_version_suffix(names_->text(id)));
  return at->second;
}

void append(text_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

void append_whole(text_buffer& out, std::uint64_t number) {
  if (number > exact_in_double)
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("\"{}\""), number);
  else
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), number);
}

void append_number(text_buffer& out, double number) {
  if (std::isfinite(number))
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), number);
  else
    append(out, "null");
}

text_buffer& argument_list::named(std::string_view name) {
  if (!is_first_) out_->push_back(',');
  is_first_ = false;
  append(*out_, quoted(name));
  out_->push_back(':');
  return *out_;
}

void argument_list::add_text(std::string_view name, std::string_view text) {
  append(named(name), quoted(text));
}

void event_writer::begin_arrow(std::uint32_t id, track from, timestamp_ns at) {
  auto const time = since_base(at);
  fmt::format_to(next(),
                 FMT_COMPILE(R"({{"ph":"s","id":{},"pid":{},"tid":{},"ts":{}.{:03},)"
                             R"("cat":"ac2g","name":"ac2g"}})"),
                 id, from.process, from.thread, time / 1000, time % 1000);
  ended();
}

void event_writer::end_arrow(std::uint32_t id, track to, timestamp_ns at) {
  auto const time = since_base(at);
  fmt::format_to(next(),
                 FMT_COMPILE(R"({{"ph":"f","id":{},"pid":{},"tid":{},"ts":{}.{:03},)"
                             R"("cat":"ac2g","name":"ac2g","bp":"e"}})"),
                 id, to.process, to.thread, time / 1000, time % 1000);
  ended();
}

text_buffer& event_writer::begin_instant(std::string_view category, std::string_view name, track at,
                                         timestamp_ns time) {
  auto const start = since_base(time);
  fmt::format_to(next(),
                 FMT_COMPILE(R"({{"ph":"i","s":"t","cat":"{}","name":{},"pid":{},"tid":{},)"
                             R"("ts":{}.{:03},"args":{{)"),
                 category, name, at.process, at.thread, start / 1000, start % 1000);
  return out_->text();
}

void event_writer::span(std::string_view name, timestamp_ns start, std::uint64_t length,
                        std::string_view trigger) {
  auto const begin = since_base(start);
  fmt::format_to(next(),
                 FMT_COMPILE(R"({{"ph":"X","cat":"Trace","name":{},"pid":"Spans",)"
                             R"("tid":"gpuprof","ts":{}.{:03},"dur":{}.{:03},)"
                             R"("args":{{"trigger":{}}}}})"),
                 quoted(name), begin / 1000, begin % 1000, length / 1000, length % 1000,
                 quoted(trigger));
  ended();
}

void event_writer::counter(std::string_view name, std::uint64_t process, timestamp_ns time,
                           double value) {
  if (!std::isfinite(value)) return;
  auto const at = since_base(time);
  fmt::format_to(next(),
                 FMT_COMPILE(R"({{"ph":"C","cat":"hardware_counters","name":{},"pid":{},)"
                             R"("ts":{}.{:03},"args":{{"value":{}}}}})"),
                 name, process, at / 1000, at % 1000, value);
  ended();
}

void event_writer::process(std::uint64_t process, std::string_view name, std::string_view label,
                           std::uint64_t sort_index) {
  auto const one = [&](std::string_view what, std::string_view key, std::string_view value) {
    fmt::format_to(
        next(), FMT_COMPILE(R"({{"ph":"M","name":"{}","pid":{},"ts":0.000,"args":{{"{}":{}}}}})"),
        what, process, key, value);
    ended();
  };
  one("process_name", "name", quoted(name));
  one("process_labels", "labels", quoted(label));
  one("process_sort_index", "sort_index", std::to_string(sort_index));
}

void event_writer::thread(track of, std::string_view name, std::uint64_t sort_index) {
  auto const one = [&](std::string_view what, std::string_view key, std::string_view value) {
    fmt::format_to(
        next(),
        FMT_COMPILE(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"ts":0.000,"args":{{"{}":{}}}}})"),
        what, of.process, of.thread, key, value);
    ended();
  };
  one("thread_name", "name", quoted(name));
  one("thread_sort_index", "sort_index", std::to_string(sort_index));
}

}  // namespace gpuprof::host::chrome

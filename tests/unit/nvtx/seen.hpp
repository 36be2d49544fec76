// SPDX-License-Identifier: Apache-2.0
// What the rings of this process held, as short lines that tests can compare.
#pragma once

#include "guest/nvtx/log_decoder.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/nvtx/ranges.hpp"

#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace gpuprof::test {
using namespace guest;

/// Keeps the records and a line for each: "begin step", "end step", "mark m", "launch 7 in step".
struct seen {
  std::vector<std::string> lines;
  std::vector<range_begin> begins;
  std::vector<range_end> ends;
  std::vector<mark_record> marks;
  std::vector<launch_note> launches;
  std::vector<driver_call_note> calls;
  std::vector<std::uint16_t> stacks;
  std::map<range_id, std::string> range_names;

  void begin(range_begin const& r) {
    begins.push_back(r);
    range_names[r.range] = names().text(r.name);
    lines.push_back("begin " + range_names[r.range]);
  }
  void end(range_end const& r) {
    ends.push_back(r);
    lines.push_back("end " + range_names[r.range]);
  }
  void mark(mark_record const& m) {
    marks.push_back(m);
    lines.push_back("mark " + names().text(m.name));
  }
  void launch(launch_note const& l) {
    launches.push_back(l);
    lines.push_back("launch " + std::to_string(raw(l.correlation)) + " in " + range_names[l.range]);
  }
  void call(driver_call_note const& c) {
    calls.push_back(c);
    lines.push_back("call " + std::to_string(raw(c.correlation)));
  }
  void stack(stack_note const& s) {
    stacks.push_back(s.number);
    lines.push_back("stack " + std::to_string(s.number));
  }
  void graph_node(graph_node_note const& n) {
    lines.push_back("node " + std::to_string(raw(n.node)) + " of " +
                    std::to_string(raw(n.original)));
  }
  void sample(thread_sample_note const& s) {
    lines.push_back("sample " + std::to_string(s.os_thread));
  }
};

inline memory_budget& budget() {
  static memory_budget limit(256u << 20);
  return limit;
}

inline constexpr std::size_t ring_slots = 1024;

/// Runs `body` on a thread of its own with a fresh log, then hands over what was written.
inline seen run(std::function<void(thread_log&)> const& body) {
  configure_thread_logs(&budget(), ring_slots);
  seen found;
  drain_all_logs(found);
  found = {};
  log_is_recording = true;
  log_generation.fetch_add(1);
  std::thread([&] { body(*this_thread_log()); }).join();
  log_is_recording = false;
  drain_all_logs(found);
  return found;
}

inline event_text named(char const* name, char const* domain = "") {
  return {.name = names().intern(name), .domain = names().intern(domain)};
}

using lines = std::vector<std::string>;

}  // namespace gpuprof::test

// SPDX-License-Identifier: Apache-2.0
// An NVTX tool made of the layer alone: writes what it saw to $NVTX_DUMP_FILE when the process
// ends.
#include "guest/nvtx/injection.hpp"
#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/log_decoder.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/nvtx/ranges.hpp"

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#define EXPORT __attribute__((visibility("default")))

namespace {

using namespace gpuprof;
using namespace gpuprof::guest;

memory_budget budget(64u << 20);
std::atomic<int> injections{0};

std::string payload_text(payload_kind kind, std::uint64_t bits) {
  switch (kind) {
    case payload_kind::unsigned64:
      return " u64=" + std::to_string(bits);
    case payload_kind::signed64:
      return " i64=" + std::to_string(static_cast<std::int64_t>(bits));
    case payload_kind::float64:
      return " f64=" + std::to_string(std::bit_cast<double>(bits));
    case payload_kind::text:
      return " json=" + names().text(static_cast<name_id>(bits));
    case payload_kind::none:
      break;
  }
  return "";
}

template <class Record>
std::string about(Record const& r) {
  std::string text = names().text(r.name);
  if (raw(r.domain) != 0) text += " domain=" + names().text(r.domain);
  if (r.category != 0) text += " category=" + std::to_string(r.category);
  if (r.color != 0) {
    char color[32];
    std::snprintf(color, sizeof color, " color=%08x", r.color);
    text += color;
  }
  return text + payload_text(r.payload, r.payload_bits);
}

struct printer {
  std::FILE* out;
  std::map<range_id, std::string> open;

  void launch(launch_note const&) {}
  void call(driver_call_note const&) {}
  void stack(stack_note const&) {}
  void sample(thread_sample_note const&) {}
  void graph_node(graph_node_note const&) {}
  void begin(range_begin const& r) {
    open[r.range] = names().text(r.name);
    std::string work;
    if (r.declared_flops != 0 || r.declared_bytes != 0) {
      work = " flops=" + std::to_string(static_cast<std::uint64_t>(r.declared_flops)) +
             " bytes=" + std::to_string(static_cast<std::uint64_t>(r.declared_bytes));
    }
    std::fprintf(out, "%s %s%s level=%d\n", r.style == range_style::push_pop ? "push" : "start",
                 about(r).c_str(), work.c_str(), int{r.level});
  }
  void end(range_end const& r) { std::fprintf(out, "end %s\n", open[r.range].c_str()); }
  void mark(mark_record const& m) { std::fprintf(out, "mark %s\n", about(m).c_str()); }
};

void write_down(std::FILE* out) {
  printer print{out, {}};
  for (auto const& r : claim_started_ranges()) print.begin(r);
  drain_all_logs(print);
  std::size_t cursor = 0;
  for (auto const& c : labels().new_categories(cursor)) {
    std::fprintf(out, "category %u %s domain=%s\n", c.category, names().text(c.name).c_str(),
                 names().text(c.domain).c_str());
  }
  cursor = 0;
  for (auto const& t : labels().new_thread_labels(cursor)) {
    std::fprintf(out, "thread %u %s\n", t.os_thread, names().text(t.name).c_str());
  }
  std::uint64_t unmatched = 0, dropped = 0;
  for (auto* log = all_thread_logs(); log != nullptr; log = log->next) {
    unmatched += log->counters.unmatched_pops;
    dropped += log->counters.dropped_ranges;
  }
  std::fprintf(out, "injections %d unmatched %llu dropped %llu\n", injections.load(),
               static_cast<unsigned long long>(unmatched),
               static_cast<unsigned long long>(dropped));
}

void attach() {
  static std::once_flag once;
  std::call_once(once, [] {
    configure_thread_logs(&budget, 1u << 16);
    log_is_recording = std::getenv("NVTX_DUMP_LATER") == nullptr;
    std::atexit([] {
      char const* const path = std::getenv("NVTX_DUMP_FILE");
      std::FILE* const out = path != nullptr ? std::fopen(path, "a") : nullptr;
      if (out == nullptr) return;
      write_down(out);
      std::fclose(out);
    });
  });
}

}  // namespace

extern "C" {

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_export_table) {
  attach();
  ++injections;
  return inject_nvtx(get_export_table);
}
EXPORT int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  attach();
  return inject_nvtx_extension(module);
}
EXPORT void nvtx_dump_record(int on) {
  log_is_recording = on != 0;
}
}

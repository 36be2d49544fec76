// SPDX-License-Identifier: Apache-2.0
// Reads a trace of torch.profiler: what stands around its events.
#include "base/readable.hpp"
#include "host/import/kineto/kineto_events.hpp"
#include "host/import/kineto/trace_text.hpp"
#include "host/import/source_readers.hpp"
#include "host/import/source_values.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace gpuprof::host {
namespace {

using token = json_scanner::token;

template <class Number>
Number number_in(std::string_view text) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// 12040 as "12.4".
std::string version_of(std::string_view number) {
  auto const version = number_in<unsigned>(number);
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

bool is_name_of_amd(std::string_view gpu) {
  for (std::string_view const word : {"AMD", "Instinct", "Radeon", "gfx"})
    if (gpu.find(word) != std::string_view::npos) return true;
  return false;
}

constexpr std::pair<std::string_view, name_id peak_record::*> peak_texts[] = {
    {"test", &peak_record::test},         {"group", &peak_record::group},
    {"title", &peak_record::title},       {"unit", &peak_record::unit},
    {"clock", &peak_record::clock},       {"method", &peak_record::method},
    {"operands", &peak_record::operands}, {"measured_at", &peak_record::measured_at},
    {"remark", &peak_record::remark}};
constexpr std::pair<std::string_view, double peak_record::*> peak_figures[] = {
    {"burst", &peak_record::burst},
    {"burst_spread", &peak_record::burst_spread},
    {"burst_sm_clock_mhz", &peak_record::burst_sm_clock_mhz},
    {"sustained", &peak_record::sustained},
    {"sustained_sm_clock_mhz", &peak_record::sustained_sm_clock_mhz},
    {"sustained_watts", &peak_record::sustained_watts},
    {"theory", &peak_record::theory},
    {"per_clock", &peak_record::per_clock},
    {"per_clock_theory", &peak_record::per_clock_theory}};

/// A member that only files of this program have tells which file it is.
constexpr std::pair<std::string_view, char const*> other_formats[] = {
    {"rocprofiler-sdk-tool", "is a result of rocprofv3, which is not read"},
    {"nodes", "is an execution trace of PyTorch, which holds no times of GPU work"}};

constexpr std::pair<std::string_view, std::uint32_t device_record::*> sm_limits[] = {
    {"maxThreadsPerMultiprocessor", &device_record::max_threads_per_sm},
    {"maxBlocksPerMultiprocessor", &device_record::max_blocks_per_sm},
    {"regsPerMultiprocessor", &device_record::registers_per_sm},
    {"sharedMemPerMultiprocessor", &device_record::shared_bytes_per_sm}};

class kineto_reading {
 public:
  kineto_reading(source_reading& reading, imported_process& to)
      : reading_(reading),
        text_(reading.job.options.source),
        json_([this](std::span<char> into) { return read_more(into); }),
        to_(to),
        events_(to, reading.job.options.cpu_ops) {}

  void read() {
    reading_.job.begin("reading " + reading_.job.options.source, text_.file_bytes());
    auto const first = json_.next();
    if (first == token::array) read_events();
    if (first == token::object) read_members();
    events_.finish();
    note_end(json_.next());
    add_facts();
  }

 private:
  std::size_t read_more(std::span<char> into) {
    auto const count = text_.read(into);
    reading_.job.advance(text_.newly_read());
    return count;
  }
  /// The members of the object that has begun: `take(key, value)` reads each to its end. False if
  /// the file ends before a value.
  template <class Take>
  bool each_member(Take take) {
    std::string key;
    for (auto next = json_.next(); !is_over(next); next = json_.next()) {
      if (next != token::key) {
        json_.skip(next);
        continue;
      }
      key = json_.text();
      auto const value = json_.next();
      if (is_over(value)) return false;
      take(key, value);
    }
    return true;
  }
  void read_events();
  void read_members();
  void take_member(std::string const& key, token value);
  void read_devices();
  void read_device();
  void read_distribution();
  void read_own_facts();
  void read_peaks();
  void read_readings();
  void note_end(token ends);
  void note_damage(token ends);
  void note_left_out();
  void add_facts();
  void note(std::string const& line) {
    reading_.outcome.notes.push_back(reading_.job.options.source + " " + line);
  }

  source_reading& reading_;
  trace_text text_;
  json_scanner json_;
  imported_process& to_;
  kineto_events events_;
  bool has_amd_ = false, is_of_gpuprof_ = false;
  char const* other_format_ = nullptr;
};

/// After their `array`.
void kineto_reading::read_events() {
  trace_event event;
  for (auto next = json_.next(); !is_over(next); next = json_.next()) {
    if (next != token::object) {
      json_.skip(next);
    } else if (read_event(json_, event)) {
      if (!is_of_gpuprof_) event.clear_what_exports_add();
      events_.take(event);
    }
  }
}

void kineto_reading::read_members() {
  each_member([&](std::string const& key, token value) { take_member(key, value); });
}

void kineto_reading::take_member(std::string const& key, token value) {
  if (key == "traceEvents" && value == token::array) return read_events();
  if (key == "deviceProperties" && value == token::array) return read_devices();
  if (key == "distributedInfo" && value == token::object) return read_distribution();
  for (auto const& [member, what] : other_formats)
    if (key == member) other_format_ = what;
  if (key == "gpuprof" && value == token::object) {
    events_.is_of_gpuprof();
    return read_own_facts();
  }
  auto const text = json_.text();
  if ((value == token::number || value == token::text) && key == "baseTimeNanoseconds")
    to_.epoch = number_in<std::int64_t>(text);
  if (value == token::number && key == "cuda_driver_version")
    to_.fact("driver.cuda_version", version_of(text));
  if (value == token::text && key == "made_by") is_of_gpuprof_ = text.starts_with("gpuprof ");
  if (value == token::text && key == "host_name") to_.fact("host", text);
  if (value == token::text && key.starts_with("PT_PROFILER_JOB_")) to_.fact("import." + key, text);
  json_.skip(value);
}

void kineto_reading::read_devices() {
  for (auto next = json_.next(); !is_over(next); next = json_.next()) {
    if (next == token::object)
      read_device();
    else
      json_.skip(next);
  }
}

void kineto_reading::read_device() {
  device_record device;
  bool is_of_amd = false;
  std::uint32_t of_a_block = 0;
  if (!each_member([&](std::string const& key, token value) {
        auto const number = value == token::number ? number_in<std::uint64_t>(json_.text()) : 0;
        if (key == "id") device.device = static_cast<device_id>(number);
        if (key == "name" && value == token::text) device.name = to_.name(json_.text());
        if (key == "totalGlobalMem") device.memory_bytes = number;
        if (key == "computeMajor") device.compute_major = static_cast<std::uint32_t>(number);
        if (key == "computeMinor") device.compute_minor = static_cast<std::uint32_t>(number);
        if (key == "numSms") device.sm_count = static_cast<std::uint32_t>(number);
        if (key == "uuid" && value == token::text) device.uuid = to_.name(json_.text());
        for (auto const& [name, limit] : sm_limits)
          if (key == name) device.*limit = size_in(static_cast<std::int64_t>(number));
        if (key == "sharedMemPerBlockOptin")
          of_a_block = size_in(static_cast<std::int64_t>(number));
        if (key == "warpSize") is_of_amd = is_of_amd || number == 64;
        if (key == "name") is_of_amd = is_of_amd || is_name_of_amd(json_.text());
        json_.skip(value);
      }))
    return;
  if (is_of_amd) {
    device.compute_major = device.compute_minor = 0;  // gfx90a says 9.0, which is Hopper
    has_amd_ = true;
  }
  // The driver keeps from each block what one block cannot have of the SM.
  if (of_a_block != 0 && of_a_block < device.shared_bytes_per_sm)
    device.reserved_shared_bytes = device.shared_bytes_per_sm - of_a_block;
  to_.devices.try_emplace(device.device, device);
}

/// Under the names that launchers give to these.
void kineto_reading::read_distribution() {
  each_member([&](std::string const& key, token value) {
    if (value == token::number && key == "rank") to_.fact("environment.RANK", json_.text());
    if (value == token::number && key == "world_size")
      to_.fact("environment.WORLD_SIZE", json_.text());
    if (value == token::text && key == "nccl_version") to_.fact("nccl.version", json_.text());
    json_.skip(value);
  });
}

/// gpuprof export writes the facts of the capture, and what it had lost.
void kineto_reading::read_own_facts() {
  constexpr std::string_view lost = "lost.";
  each_member([&](std::string const& key, token value) {
    if (value == token::array && key == "peaks") {
      read_peaks();
      return;
    }
    if (value == token::array && key == "readings") {
      read_readings();
      return;
    }
    if (value == token::text && !key.starts_with("import.")) to_.fact(key, json_.text());
    if (value == token::number && key.starts_with(lost))
      to_.lost_before(key.substr(lost.size()), number_in<std::uint64_t>(json_.text()));
    json_.skip(value);
  });
}

void kineto_reading::read_peaks() {
  for (auto next = json_.next(); !is_over(next); next = json_.next()) {
    if (next != token::object) {
      json_.skip(next);
      continue;
    }
    peak_record peak;
    if (!each_member([&](std::string const& key, token value) {
          auto const text = json_.text();
          for (auto const& [name, member] : peak_texts)
            if (key == name && value == token::text) peak.*member = to_.name(text);
          for (auto const& [name, member] : peak_figures)
            if (key == name && value == token::number) peak.*member = number_in<double>(text);
          if (key == "device") peak.device = static_cast<device_id>(number_in<std::uint32_t>(text));
          if (key == "limiters") peak.limiters = number_in<std::uint64_t>(text);
          json_.skip(value);
        }))
      return;
    to_.peaks.push_back(peak);
  }
}

/// Each is an array: see append_readings() of the export.
void kineto_reading::read_readings() {
  for (auto next = json_.next(); !is_over(next); next = json_.next()) {
    if (next != token::array) {
      json_.skip(next);
      continue;
    }
    std::array<std::int64_t, 8> said{};
    std::size_t count = 0;
    for (next = json_.next(); !is_over(next); next = json_.next()) {
      if (next == token::number && count < said.size())
        said[count++] = number_in<std::int64_t>(json_.text());
      json_.skip(next);
    }
    read_launch_record one;
    one.correlation = to_.correlation(said[0]);
    one.device = static_cast<device_id>(said[1]);
    one.context = to_.context(said[2]);
    one.group = static_cast<std::uint16_t>(said[3]);
    one.opened = {static_cast<std::uint64_t>(said[4])};
    one.closed = {static_cast<std::uint64_t>(said[5])};
    one.reading = size_in(said[6]);
    one.whole_graph = said[7] != 0;
    to_.readings.push_back(one);
  }
}

void kineto_reading::note_end(token ends) {
  auto& outcome = reading_.outcome;
  if (events_.taken() == 0 && other_format_ != nullptr)
    throw import_failure(reading_.job.options.source + " " + other_format_ +
                         "; nothing is written");
  if (events_.taken() == 0)
    throw import_failure(
        reading_.job.options.source +
        " holds no event of torch.profiler (kernel, gpu_memcpy, cuda_runtime, user_annotation, "
        "...)" +
        (ends == token::damaged
             ? " before it becomes unreadable at character " + std::to_string(json_.offset())
             : std::string()) +
        "; nothing is written");
  note_damage(ends);
  if (ends == token::object || ends == token::array) {
    outcome.lacks_something = true;
    note(
        "holds another trace behind its end, which is not taken: split the file there, at "
        "character " +
        std::to_string(json_.offset()));
    to_.lose("further_traces_in_the_file");
  }
  if (events_.processes().size() > 1)
    note("holds events of " + std::to_string(events_.processes().size()) +
         " processes, which do not say on whose behalf a GPU worked: they become one capture");
  note_left_out();
}

void kineto_reading::note_damage(token ends) {
  auto const& why = text_.failure();
  if (ends != token::damaged && why.empty()) return;
  reading_.outcome.lacks_something = true;
  if (ends != token::damaged)
    return note("is complete, but something in it may be wrong (" + why + ")");
  note((json_.has_ended() ? "was cut at character " : "is damaged at character ") +
       std::to_string(json_.offset()) + (why.empty() ? "" : " (" + why + ")") +
       ": what stands before is taken");
  to_.lose("rest_of_the_file");
}

void kineto_reading::note_left_out() {
  std::string all, others;
  std::uint64_t operators = 0;
  for (auto const& [category, count] : events_.left_out()) {
    auto const text = readable_count(count) + " " + category;
    all += (all.empty() ? "" : ", ") + text;
    // Kineto makes their times up, and records no work of GPUs while it counts.
    if (category == "cuda_profiler_range" && !is_of_gpuprof_)
      note("has hardware counters of " + counted(count, "kernels") +
           " (cuda_profiler_range), which are not taken: it does not say when these kernels ran");
    else if (category == "cpu_op" || category == "Operator")
      operators += count;
    else
      others += (others.empty() ? "what a capture has no place for: " : ", ") + text;
  }
  if (all.empty()) return;
  to_.fact("import.left_out", all);
  if (operators == 0 && others.empty()) return;
  if (operators > 0)
    others += (others.empty() ? "" : "; and ") + counted(operators, "operators") +
              ", which --cpu-ops takes as ranges";
  note("also holds " + others);
}

void kineto_reading::add_facts() {
  to_.fact("import.source", reading_.job.options.source);
  to_.fact("import.format", "Kineto trace");
  // An export of the capture has them only then.
  auto const& left_out = events_.left_out();
  if (auto const known = left_out.find("gpu_user_annotation"); known != left_out.end())
    to_.fact("import.gpu_user_annotations", std::to_string(known->second));
  if (to_.process_id) to_.fact("process.id", std::to_string(*to_.process_id));
  // Times that gpuprof itself has recorded are not judged.
  to_.streams_are_in_order = events_.processes().size() <= 1 && !is_of_gpuprof_;
  if (!has_amd_ && !events_.uses_hip()) return;
  to_.streams_are_in_order = false;
  to_.fact("gpu.vendor", "AMD");
  note("was recorded on GPUs of AMD: hardware counters, peaks and roofs are for those of NVIDIA");
}

}  // namespace

imported_processes read_kineto_trace(source_reading& reading) {
  if (reading.job.options.process)
    throw import_failure(
        "--pid is for databases of nsys: a trace of torch.profiler is of one "
        "process; nothing is written");
  imported_processes made;
  made.push_back(std::make_unique<imported_process>(reading.spool_folder));
  kineto_reading(reading, *made.front()).read();
  return made;
}

}  // namespace gpuprof::host

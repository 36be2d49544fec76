// SPDX-License-Identifier: Apache-2.0
#include "guest/recording/capture_output.hpp"

#include "base/log.hpp"
#include "base/own_descriptor.hpp"
#include "base/process.hpp"
#include "base/readable.hpp"
#include "base/time.hpp"
#include "guest/driver/device_facts.hpp"
#include "guest/driver/nvml.hpp"
#include "guest/nvtx/labels.hpp"
#include "guest/nvtx/name_registry.hpp"
#include "guest/options/run_notes.hpp"
#include "guest/peaks/kernels/kernel_images.hpp"
#include "guest/peaks/store/gpu_key.hpp"
#include "guest/peaks/store/store.hpp"
#include "model/process_rank.hpp"
#include "model/records.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <vector>

extern char** environ;

namespace gpuprof::guest {
namespace {

constexpr std::uint64_t ask_disk_every_ns = 2 * ns_per_second;
constexpr std::uint64_t usual_min_free = std::uint64_t{1} << 30;
constexpr std::uint64_t usual_min_free_percent = 1;
// Part of the limit that is reserved for records that arrive after the capture ends.
constexpr std::uint64_t part_for_the_end = 16;
constexpr std::uint64_t max_for_the_end = 8 << 20;

std::string in_words(std::uint64_t bytes) {
  return readable_bytes(static_cast<double>(bytes));
}

}  // namespace

bool disk_limits::is_due(std::uint64_t monotonic_ns) noexcept {
  if (min_free_ == 0 || monotonic_ns < next_) return false;
  next_ = monotonic_ns + ask_disk_every_ns;
  return true;
}

std::string disk_limits::why_too_large(std::uint64_t file_bytes, bool is_full) const {
  auto const for_the_end = std::min(max_size_ / part_for_the_end, max_for_the_end);
  if (!is_full && (max_size_ == 0 || file_bytes + for_the_end < max_size_)) return {};
  return "its file has " + in_words(file_bytes) + " of the " + in_words(max_size_) +
         " of --max-size";
}

std::string disk_limits::why_too_full(capture::disk_space const& disk) const {
  auto const least = min_free(disk.total);
  if (disk.free >= least) return {};
  return in_words(disk.free) + " are free on its disk, less than the " + in_words(least) +
         " of --min-free-space";
}

std::uint64_t disk_limits::min_free(std::uint64_t total) const noexcept {
  return min_free_.value_or(std::min(usual_min_free, total / 100 * usual_min_free_percent));
}

environment_copy::environment_copy() {
  for (auto** at = environ; at != nullptr && *at != nullptr; ++at) {
    std::string_view const text = *at;
    auto const equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables_.push_back(
        {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))});
  }
}

std::optional<std::string> environment_copy::value_of(std::string_view name) const {
  for (auto const& variable : variables_)
    if (variable.name == name) return variable.value;
  return std::nullopt;
}

namespace {

peak_record row_of(peak_result const& r, int device, std::string const& measured_at) {
  peak_record row;
  row.device = static_cast<device_id>(device);
  row.test = names().intern(r.test);
  row.group = names().intern(r.group);
  row.title = names().intern(r.title);
  row.unit = names().intern(r.unit);
  row.clock = names().intern(r.clock);
  row.per_clock = r.per_clock.value;
  row.per_clock_theory = r.per_clock_theory;
  row.burst = r.burst.value;
  row.burst_spread = r.burst.spread;
  row.burst_sm_clock_mhz = r.burst.chip.sm_clock_mhz;
  row.sustained = r.sustained.value;
  row.sustained_sm_clock_mhz = r.sustained.chip.sm_clock_mhz;
  row.sustained_watts = r.sustained.chip.watts;
  row.theory = r.theory;
  row.limiters = r.burst.chip.limiters | r.sustained.chip.limiters;
  row.method = names().intern(r.method);
  row.operands = names().intern(r.operands);
  row.measured_at = names().intern(r.measured_at.empty() ? measured_at : r.measured_at);
  row.remark = names().intern(r.remark);
  return row;
}

void add_rows(gpu_peaks const& of, int device, std::vector<peak_record>& rows) {
  for (auto const& r : of.results)
    if (r.outcome == peak_outcome::measured) rows.push_back(row_of(r, device, of.measured_at));
}

void say_missing(char const* why) noexcept {
  try {
    log_info(std::string("the capture has no peaks: ") + why);
  } catch (...) {
  }
}

peaks_key key_of(driver_facts const& driver, device_facts const& d, nvml const* library) {
  auto const device = library != nullptr ? library->device(d.uuid) : std::nullopt;
  return peaks::make_key(driver, d, device ? device->facts() : nvml_facts{}, peaks::kernels_hash());
}

/// Returns only tests that were measured. If the store cannot be read, prints one line at level
/// info. Reads files and asks NVML, which takes milliseconds for each GPU; runs nothing on the
/// GPUs. `library` is null without NVML.
std::vector<peak_record> stored_peaks(driver_facts const& driver, nvml const* library) noexcept {
  try {
    std::vector<peak_record> rows;
    auto const folder = peaks::store_folder();
    std::error_code ignored;
    if (folder.empty() || !std::filesystem::exists(folder, ignored)) return rows;
    for (auto const& d : driver.devices) {
      auto const stored = peaks::load_peaks(folder, key_of(driver, d, library));
      if (!stored) {
        say_missing(stored.message().c_str());
      } else if (*stored) {
        add_rows(**stored, d.ordinal, rows);
      }
    }
    return rows;
  } catch (std::exception const& e) {
    say_missing(e.what());
  } catch (...) {
  }
  return {};
}

// The file needs one descriptor. If this few are free, the program needs them more.
constexpr unsigned few_for_a_file = 4;

/// True for variables that identify this process among many.
bool is_of_interest(std::string_view variable) noexcept {
  static constexpr std::string_view others[] = {"LOCAL_RANK", "SLURM_JOB_ID",
                                                "CUDA_VISIBLE_DEVICES"};
  return variable.starts_with("GPUPROF_") || is_rank_variable(variable) ||
         std::find(std::begin(others), std::end(others), variable) != std::end(others);
}

std::string text_of(recorded_calls calls) {
  switch (calls) {
    case recorded_calls::all:
      return "all";
    case recorded_calls::blocking:
      return "blocking";
    default:
      return "none";
  }
}

/// Reads a file in /proc, unless descriptors are scarce.
std::string name_by_the_system(std::uint32_t os_thread) {
  return descriptors_are_scarce() ? std::string() : os_thread_name(os_thread);
}

device_record row_of(device_facts const& d, std::string const& chip) {
  device_record row;
  row.device = static_cast<device_id>(d.ordinal);
  row.name = names().intern(d.name);
  row.uuid = names().intern(d.uuid);
  row.chip = names().intern(chip);
  row.compute_major = static_cast<std::uint32_t>(d.compute_major);
  row.compute_minor = static_cast<std::uint32_t>(d.compute_minor);
  row.sm_count = static_cast<std::uint32_t>(d.sm_count);
  row.max_sm_clock_khz = d.max_sm_clock_khz;
  row.max_memory_clock_khz = d.max_memory_clock_khz;
  row.memory_bus_bits = d.memory_bus_bits;
  row.memory_bytes = d.memory_bytes;
  row.l2_bytes = d.l2_bytes;
  row.pci_bus = names().intern(d.pci_bus);
  row.max_threads_per_sm = d.max_threads_per_sm;
  row.max_blocks_per_sm = d.max_blocks_per_sm;
  row.registers_per_sm = d.registers_per_sm;
  row.shared_bytes_per_sm = d.shared_bytes_per_sm;
  row.reserved_shared_bytes = d.reserved_shared_bytes;
  return row;
}

}  // namespace

gpu_rows read_gpus(cupti_tracer const& tracer) {
  gpu_rows rows;
  auto const fact = [&rows](char const* key, std::string const& value) {
    if (!value.empty()) rows.facts.push_back({names().intern(key), names().intern(value)});
  };
  fact("cupti.path", tracer.library().path);
  fact("cupti.version", cupti_version_text(tracer.library().version));
  fact("trace.api", text_of(tracer.calls_recorded()));
  fact("trace.um", tracer.records_unified_memory() ? "on" : "off");
  auto const driver = load_cuda_driver();
  if (!driver) return rows;
  std::optional<nvml> library;
  auto const may_open = !descriptors_are_scarce();
  if (may_open)
    if (auto opened = nvml::open()) library.emplace(std::move(*opened));
  auto const facts = read_driver_facts(*driver, library ? &*library : nullptr);
  fact("driver.version", facts.version);
  fact("driver.cuda_version", std::to_string(facts.cuda_version / 1000) + "." +
                                  std::to_string(facts.cuda_version % 1000 / 10));
  for (auto const& d : facts.devices)
    rows.devices.push_back(row_of(d, tracer.chip_name(static_cast<std::size_t>(d.ordinal))));
  if (may_open) rows.peaks = stored_peaks(facts, library ? &*library : nullptr);
  return rows;
}

result<std::unique_ptr<capture::writer>> create_capture(settings const& options,
                                                        naming_facts const& facts) {
  constexpr int max_attempts = 30;
  for (int lost_names = 0;; ++lost_names) {
    auto const chosen = choose_capture_path(options, facts, lost_names);
    if (!chosen) return error{chosen.message()};
    auto made = capture::writer::create(chosen->path, chosen->replace
                                                          ? capture::create_mode::overwrite
                                                          : capture::create_mode::fail_if_exists);
    if (made) return made;
    // It cannot be determined if another process took the name: its file may already have been
    // removed again.
    if (lost_names == max_attempts) {
      return error{"nothing is captured: " + made.message() +
                   ". The program is not affected. Choose another place with -o."};
    }
  }
}

void capture_output::choose(std::string const& pattern) {
  std::lock_guard const lock(mutex_);
  chosen_ = pattern;
}

std::string capture_output::path() const {
  std::lock_guard const lock(mutex_);
  return path_;
}

std::string capture_output::why_not_usable() const {
  std::lock_guard const lock(mutex_);
  return why_not_usable_;
}

/// Keeps the first state and its line.
void capture_output::set_unusable(file_state state, std::string const& line) {
  if (this->state() != file_state::usable) return;
  {
    std::lock_guard const lock(mutex_);
    why_not_usable_ = line;
  }
  state_.store(state, std::memory_order_release);
}

/// A step that fails because memory is out is repeated by the next call.
capture::writer* capture_output::open() {
  if (file_ == nullptr && !create()) return nullptr;
  {
    std::lock_guard const lock(mutex_);
    path_ = file_->path();
  }
  if (!std::exchange(is_noted_, true)) note_capture(options_.run_notes, file_->path());
  describe_process();
  return file_.get();
}

bool capture_output::create() {
  auto facts = naming_facts_of_this_process();
  facts.environment = [this](std::string const& name) { return environment_.value_of(name); };
  auto options = options_;
  {
    std::lock_guard const lock(mutex_);
    if (!chosen_.empty()) options.output = chosen_;
  }
  auto made = has_free_descriptors(few_for_a_file)
                  ? create_capture(options, facts)
                  : error{
                        "nothing is captured: the program has no descriptors to spare. It is not "
                        "affected. Raise its limit (ulimit -n)."};
  if (!made) {
    log_error(made.message());
    note_no_capture(options_.run_notes, {});
    set_unusable(file_state::failed, made.message());
    return false;
  }
  file_ = std::move(*made);
  file_->limit_size(options_.max_size_bytes);
  return true;
}

void capture_output::fact(std::string const& key, std::string const& value) {
  if (!value.empty()) file_->add(fact_record{names().intern(key), names().intern(value)});
}

void capture_output::describe_process() {
  fact("gpuprof.version", GPUPROF_VERSION);
  fact("host", host_name());
  fact("process.id", std::to_string(getpid()));
  fact("process.program", program_path());
  fact("process.command_line", command_line());
  for (auto const& label : options_.labels) fact("label." + label.name, label.value);
  for (auto const& variable : environment_.all())
    if (is_of_interest(variable.name)) fact("environment." + variable.name, variable.value);
  file_->add(clock_record{now(), monotonic_ns()});
}

void capture_output::add(std::span<fact_record const> about_gpus) {
  gpus_described_ = true;
  file_->add(about_gpus);
}

void capture_output::write_names() {
  if (file_ == nullptr) return;
  names().for_each_new(names_written_,
                       [this](name_id id, std::string_view text) { file_->add_name(id, text); });
}

// A name given with NVTX has precedence over the system's name.
void capture_output::write_threads() {
  thread_identity fresh[64];
  while (auto const count = new_threads(threads_seen_, fresh)) {
    for (auto const& t : std::span(fresh, count)) {
      auto const label = thread_labels_.find(t.os_thread);
      file_->add(thread_record{
          t.thread, t.os_thread,
          label != thread_labels_.end()
              ? label->second
              : names().intern(name_by_the_system(t.os_thread), name_place::program)});
      threads_.push_back(t);
    }
  }
}

void capture_output::write_labels() {
  for (auto const& category : labels().new_categories(categories_seen_)) file_->add(category);
  for (auto const& label : labels().new_thread_labels(labels_seen_)) {
    thread_labels_[label.os_thread] = label.name;
    for (auto const& t : threads_) {
      if (t.os_thread == label.os_thread) {
        file_->add(thread_record{t.thread, t.os_thread, label.name});
      }
    }
  }
}

void capture_output::flush(named_counters const& counters) {
  if (file_ == nullptr) return;
  write_labels();
  write_threads();
  for (auto const& [name, value] : counters) {
    file_->add(counter_record{names().intern(name), value});
  }
  file_->add(clock_record{now(), monotonic_ns()});
  write_names();
  if (auto const ok = file_->flush(); !ok && !file_->is_full()) {
    auto const line = "the capture is incomplete from here on: " + ok.message() +
                      ". The program is not affected.";
    set_unusable(file_state::failed, line);
    log_error(line);
  }
  judge_size();
}

void capture_output::close() noexcept {
  if (file_ == nullptr) return;
  auto const ok = file_->close();
  if (!ok && !file_->is_full()) log_error("the capture is incomplete: ", ok.message());
}

bool capture_output::wants_space() noexcept {
  return file_ != nullptr && state() == file_state::usable && limits_.is_due(monotonic_ns());
}

void capture_output::judge(capture::disk_space const& disk) {
  end_at_limit(limits_.why_too_full(disk));
}

void capture_output::judge_size() {
  if (file_ != nullptr)
    end_at_limit(limits_.why_too_large(file_->bytes_written(), file_->is_full()));
}

void capture_output::end_at_limit(std::string const& why) {
  if (why.empty() || state() != file_state::usable) return;
  auto const line = "the capture ends here: " + why + ". What was recorded is kept in " + path() +
                    "; the program goes on.";
  set_unusable(file_state::limit_reached, line);
  log_warning(line);
}

}  // namespace gpuprof::guest

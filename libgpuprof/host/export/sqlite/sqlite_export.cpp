// SPDX-License-Identifier: Apache-2.0
#include "base/readable.hpp"
#include "host/export/export_job.hpp"
#include "host/export/interruption.hpp"
#include "host/export/sqlite/sqlite_output.hpp"
#include "host/export/unfinished_output.hpp"

namespace gpuprof::host {
namespace {

/// Creates all tables, also those without rows: nsys' reports query them and are then empty.
void create_tables(database& file) {
  for (auto const* const table : all_sqlite_tables())
    file.run("CREATE TABLE " + std::string(table->name) + " (" + std::string(table->columns) + ")");
}

void add_unfilled_columns(database& file) {
  for (auto const* const table : all_sqlite_tables()) {
    for (auto left = table->unfilled; !left.empty();) {
      auto const comma = left.find(',');
      file.run("ALTER TABLE " + std::string(table->name) + " ADD COLUMN " +
               std::string(left.substr(0, comma)));
      left = comma == std::string_view::npos ? std::string_view{} : left.substr(comma + 1);
    }
  }
}

/// `made` is set to the number of calls that were created from launches.
void write_all(export_job& job, std::string const& path, std::uint64_t& made) {
  sqlite_output to(job, path);
  to.file.interrupt_when([]() noexcept { return interruption::signal() != 0; });
  write_kernels(to);
  write_memory_work(to);
  write_graphs(to);
  write_calls(to);
  write_ranges(to);
  write_enumerations(to);
  write_target(to);
  write_counters_of_gpu(to);
  write_roofline(to);
  write_facts(to);
  write_losses(to);
  made = to.calls.count();
  add_unfilled_columns(to.file);
  if (job.options.index)
    for (auto const statement : sqlite_indexes()) to.file.run(std::string(statement));
  to.file.commit();
}

std::string cannot_write(std::string const& path, std::string const& reason) {
  return "cannot write " + path + ": " + reason +
         "; nothing is left of it, choose another place with --output";
}

export_notes notes_on(export_job& job, std::string const& path, std::uint64_t made) {
  export_notes notes;
  if (made != 0)
    notes.push_back(counted(made, "launches") +
                    " have no call in the capture: a call without length was made for each, named "
                    "\"... (call not recorded)\", because nsys joins ranges to kernels by calls; "
                    "--trace=cuda,nvtx,cuda-api records the calls");
  if (job.trace.process_id() > nsys_terms::largest_process)
    notes.push_back("process " + std::to_string(job.trace.process_id()) +
                    " has a number beyond 24 bits, of which nsys' tables have the lower ones; "
                    "PROCESSES has all of it");
  if (!path.ends_with(".sqlite"))
    notes.push_back("nsys opens files whose names end in .sqlite, which " + path + " does not");
  return notes;
}

}  // namespace

sqlite_output::sqlite_output(export_job& of, std::string const& path)
    : job(of),
      file(path),
      strings((create_tables(file), file), of.names),
      terms(of.trace),
      calls(of, file, strings, terms) {}

result<export_notes> write_sqlite(export_job& job, std::string const& path, bool overwrite) {
  auto file = unfinished_file::create(path, overwrite);
  if (!file) return error{file.message()};
  std::uint64_t made = 0;
  try {
    write_all(job, file->temporary_path(), made);
  } catch (sqlite_failure const& failure) {
    job.advance(0);  // throws if the failure was an interruption
    return error{cannot_write(path, failure.reason)};
  }
  if (auto const done = file->finish(); !done) return error{done.message()};
  return notes_on(job, path, made);
}

made_calls::made_calls(export_job& job, database& into, string_ids& strings,
                       nsys_terms const& terms)
    : strings_(&strings),
      terms_(&terms),
      rows_(into, tables::runtime),
      ids_(ids_of_calls(job.trace.file())) {}

void made_calls::add(timestamp_ns launched, thread_index thread, correlation_id correlation,
                     std::string_view name) {
  auto const on = terms_->global_thread(thread);
  if (!on) return;
  ids_.insert(correlation);
  auto const at = terms_->time(launched);
  rows_.row(at, at, static_cast<int>(api_domain::runtime), on, raw(correlation),
            strings_->of(std::string(name)), 0, 1);
}

string_ids::string_ids(database& into, exported_names& names)
    : names_(&names), rows_(into, tables::string_ids) {
  of(std::string("[Unknown]"));  // gets number 0, as in nsys
}

std::int64_t string_ids::of(std::string const& text) {
  auto const [at, is_new] = ids_.try_emplace(text, static_cast<std::int64_t>(ids_.size()));
  if (is_new) rows_.row(at->second, std::string_view(text));
  return at->second;
}

std::int64_t string_ids::of(name_id name) {
  auto const [at, is_new] = by_name_.try_emplace(name);
  if (is_new) at->second = of(names_->text(name));
  return at->second;
}

string_ids::kernel_names const& string_ids::of(exported_names::kernel const& kernel) {
  auto const [at, is_new] = by_kernel_.try_emplace(&kernel);
  if (is_new) at->second = {of(kernel.demangled), of(kernel.base), of(kernel.mangled)};
  return at->second;
}

nsys_terms::nsys_terms(trace_contents& trace)
    : trace_(&trace),
      origin_(trace.origin()),
      process_(trace.process_id()),
      global_process_(host | std::int64_t{process_ & largest_process} << 24) {
  trace.file().for_each<context_record>([&](std::span<context_record const> contexts) {
    for (auto const& context : contexts) devices_[context.context] = context.device;
  });
}

std::optional<std::int64_t> nsys_terms::global_thread(thread_index thread) const {
  auto const known = raw(thread) == 0 ? 0 : trace_->os_thread(thread);
  return known == 0 ? std::nullopt : std::optional(global_thread(known));
}

device_id nsys_terms::device_of(context_id context) const {
  auto const known = devices_.find(context);
  return known != devices_.end() ? known->second : device_id{};
}

}  // namespace gpuprof::host

// SPDX-License-Identifier: Apache-2.0
// export-parquet is the part of `gpuprof export` that needs Arrow, as a program of its own. It
// talks to the command in lines on stdout, see plugin_words.hpp.
#include "host/export/export_job.hpp"
#include "host/export/interruption.hpp"
#include "host/export/parquet/capture_tables.hpp"
#include "host/export/parquet/database_tables.hpp"
#include "host/export/parquet/plugin_words.hpp"
#include "host/export/parquet/rank_folder.hpp"
#include "host/reading/capture_rank.hpp"

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace gpuprof::host {
namespace {

/// Writes one line. Returns false if the command has ended.
bool say(std::string_view word, std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  std::printf("%.*s %s\n", static_cast<int>(word.size()), word.data(), text.c_str());
  return std::fflush(stdout) == 0;
}

int fail(std::string const& message) {
  say(plugin_words::error, message);
  return 1;
}

/// The line also shows that the program still runs. The command may have ended, or want it to stop.
void advance(std::uint64_t rows) {
  auto const heard = say(plugin_words::rows, std::to_string(rows));
  if (auto const signal = interruption::signal()) throw export_interrupted{signal};
  if (!heard) throw export_interrupted{SIGPIPE};
}

int write_capture(plugin_order const& order) {
  auto opened = capture::reader::open(order.input);
  if (!opened) return fail(opened.message());
  trace_contents trace(std::move(*opened));
  exported_names names(trace);
  export_job job{trace, names, {}, advance};
  auto folder =
      rank_folder::create(order.output, {order.run, rank_or_only_one(trace).rank}, order.overwrite);
  if (!folder) return fail(folder.message());
  std::vector<std::string> missing;
  auto const written =
      write_capture_tables(job, *folder, [&] { return missing = trace.missing(); });
  if (!written) return fail(written.message());
  if (auto const done = folder->finish(); !done) return fail(done.message());
  for (auto const& line : missing) say(plugin_words::missing, line);
  return 0;
}

int run(plugin_order const& order) {
  if (order.what == plugin_order::capture_tables) return write_capture(order);
  auto const written = write_database_tables(order.input, order.output, advance);
  return written ? 0 : fail(written.message());
}

}  // namespace
}  // namespace gpuprof::host

int main(int argc, char** argv) {
  using namespace gpuprof::host;
  std::signal(SIGPIPE, SIG_IGN);
  auto const order = plugin_order::from_words({argv + 1, argv + argc});
  if (!order) {
    std::fprintf(stderr, "export-parquet is started by gpuprof export --type parquet\n");
    return 2;
  }
  interruption const noted;
  try {
    return run(*order);
  } catch (std::bad_alloc const&) {
    return plugin_words::needs_more_memory;
  } catch (export_interrupted const& by) {
    return 128 + by.signal;
  } catch (std::exception const& other) {  // an exception of Arrow
    return fail(other.what());
  }
}

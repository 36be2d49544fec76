// SPDX-License-Identifier: Apache-2.0
#include "host/export/parquet/parquet_program.hpp"

#include "base/process.hpp"
#include "host/export/interruption.hpp"
#include "host/export/parquet/child_program.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <new>

namespace gpuprof {
namespace {

constexpr char how_to_get_it[] =
    "build gpuprof again where CMake finds Arrow: pip install pyarrow==" GPUPROF_PYARROW_VERSION
    ", then cmake -DGPUPROF_PYARROW=FOLDER of that environment; --type csv needs nothing";

constexpr char in_python[] =
    "python3 -c 'import libgpuprof as gp, pyarrow as pa, pyarrow.parquet as pq; "
    "pq.write_table(pa.table(gp.open(\"run.gpuprof\").kernels), \"kernels.parquet\")'";

struct plugin_answer {
  std::string failure;
  std::vector<std::string> missing;
};

void take_line(std::string const& line, export_job& job, plugin_answer& answer) {
  auto const blank = std::min(line.find(' '), line.size());
  auto const word = std::string_view(line).substr(0, blank);
  auto const text = line.substr(std::min(blank + 1, line.size()));
  if (word == plugin_words::rows) {
    std::uint64_t rows = 0;
    std::from_chars(text.data(), text.data() + text.size(), rows);
    job.advance(rows);
  } else if (word == plugin_words::missing) {
    answer.missing.push_back(text);
  } else if (word == plugin_words::error) {
    answer.failure = text;
  }
}

/// What the exit code alone says.
std::string reason_of(int code) {
  if (code == 127)
    return "export-parquet does not start; it was built against Arrow " GPUPROF_ARROW_BUILT
           " and needs the libraries of that version where they were: " +
           std::string(how_to_get_it);
  return "export-parquet ended with " + std::to_string(code) +
         " and said no more; nothing was written, --type csv has the same tables";
}

}  // namespace

result<std::string> parquet_program() {
  auto const beside = std::filesystem::path(program_path()).parent_path();
  for (auto const& place : {beside / GPUPROF_PLUGINS_FROM_BIN, beside}) {
    auto const file = (place / "export-parquet").lexically_normal();
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return file.string();
  }
  return error{
      std::string("this gpuprof was built without its program export-parquet, so it cannot "
                  "write Parquet; the Python packages libgpuprof and pyarrow can: ") +
      in_python + "; or " + how_to_get_it};
}

result<void> run_parquet_program(export_job& job, plugin_order const& order) {
  auto const program = parquet_program();
  if (!program) return error{program.message()};
  auto words = order.words();
  words.insert(words.begin(), *program);
  auto started = child_program::start(words);
  if (!started) return error{started.message() + "; " + how_to_get_it};
  plugin_answer answer;
  started->read([&](std::string const& line) { take_line(line, job, answer); },
                [&] { job.advance(0); });
  auto const code = started->wait();
  if (code == plugin_words::needs_more_memory) throw std::bad_alloc();
  if (auto const signal = interruption::signal(); code != 0 && signal != 0)
    throw export_interrupted{signal};
  if (!answer.failure.empty()) return error{answer.failure};
  if (code != 0) return error{reason_of(code)};
  job.missing = std::move(answer.missing);
  return {};
}

}  // namespace gpuprof

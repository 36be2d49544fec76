// SPDX-License-Identifier: Apache-2.0
#include "host/export/export_job.hpp"

namespace gpuprof::host {
namespace {

constexpr export_type types[] = {
    {"chrome", ".json.gz",
     "HolisticTraceAnalysis, ui.perfetto.dev, chrome://tracing: Kineto's schema", write_chrome},
    {"csv", "", "spreadsheets, pandas, DuckDB: a folder with a file for each table", write_csv},
    {"json", ".json", "scripts: all tables in one document", write_json},
    {"perfetto", ".perfetto-trace", "Perfetto's UI (ui.perfetto.dev), trace_processor",
     write_perfetto},
    {"sqlite", ".sqlite", "nsys stats, nsys analyze, SQL: in the schema of nsys", write_sqlite},
    {"parquet", "",
     "DuckDB, Polars, Spark, pandas: a folder of tables, to which other ranks can be added",
     write_parquet, true},
    {"nsys-recipes", "", "nsys recipe: a folder of reports, to which other ranks can be added",
     write_nsys_recipes, true},
    {"folded", ".folded", "flamegraph.pl, inferno: GPU time of Python stacks", write_folded},
    {"speedscope", ".speedscope.json", "speedscope.app: GPU and CPU time of Python stacks",
     write_speedscope},
    {"pprof", ".pb", "pprof, Pyroscope, Parca: GPU and CPU time of Python stacks", write_pprof},
};

}  // namespace

std::span<export_type const> export_types() noexcept {
  return types;
}

}  // namespace gpuprof::host

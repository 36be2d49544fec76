// gpuprof stats FILE: tables of what a capture holds, with the names and columns of nsys stats.
#include "stats_output.hpp"
#include "stats_reports.hpp"
#include "subcommands.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

namespace gpuprof {
namespace {

struct stats_options {
  std::string file;
  std::vector<std::string> reports = {"nvtx_sum", "cuda_api_sum", "cuda_gpu_kern_sum",
                                      "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum"};
  std::vector<report_format> formats = {report_format::column};
  std::string output = "-";
  bool force_overwrite = false;
  std::string filter_nvtx;
  std::string filter_time;
  report::time_unit unit = report::time_unit::nanoseconds;
};

int fail(int code, std::string const& message) {
  std::fprintf(stderr, "gpuprof stats: %s\n", message.c_str());
  return code;
}

/// "." stands for the capture's own name, as in nsys.
std::string output_base(stats_options const& options) {
  if (options.output != ".") return options.output;
  return std::filesystem::path(options.file).replace_extension().string();
}

int run(stats_options const& options) {
  stats_request request{options.file, {}, options.filter_nvtx, options.filter_time};
  for (auto const& name : options.reports) {
    auto const report = parse_report(name);
    if (!report) return fail(2, report.message());
    request.reports.push_back(*report);
  }
  auto const outcome = make_stats(request);
  if (!outcome.made) return fail(outcome.failure.wrong_request ? 2 : 1, outcome.failure.message);
  auto const written =
      write_reports(outcome.made->reports(), outcome.made->heading(),
                    {options.formats, output_base(options), options.force_overwrite, options.unit});
  return written ? 0 : fail(1, written.message());
}

}  // namespace

void add_stats(CLI::App& app, int& exit_code) {
  auto const options = std::make_shared<stats_options>();
  auto* const stats = app.add_subcommand("stats", "Print tables of what a capture holds");
  stats->footer("Reports: " + report_names() +
                "\nCUDA API reports need a capture made with --trace=cuda-api.");
  stats->add_option("FILE", options->file, "The capture, made by gpuprof profile")->required();
  stats
      ->add_option("-r,--report", options->reports,
                   "NAME[:base|:mangled][,NAME...]: reports to print, kernels listed by full, base "
                   "or mangled name")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  stats
      ->add_option("-f,--format", options->formats,
                   "column, csv or json; a list gives one format to each report")
      ->delimiter(',')
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, report_format>{{"column", report_format::column},
                                               {"csv", report_format::csv},
                                               {"json", report_format::json}}))
      ->default_str("column");
  stats
      ->add_option("-o,--output", options->output,
                   "-: standard output; BASE: files BASE_REPORT.EXTENSION; .: the same beside FILE")
      ->capture_default_str();
  stats->add_flag("--force-overwrite", options->force_overwrite, "Replace existing output files");
  stats->add_option("--filter-nvtx", options->filter_nvtx,
                    "RANGE[@DOMAIN][/INDEX]: only what was launched inside these NVTX ranges");
  stats->add_option(
      "--filter-time", options->filter_time,
      "START/END: only what overlaps this time since the start of the capture (ns, us, ms, s)");
  stats->add_option("--timeunit", options->unit, "ns, us, ms or s: unit of all times")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, report::time_unit>{{"ns", report::time_unit::nanoseconds},
                                                   {"nsec", report::time_unit::nanoseconds},
                                                   {"us", report::time_unit::microseconds},
                                                   {"usec", report::time_unit::microseconds},
                                                   {"ms", report::time_unit::milliseconds},
                                                   {"msec", report::time_unit::milliseconds},
                                                   {"s", report::time_unit::seconds},
                                                   {"sec", report::time_unit::seconds},
                                                   {"seconds", report::time_unit::seconds}}))
      ->default_str("ns");
  stats->callback([options, &exit_code] { exit_code = run(*options); });
}

}  // namespace gpuprof

// SPDX-License-Identifier: Apache-2.0
// The advice that gpuprof analyze prints, from advice written by hand.
#include "host/report/advice_words.hpp"
#include "made_advice.hpp"
#include "support/catch.hpp"
#include "support/golden.hpp"
#include "text/padding.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

using namespace gpuprof;
using namespace gpuprof::host;
using namespace gpuprof::test;

namespace {

std::string text_of(report::advice_report const& report, std::size_t width,
                    report::advice_text_options const& options = {}) {
  std::string text;
  report::write_advice_text(report, options, [&](std::string_view piece) { text += piece; },
                            {width, false});
  return text;
}

nlohmann::json json_of(report::advice_report const& report) {
  std::string text;
  report::write_advice_json(report, [&](std::string_view piece) { text += piece; });
  return nlohmann::json::parse(text);
}

std::vector<std::string> lines_of_text(std::string const& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

report::advice_report with_findings(std::size_t count) {
  auto report = made_frame();
  advice::advice_of_rank alone{"", 10 * second, {}};
  for (std::size_t i = 0; i < count; ++i) {
    auto one = i % 2 == 0 ? product_finding() : waiting_finding();
    one.range = "range " + std::to_string(i);
    one.to_do = std::string(300, 'x') + " " + std::string(300, 'y');
    alone.given.findings.push_back(one);
  }
  report.advice = advice::join(std::span(&alone, 1));
  return report;
}

bool has(std::string const& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE(
    "the text of advice matches the stored pages for a narrow and a wide terminal, and for a "
    "file") {
  check_golden("analyze_80.txt", text_of(made_report(), 80));
  check_golden("analyze_120.txt", text_of(made_report(), 120));
  check_golden("analyze_piped.txt", text_of(made_report(), 0));
  check_golden("analyze_ranks.txt", text_of(made_report_of_ranks(), 100));
}

TEST_CASE("JSON has the path of the replayed steps, and null if there are none") {
  auto report = made_report();
  CHECK(json_of(report)["critical_path"].is_null());
  report.step = "epoch";
  report.paths.steps = 300;
  report.paths.median.steps = 1;
  report.paths.median.length_ns = 70;
  report.paths.median.parts[1].path_ns = 30;  // copies
  report.paths.median.parts[4].path_ns = 40;  // the start of work
  report.paths.slowest.steps = 3;
  report.paths.slowest.length_ns = 90;
  report.paths.slowest.inferred_ns = 5;
  auto const path = json_of(report)["critical_path"];
  CHECK(path["step"] == "epoch");
  CHECK(path["steps"] == 300);
  CHECK(path["median"]["steps"] == 1);
  CHECK(path["median"]["length_ns"] == 70);
  CHECK(path["median"]["copies_ns"] == 30);
  CHECK(path["median"]["start_ns"] == 40);
  CHECK(path["median"]["kernels_ns"] == 0);
  CHECK(path["slowest"]["steps"] == 3);
  CHECK(path["slowest"]["inferred_ns"] == 5);
}

TEST_CASE("no line of advice is wider than the terminal") {
  for (auto const& report : {made_report(), made_report_of_ranks()})
    for (std::size_t const width : {80, 100, 120, 200})
      for (auto const& line : lines_of_text(text_of(report, width)))
        CHECK(text::width_of(line) <= width);
}

TEST_CASE("a page has at most a hundred lines, and says what is not on it") {
  auto const text = text_of(with_findings(40), 80);
  CHECK(lines_of_text(text).size() <= 100);
  CHECK(has(text, "more findings: "));
  CHECK(has(text, "--limit 0 shows them"));
  auto const all = text_of(with_findings(40), 80, {{}, 0});
  CHECK(has(all, "\n40. "));
  CHECK_FALSE(has(all, "more findings"));
  CHECK_FALSE(has(text_of(with_findings(40), 0, {{}, 2}), "\n3. "));
}

TEST_CASE("a fix that an earlier finding asks for is not written twice") {
  auto report = with_findings(3);
  auto const text = text_of(report, 0, {.by = {}, .limit = 0});
  CHECK(has(text, "do     as in 1"));  // of the third: the second is of another rule
  CHECK(!has(text, "do     as in 2"));
}

TEST_CASE("a gain that needs other fixes first says what it is alone") {
  auto report = made_frame();
  advice::advice_of_rank alone{"", 10 * second, {}};
  auto one = product_finding();
  alone.given.findings.push_back(one);
  report.advice = advice::join(std::span(&alone, 1));
  CHECK(!has(text_of(report, 0), "alone it saves"));
  alone.given.findings[0].alone_ns = 0;
  report.advice = advice::join(std::span(&alone, 1));
  CHECK(has(text_of(report, 0), "; only after other fixes: alone it saves nothing"));
}

TEST_CASE("without a finding advice says what bounds the program and how close it is to the roof") {
  auto report = made_frame();
  auto text = text_of(report, 0);
  CHECK(has(text, "No finding above 1.0 % of the run."));
  CHECK(has(text, "How close its kernels are to the roof is not known; needs: --metrics auto."));
  report.roof = advice::roof_distance{0.93, 0.8, {bound_by::kind::dram, {}}};
  text = text_of(report, 0);
  CHECK(has(text, "Kernels reach 93.0 % of the measured roofs"));
  CHECK(has(text, "bound by DRAM."));
  report.roof->known_share = 0.79;
  text = text_of(report, 0);
  CHECK_FALSE(has(text, "93.0 %"));
  CHECK(has(text,
            "How close its kernels are to the measured roofs is not known for 21.0 % of their "));
}

TEST_CASE("the bars of a ledger add up to all of the time") {
  auto const lines = report::ledger_bars(made_times(), 80);
  double percent = 0;
  for (auto const& line : lines)
    if (!has(line, "total")) percent += std::stod(line.substr(line.find('%') - 6));
  CHECK(percent == Approx(100).margin(0.2));
  CHECK(has(lines.back(), "100.0 %"));
  CHECK(has(lines[lines.size() - 2], "other"));
  CHECK(std::none_of(lines.begin(), lines.end(),
                     [](auto const& line) { return has(line, "between queued"); }));
}

TEST_CASE("the greatest causes of idle time stand below the line of their bucket") {
  auto report = made_frame();
  auto const of = time_bucket::launch_bound;
  report.time.causes = {{of, "runs Python", "train.py:61", "", 60, 1.26 * second, 0.6},
                        {of, "waits for the GIL", "train.py:7", "io.py:3", 31, 0.65 * second, 0.31},
                        {of, "sleeps", "", "", 9, 0.19 * second, 0.09}};
  auto const text = text_of(report, 120);
  CHECK(has(text,
            "\n    1.260 s: runs Python at train.py:61; 650 ms: waits for the GIL at train.py:7, "
            "held by io.py:3\n"));
  CHECK_FALSE(has(text, "sleeps"));  // less than a tenth
  CHECK_FALSE(has(text_of(made_frame(), 120), "runs Python"));
  CHECK(causes_of(report.time, time_bucket::synchronization).empty());
}

TEST_CASE("kernels are added up by the kind of their work, without those of less than 1 %") {
  auto report = made_frame();
  CHECK_FALSE(has(text_of(report, 120), "by kind of work"));
  report.time.kinds = {{kernel_kind::moves, 40, 3 * second, 0.6, 2e12, std::nullopt},
                       {kernel_kind::product, 4, 1.97 * second, 0.394, std::nullopt, 0.7},
                       {kernel_kind::sort, 4, 0.03 * second, 0.006, std::nullopt, std::nullopt}};
  CHECK(
      has(text_of(report, 120), "\nKernels by kind of work: moves only 60.0 %, product 39.4 %.\n"));
  auto const json = json_of(report);
  REQUIRE(json["kinds"].size() == 3);
  CHECK(json["kinds"][0]["kind"] == "moves");
  CHECK(json["kinds"][0]["dram_bytes"] == 2e12);
  CHECK(json["kinds"][0]["of_roof"].is_null());
  CHECK(json["kinds"][1]["of_roof"] == 0.7);
}

TEST_CASE("a ledger of shares keeps the largest columns that fit, and the rest is one column") {
  std::vector<report::ledger_line> const lines = {made_line(std::string(90, 'n'), 1),
                                                  made_line("empty", 0)};
  for (std::size_t const width : {40, 60, 80, 120})
    for (auto const& line : report::ledger_shares(lines, "range", width))
      CHECK(text::width_of(line) <= width);
  auto const narrow = report::ledger_shares(lines, "range", 50);
  CHECK(has(narrow[1], "compute"));
  CHECK(has(narrow[1], "other"));
  CHECK_FALSE(has(narrow[1], "up"));
}

TEST_CASE("by range and by step the ledger has a line for each, and says if there are none") {
  CHECK(has(text_of(made_report(), 0, {report::ledger_lines::ranges, {}}), "forward"));
  auto const steps = text_of(made_report(), 0, {report::ledger_lines::steps, {}});
  CHECK(steps.find("step 1") < steps.find("step 0"));  // the slower one first
  auto none = made_frame();
  none.time.steps.clear();
  CHECK(has(text_of(none, 0, {report::ledger_lines::steps, {}}), "nothing to show it by"));
}

TEST_CASE("a gain has one unit and as many digits as its larger end needs") {
  CHECK(report::time_interval({1.2e8, 3.4e8}) == "120 to 340 ms");
  CHECK(report::time_interval({0, 4.56e3}) == "up to 4.56 us");
  CHECK(report::time_interval({0.4e6, 279e6}) == "up to 279 ms");
  CHECK(report::time_interval({12e9, 12e9}) == "12.0 s");
  CHECK(report::time_interval({3, 900}) == "3 to 900 ns");
  CHECK(report::share_interval({0.012, 0.034}) == "1.2 to 3.4 %");
  CHECK(report::evidence_words({"moved", 3.2e9, "B", "counted"}) == "moved 3.20 GB (counted)");
  CHECK(report::evidence_words({"times", 1234567, "", ""}) == "times 1,234,567");
}

TEST_CASE("JSON has everything about a finding") {
  auto const json = json_of(made_report());
  CHECK(json["schema"] == "gpuprof-analyze-1");
  auto const& one = json["findings"][1];
  CHECK(one["rule"] == "sync_point");
  CHECK(one["group"] == "synchronization");
  CHECK(one["potential_gain_ms"]["low"] == 120);
  CHECK(one["of_window"]["high"] == 0.034);
  CHECK(one["evidence"].size() == 3);
  CHECK(one["where"]["call"] == "cudaStreamSynchronize");
  CHECK(json["findings"][0]["changes_results"] == true);
  CHECK(json["findings"][2]["hidden_by_launches"] == true);
  CHECK(json["below_threshold"].size() == 1);
  CHECK(json["not_looked_at"][0]["missing"] == nlohmann::json({"peaks", "explain"}));
  double ns = 0;
  for (auto const& line : json["ledger"]) ns += line["ns"].get<double>();
  CHECK(ns == Approx(10 * second));
  CHECK(json["ranges"][1]["inclusive_ns"]["compute"] >
        json["ranges"][1]["exclusive_ns"]["compute"]);
  CHECK(json["steps"][0]["period_ns"] == 100 * millisecond);
  CHECK(json["steps"][1]["period_ns"].is_null());
}

TEST_CASE("JSON of several ranks has the gain of each") {
  auto const json = json_of(made_report_of_ranks());
  CHECK(json["ranks"].size() == 8);
  auto const& one = json["findings"][1];
  CHECK(one["ranks"].size() == 8);
  CHECK(one["ranks"][3]["potential_gain_ms"]["high"] == 123);
  CHECK(one["device"].is_null());
  CHECK(one["instances"] == 8 * 113);
}

TEST_CASE("CSV has a row for each finding, those below the threshold last") {
  std::string text;
  text::write_csv(report::advice_csv_table(made_report()), {},
                  [&](std::string_view piece) { text += piece; });
  CHECK(text.starts_with("rule,group,severity,what,device,range,kernel,"));
  CHECK(has(text,
            "\nsync_point,synchronization,warning,the GPU idles behind "
            "cudaStreamSynchronize,0,step,,cudaStreamSynchronize,,,,113,120,340,0.012,0.034,,"
            "sums,,synchronization,"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1 + 4 + 1);  // a name has a line end in it
}

TEST_CASE("a rule is described in full, and all of them in a table") {
  auto const* const rule = advice::find_rule("sync_point");
  REQUIRE(rule != nullptr);
  auto const text = report::rule_description(*rule, 80);
  for (auto const part : {rule->name, rule->question}) CHECK(has(text, part));
  for (auto const label : {"fires at", "gain", "ignores", "next"}) CHECK(has(text, label));
  std::size_t rows = 0;
  report::rules_table(advice::all_rules()).each_row([&](text::row const&) { ++rows; });
  CHECK(rows == advice::all_rules().size());
}

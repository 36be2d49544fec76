// SPDX-License-Identifier: Apache-2.0
#include "comparison/comparison_output.hpp"

#include "base/readable.hpp"
#include "host/compare/comparison.hpp"
#include "host/compare/difference.hpp"
#include "host/compare/run_digest.hpp"
#include "output_file.hpp"
#include "terminal.hpp"
#include "text/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host::command {
namespace {

using compare::comparison;
using compare::difference;
using text::cell;
using text::column_kind;

/// Returns the verdict on a line: "worse", "undecided", "new", ....
std::string verdict_text(difference const& line) {
  if (line.how == compare::match_kind::gone || line.how == compare::match_kind::added)
    return std::string(name_of(line.how));
  return std::string(name_of(line.is));
}

struct shown_column {
  text::column of;
  std::function<cell(difference const&, std::deque<std::string>& texts)> value;
};

using optional_number = std::optional<double>;

/// Returns half of the confidence interval, if there is one: the error of the remaining change.
optional_number noise_of(difference const& line) {
  auto const& decides = line.deciding();
  if (line.is == compare::verdict::not_tested) return std::nullopt;
  if (line.base && line.base->window_share) return decides.half_width();
  // As far as the interval reaches from the estimate towards no change: a change beyond it is one.
  return decides.estimate < 0 ? -std::expm1(-decides.half_width())
                              : std::expm1(decides.half_width());
}

optional_number change_of(difference const& line) {
  if (line.base && line.fresh && line.base->window_share)
    return *line.fresh->window_share - *line.base->window_share;
  return line.change;
}

optional_number cost_of(difference const& line) {
  return line.kind == compare::line_kind::finding ? std::nullopt : optional_number(line.cost_ns);
}

std::string geometry_of(difference const& line) {
  if (line.grid.x == 0) return {};
  auto const text = [](extent3 const& of) {
    return std::to_string(of.x) + "," + std::to_string(of.y) + "," + std::to_string(of.z);
  };
  return text(line.grid) + " x " + text(line.block);
}

std::string shown_name(difference const& line) {
  auto const how = std::string(name_of(line.how));
  if (!line.base_name.empty()) return how + ": " + line.base_name + " -> " + line.name;
  auto const geometry = geometry_of(line);
  return line.name + (geometry.empty() ? "" : " <" + geometry + ">");
}

cell number(optional_number value, double scale = 1) {
  return value ? cell(*value * scale) : cell();
}

/// Buckets have a time and no calls, findings have neither.
optional_number of(std::optional<compare::amount> const& side, double compare::amount::*figure) {
  if (!side || (side->window_share && (*side).*figure == 0)) return std::nullopt;
  return (*side).*figure;
}
optional_number of(std::optional<compare::amount> const& side,
                   optional_number compare::amount::*figure) {
  return side ? (*side).*figure : std::nullopt;
}

using figure = std::function<optional_number(difference const&)>;

shown_column numbers(std::string name, column_kind kind, figure const& value, int leave_out = 0,
                     double scale = 1) {
  return {{std::move(name), kind, leave_out},
          [value, scale](difference const& line, auto&) { return number(value(line), scale); }};
}

shown_column words(std::string name, std::function<std::string(difference const&)> const& text,
                   int leave_out = 0) {
  return {{std::move(name), column_kind::text, leave_out},
          [text](difference const& line, std::deque<std::string>& texts) -> cell {
            auto found = text(line);
            if (found.empty()) return {};
            texts.push_back(std::move(found));
            return std::string_view(texts.back());
          }};
}

template <class Member>
figure side_figure(std::optional<compare::amount> difference::*side, Member member) {
  return [=](difference const& line) { return of(line.*side, member); };
}

template <class Member>
figure line_figure(Member difference::*member) {
  return [=](difference const& line) { return optional_number(line.*member); };
}

std::vector<shown_column> columns_to_read(comparison const& about) {
  using compare::amount;
  constexpr double percent = 100;
  auto const each = about.step.empty() ? std::string("Run") : std::string("Step");
  auto const base = &difference::base, fresh = &difference::fresh;
  return {
      numbers("Cost/" + each, column_kind::time, cost_of),
      numbers("Change", column_kind::share, change_of, 0, percent),
      numbers("Noise", column_kind::share, noise_of, 0, percent),
      numbers("Clock", column_kind::share, line_figure(&difference::by_clock), 0, percent),
      numbers("Shared", column_kind::share, line_figure(&difference::shared), 3, percent),
      numbers("By roof", column_kind::share, line_figure(&difference::by_roof), 0, percent),
      words("Verdict", verdict_text),
      numbers("Base", column_kind::time, side_figure(base, &amount::call_ns), 4),
      numbers("New", column_kind::time, side_figure(fresh, &amount::call_ns), 4),
      numbers("Base calls", column_kind::decimal, side_figure(base, &amount::calls), 2),
      numbers("New calls", column_kind::decimal, side_figure(fresh, &amount::calls), 2),
      numbers("Base of roof", column_kind::share, side_figure(base, &amount::of_roof), 1, percent),
      numbers("New of roof", column_kind::share, side_figure(fresh, &amount::of_roof), 1, percent),
      numbers("Base share", column_kind::share, side_figure(base, &amount::window_share), 1,
              percent),
      numbers("New share", column_kind::share, side_figure(fresh, &amount::window_share), 1,
              percent),
      words("Name", shown_name, text::never_left_out)};
}

std::vector<shown_column> columns_of_all(comparison const& about) {
  using compare::amount;
  auto const each = about.step.empty() ? std::string("run") : std::string("step");
  auto const base = &difference::base, fresh = &difference::fresh;
  auto const numeric = [](std::string name, figure const& value) {
    return numbers(std::move(name), column_kind::number, value);
  };
  auto const bound = [](double compare::interval::*end) {
    return [end](difference const& line) -> optional_number {
      auto const& decides = line.deciding();
      if (!decides.is_known()) return std::nullopt;
      return line.base && line.base->window_share ? decides.*end : std::expm1(decides.*end);
    };
  };
  std::vector<shown_column> columns = {
      words("kind", [](difference const& line) { return std::string(name_of(line.kind)); }),
      words("name", [](difference const& line) { return line.name; }),
      words("geometry", geometry_of),
      words("match", [](difference const& line) { return std::string(name_of(line.how)); }),
      words("was", [](difference const& line) { return line.base_name; }),
      words("verdict", [](difference const& line) { return std::string(name_of(line.is)); }),
      numeric("cost_ns_per_" + each, line_figure(&difference::cost_ns)),
      numeric("change", change_of),
      numeric("left", bound(&compare::interval::estimate)),
      numeric("left_low", bound(&compare::interval::low)),
      numeric("left_high", bound(&compare::interval::high)),
      words("noise_from",
            [](difference const& line) {
              return line.deciding().is_known() ? std::string(name_of(line.deciding().from)) : "";
            }),
      numeric("by_clock", line_figure(&difference::by_clock)),
      numeric("shared", line_figure(&difference::shared)),
      numeric("by_roof", line_figure(&difference::by_roof))};
  auto const of_side = [&](std::string const& prefix, auto side) {
    columns.push_back(numeric(prefix + "_call_ns", side_figure(side, &amount::call_ns)));
    columns.push_back(numeric(prefix + "_calls_per_" + each, side_figure(side, &amount::calls)));
    columns.push_back(
        numeric(prefix + "_total_ns_per_" + each, side_figure(side, &amount::total_ns)));
    columns.push_back(numeric(prefix + "_of_roof", side_figure(side, &amount::of_roof)));
    columns.push_back(
        numeric(prefix + "_dram_bytes_per_second", side_figure(side, &amount::dram_rate)));
    columns.push_back(numeric(prefix + "_flops", side_figure(side, &amount::flops)));
    columns.push_back(numeric(prefix + "_window_share", side_figure(side, &amount::window_share)));
  };
  of_side("base", base);
  of_side("new", fresh);
  return columns;
}

text::table table_of(std::vector<shown_column> columns, std::vector<difference const*> lines) {
  text::table table;
  for (auto const& column : columns) table.columns.push_back(column.of);
  table.each_row = [columns = std::move(columns), lines = std::move(lines)](auto const& take) {
    std::deque<std::string> texts;
    text::row row;
    for (auto const* line : lines) {
      texts.clear();
      row.clear();
      for (auto const& column : columns) row.push_back(column.value(*line, texts));
      take(row);
    }
  };
  return table;
}

/// For readers: lines of some kinds, without columns that are empty. The comparison must outlive
/// the table.
text::table table_to_read(comparison const& of, std::span<difference const* const> lines) {
  auto columns = columns_to_read(of);
  std::erase_if(columns, [&](shown_column const& column) {
    std::deque<std::string> texts;
    for (auto const* line : lines)
      if (!std::holds_alternative<std::monostate>(column.value(*line, texts))) return false;
    return true;
  });
  return table_of(std::move(columns), {lines.begin(), lines.end()});
}

/// For programs: all lines in one table, shares as parts of 1.
text::table table_of_all(comparison const& of) {
  std::vector<difference const*> lines;
  for (auto const& line : of.lines) lines.push_back(&line);
  return table_of(columns_of_all(of), std::move(lines));
}

/// A longer text is not readable in a table, and names of templates have thousands of characters.
constexpr std::size_t longest_text = 120;

/// Puts a text on one line and escapes what Markdown or HTML would interpret.
std::string markdown_text(std::string_view text) {
  std::string safe;
  for (char const c : text) {
    auto const byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      safe += ' ';
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      if (std::string_view("|*_`[]\\~#@!").find(c) != std::string_view::npos) safe += '\\';
      safe += c;
    }
  }
  return safe;
}

std::string cell_text(text::cell const& value, text::column_kind kind, text::time_unit unit) {
  std::string text;
  text::append_cell(text, value, kind, unit);
  if (text.size() > longest_text) {
    auto end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end) + "...";
  }
  return markdown_text(text);
}

/// Writes a table in Markdown, for a pull request.
void write_markdown(text::table const& table, text::time_unit unit, text::text_sink const& out) {
  std::string header = "|", line = "|";
  for (auto const& column : table.columns) {
    header += " " + markdown_text(text::header_of(column, unit)) + " |";
    line += text::is_number(column.kind) ? " ---: |" : " --- |";
  }
  out(header + "\n" + line + "\n");
  table.each_row([&](text::row const& row) {
    std::string text = "|";
    for (std::size_t i = 0; i < row.size(); ++i)
      text += " " + cell_text(row[i], table.columns[i].kind, unit) + " |";
    out(text + "\n");
  });
}

using compare::comparison;
using compare::difference;
using compare::line_kind;
using nlohmann::ordered_json;

struct part {
  std::string title;
  std::vector<difference const*> lines;
  std::size_t left_out = 0;
};

part part_of(comparison const& of, std::string title, std::span<line_kind const> kinds,
             std::size_t limit) {
  part found{std::move(title), {}, 0};
  for (auto const& line : of.lines) {
    if (std::find(kinds.begin(), kinds.end(), line.kind) == kinds.end()) continue;
    if (limit > 0 && found.lines.size() >= limit)
      ++found.left_out;
    else
      found.lines.push_back(&line);
  }
  return found;
}

std::vector<part> parts_of(comparison const& of, std::size_t limit) {
  constexpr line_kind ranges[] = {line_kind::run, line_kind::step, line_kind::gpu_time,
                                  line_kind::range};
  constexpr line_kind kernels[] = {line_kind::kernel};
  constexpr line_kind lines[] = {line_kind::line};
  constexpr line_kind modules[] = {line_kind::module};
  constexpr line_kind buckets[] = {line_kind::bucket};
  constexpr line_kind findings[] = {line_kind::finding};
  return {part_of(of, "Run, Steps and Ranges", ranges, limit),
          part_of(of, "Kernels", kernels, limit),
          part_of(of, "Lines of Python", lines, limit),
          part_of(of, "Modules of PyTorch", modules, limit),
          part_of(of, "Time Ledger", buckets, limit),
          part_of(of, "Findings", findings, limit)};
}

void write_to_read(output_file const& out, comparison const& of, compared_sides const& sides,
                   comparison_page const& page) {
  auto const is_markdown = page.format == comparison_format::markdown;
  auto const sink = [&out](std::string_view text) { out.put(text); };
  auto const line_out = [&](std::string const& line) {
    is_markdown ? out.put("- " + markdown_text(line) + "\n") : put_line(out.stream(), line);
  };
  if (is_markdown) out.put("### gpuprof compare\n\n");
  for (auto const& line : headlines_of(of, sides)) line_out(line);
  for (auto const& line : of.remarks) line_out("note: " + line);
  for (auto const& part : parts_of(of, page.limit)) {
    if (part.lines.empty()) continue;
    auto const table = table_to_read(of, part.lines);
    out.put(is_markdown ? "\n**" + part.title + "**\n\n" : "\n ** " + part.title + ":\n\n");
    if (is_markdown)
      write_markdown(table, page.unit, sink);
    else
      text::write_columns(table, page.unit, sink, page_of(out.stream(), page.wide));
    if (part.left_out > 0)
      out.put((is_markdown ? "\n" : " ") + std::string("... and ") + readable_count(part.left_out) +
              " more that cost less; --limit 0 shows all\n");
  }
}

ordered_json side_json(std::span<compare::run_digest const> runs) {
  auto list = ordered_json::array();
  for (auto const& run : runs)
    list.push_back({{"capture", run.path},
                    {"command_line", run.command_line},
                    {"gpus", run.gpus},
                    {"steps", run.step ? ordered_json(run.step->count) : ordered_json()},
                    {"kernel_ns", run.kernel_ns},
                    {"window_ns", run.window_ns},
                    {"ledger_ns", run.ledger_ns},
                    {"ledger_steps", run.ledger_steps},
                    {"lost", run.lost}});
  return list;
}

using compare::comparison;
using compare::difference;
using compare::run_digest;

std::string printed(char const* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string milliseconds(double ns) {
  return printed("%.4g ms", ns / 1e6);
}
std::string percent(double share) {
  return printed("%.1f %%", 100 * std::abs(share));
}

std::string side_line(char const* name, std::span<run_digest const> runs) {
  auto files = runs.front().path;
  if (runs.size() > 1) files += " and " + std::to_string(runs.size() - 1) + " more";
  std::set<std::string> gpus;
  std::uint64_t steps = 0;
  for (auto const& run : runs) {
    gpus.insert(run.gpus.begin(), run.gpus.end());
    if (run.step) steps += run.step->count;
  }
  std::string on;
  for (auto const& gpu : gpus) on += (on.empty() ? "" : ", ") + gpu;
  auto line = std::string(name) + files + ": " + compare::program_of(runs.front());
  if (!on.empty()) line += " on " + on;
  if (steps > 0) line += ", " + readable_count(steps) + " steps";
  return line;
}

std::string slower_or_faster(double share) {
  if (std::abs(share) < 0.0005) return "as long";
  return percent(share) + (share > 0 ? " longer" : " shorter");
}

/// Returns "step: 111.2 -> 117.9 ms, 6.0 % longer, of which 5.1 % clock; what is left: ...: worse".
std::string step_line(difference const& line) {
  auto text = line.name + ": " + milliseconds(line.base->call_ns) + " -> " +
              milliseconds(line.fresh->call_ns) + ", " + slower_or_faster(*line.change);
  if (line.by_clock && std::abs(*line.by_clock) >= 0.0005)
    text += ", of which " + printed("%+.1f %%", 100 * *line.by_clock) + " clock";
  auto const& left = line.deciding();
  if (line.is == compare::verdict::not_tested)
    return text + "; too few repetitions, or too uneven ones, to judge";
  text += "; sure to within " + percent(std::expm1(left.half_width())) + " (" +
          std::string(name_of(left.from)) + "): " + std::string(name_of(line.is));
  return text;
}

}  // namespace

std::string comparison_json(comparison const& of, compared_sides const& sides,
                            std::span<compare::gate_result const> gate) {
  std::string lines;
  text::write_json(table_of_all(of), {}, [&](std::string_view text) { lines += text; });
  auto const number = [](std::optional<double> value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  auto answers = ordered_json::array();
  constexpr char const* words[] = {"passed", "failed", "undecided"};
  for (auto const& answer : gate)
    answers.push_back({{"answer", words[static_cast<int>(answer.answer)]}, {"text", answer.line}});
  ordered_json const all{{"base", side_json(sides.base)},
                         {"new", side_json(sides.fresh)},
                         {"step", of.step.empty() ? ordered_json() : ordered_json(of.step)},
                         {"clock", number(of.clock)},
                         {"shared", number(of.shared)},
                         {"tested", of.tested},
                         {"notes", of.remarks},
                         {"gate", answers}};
  auto text = all.dump(2, ' ', false, ordered_json::error_handler_t::replace);
  text.resize(text.rfind('}'));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text + ",\n  \"lines\": " + lines + "}\n";
}

result<void> write_comparison(comparison const& of, compared_sides const& sides,
                              std::span<compare::gate_result const> gate,
                              comparison_page const& page) {
  std::vector<std::string> read;
  for (auto const& side : {sides.base, sides.fresh})
    for (auto const& run : side) read.push_back(run.path);
  auto out = output_file::open(page.output, page.overwrite, read);
  if (!out) return error{out.message()};
  auto const sink = [&](std::string_view text) { out->put(text); };
  switch (page.format) {
    case comparison_format::csv:
      text::write_csv(table_of_all(of), {}, sink);
      break;
    case comparison_format::tsv:
      text::write_tsv(table_of_all(of), {}, sink);
      break;
    case comparison_format::json:
      sink(comparison_json(of, sides, gate));
      break;
    default:
      write_to_read(*out, of, sides, page);
      return out->finish();
  }
  if (page.format != comparison_format::json)
    for (auto const& line : of.remarks) std::fprintf(stderr, "gpuprof compare: %s\n", line.c_str());
  return out->finish();
}

std::vector<std::string> headlines_of(comparison const& of, compared_sides const& sides) {
  std::vector<std::string> lines = {side_line("base: ", sides.base),
                                    side_line("new:  ", sides.fresh)};
  for (auto const& line : of.lines)
    if (line.kind == compare::line_kind::run && line.change)
      lines.push_back("run:  " + readable_time(line.base->call_ns) + " to " +
                      readable_time(line.fresh->call_ns) + ", " +
                      printed("%+.1f %%", 100 * *line.change));
  for (auto const& line : of.lines)
    if ((line.kind == compare::line_kind::step || line.kind == compare::line_kind::gpu_time) &&
        line.base && line.fresh && line.change)
      lines.push_back(step_line(line));
  std::size_t better = 0, worse = 0, undecided = 0;
  for (auto const& line : of.lines) {
    better += line.is == compare::verdict::better;
    worse += line.is == compare::verdict::worse;
    undecided += line.is == compare::verdict::undecided;
  }
  lines.push_back("beyond noise: " + std::to_string(worse) + " worse, " + std::to_string(better) +
                  " better, " + std::to_string(undecided) + " undecided, of " +
                  readable_count(of.tested) + " lines tested");
  if (of.shared && std::abs(*of.shared) >= compare::least_difference)
    lines.push_back("all kernels together take " + slower_or_faster(*of.shared) +
                    (of.clock ? ", clock taken out" : ": that may be the clock"));
  return lines;
}

}  // namespace gpuprof::host::command

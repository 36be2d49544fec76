// SPDX-License-Identifier: Apache-2.0
#include "host/compare/gate.hpp"

#include "base/nearest_name.hpp"
#include "host/compare/difference.hpp"
#include "model/kernel_pattern.hpp"
#include "model/kernel_patterns.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace gpuprof::host::compare {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100 * share);
  return text;
}

line_kind line_kind_of(clause_kind kind) {
  switch (kind) {
    case clause_kind::run:
      return line_kind::run;
    case clause_kind::step:
      return line_kind::step;
    case clause_kind::gpu:
      return line_kind::gpu_time;
    case clause_kind::range:
      return line_kind::range;
    case clause_kind::line:
      return line_kind::line;
    case clause_kind::module:
      return line_kind::module;
    case clause_kind::bucket:
      return line_kind::bucket;
    case clause_kind::finding:
      return line_kind::finding;
    default:
      return line_kind::kernel;
  }
}

class clause_judge {
 public:
  clause_judge(clause const& of, comparison const& compared, double error)
      : clause_(of), compared_(compared), error_(error) {
    is_of_time_ = of.kind != clause_kind::bucket && of.kind != clause_kind::finding;
    limit_ = std::max(is_of_time_ ? std::log1p(of.limit) : of.limit, least_difference);
  }

  gate_result run() {
    find_lines();
    if (lines_.empty() && clause_.kind == clause_kind::finding && compared_.has_findings)
      return {gate_answer::passed, said("passed: no capture has this finding")};
    if (lines_.empty()) return {gate_answer::undecided, said("not decidable: " + why_none())};
    gate_result worst{gate_answer::passed, {}};
    double worst_estimate = 0;
    for (auto const* line : lines_) {
      auto const judged = judge_line(*line);
      auto const estimate = line->left.estimate;
      auto const is_worse = rank(judged.answer) > rank(worst.answer) ||
                            (judged.answer == worst.answer && estimate > worst_estimate);
      if (!worst.line.empty() && !is_worse) continue;
      worst = judged;
      worst_estimate = estimate;
    }
    if (lines_.size() > 1) worst.line += "; " + std::to_string(lines_.size()) + " lines looked at";
    return {worst.answer, said(worst.line)};
  }

 private:
  static int rank(gate_answer answer) {
    return answer == gate_answer::failed ? 2 : answer == gate_answer::undecided ? 1 : 0;
  }

  std::string said(std::string const& what) const { return clause_.text + ": " + what; }
  void find_lines();
  std::string why_none() const;
  gate_result judge_line(difference const& line) const;
  bool fails(judgment const& judged) const;
  bool passes(judgment const& judged) const;
  std::string figures_of(difference const& line, judgment const& judged) const;
  std::string runs_that_would_do(difference const& line) const;
  double share_of(double estimate) const { return is_of_time_ ? std::expm1(estimate) : estimate; }
  double alpha() const { return error_ / static_cast<double>(lines_.size()); }

  clause const& clause_;
  comparison const& compared_;
  double error_ = 0;  // for the whole clause
  bool is_of_time_ = true;
  double limit_ = 0;  // in the unit of the estimates
  std::vector<difference const*> lines_;
  std::size_t one_sided_ = 0;
};

void clause_judge::find_lines() {
  auto const kind = line_kind_of(clause_.kind);
  kernel_pattern const pattern{clause_.name, true};
  auto const patterns = kernel_patterns::make(std::span(&pattern, 1));
  auto const is_named = [&](difference const& line) {
    if (clause_.kind == clause_kind::run || clause_.kind == clause_kind::step ||
        clause_.kind == clause_kind::gpu)
      return true;
    if (clause_.kind == clause_kind::line) return line.name.find(clause_.name) != std::string::npos;
    if (clause_.kind == clause_kind::module && line.name.starts_with(clause_.name + ": "))
      return true;
    if (clause_.kind != clause_kind::kernel) return line.name == clause_.name;
    return patterns && (patterns->match(line.name) ||
                        (!line.base_name.empty() && patterns->match(line.base_name)));
  };
  double gpu_ns = 0;
  for (auto const& line : compared_.lines)
    if (line.kind == line_kind::kernel && line.base) gpu_ns += line.base->total_ns;
  std::vector<difference const*> tiny;
  for (auto const& line : compared_.lines) {
    if (line.kind != kind || !is_named(line)) continue;
    if (!line.base || !line.fresh) {
      ++one_sided_;
      continue;
    }
    auto const greater = std::max(line.base->total_ns, line.fresh->total_ns);
    auto const is_of_gpu =
        kind == line_kind::kernel || kind == line_kind::line || kind == line_kind::module;
    auto const is_tiny = is_of_gpu && greater < least_share * gpu_ns;
    (is_tiny ? tiny : lines_).push_back(&line);
  }
  if (lines_.empty()) lines_ = std::move(tiny);
}

std::string clause_judge::why_none() const {
  if (one_sided_ > 0) return "what it names is in the captures of one side alone";
  switch (clause_.kind) {
    case clause_kind::run:
      return "the captures do not say how long they are";
    case clause_kind::step:
    case clause_kind::gpu:
      return "no range repeats on both sides; name the step with --step NAME";
    case clause_kind::bucket:
    case clause_kind::finding:
      return "the captures have no such " + std::string(name_of(line_kind_of(clause_.kind)));
    default:
      break;
  }
  std::vector<std::string> names;
  for (auto const& line : compared_.lines)
    if (line.kind == line_kind_of(clause_.kind)) names.push_back(line.name);
  auto const near = clause_.kind == clause_kind::kernel ? "" : nearest_name(clause_.name, names);
  return "no " + std::string(name_of(line_kind_of(clause_.kind))) + " in these captures is it" +
         (near.empty() ? "" : ", did you mean " + near + "?");
}

/// True if the line is worse beyond noise, and by more than the limit.
bool clause_judge::fails(judgment const& judged) const {
  auto const is_above = [this](interval const& of) { return of.low > 0 && of.estimate > limit_; };
  if (is_above(judged.left)) return true;
  return judged.besides.is_known() && is_above(judged.besides) &&
         judged.left.estimate >= least_difference;
}

/// True if the line is not above the limit, and a value above it would have been detected.
bool clause_judge::passes(judgment const& judged) const {
  if (judged.left.estimate > limit_) return false;
  auto const is_sure = [this](interval const& of) {
    return of.is_known() && of.half_width() <= limit_ && of.estimate <= limit_;
  };
  // A line that is surely faster also passes.
  return is_sure(judged.left) || is_sure(judged.besides) || judged.left.high <= limit_;
}

gate_result clause_judge::judge_line(difference const& line) const {
  if (compared_.is_same)
    return {gate_answer::passed, "passed: the base and the new capture are the same file"};
  auto const judged = judge(line.of, alpha());
  if (!judged.left.is_known())
    return {gate_answer::undecided,
            "not decidable: " + line.name +
                (compared_.is_by_roof ? " ran on another GPU, whose roof is not known for it"
                 : clause_.kind == clause_kind::run
                     ? " lasts differently long each time; several captures a side tell"
                     : " has fewer than five repetitions in a capture")};
  auto const figures = figures_of(line, judged);
  if (fails(judged)) return {gate_answer::failed, "failed: " + figures};
  if (passes(judged)) return {gate_answer::passed, "passed: " + figures};
  return {gate_answer::undecided, "not decidable: " + figures + "; " + runs_that_would_do(line)};
}

std::string clause_judge::figures_of(difference const& line, judgment const& judged) const {
  auto const is_by_besides =
      judged.besides.is_known() && !fails({judged.is, judged.left, {}, {}}) &&
      (fails(judged) || judged.besides.half_width() < judged.left.half_width());
  auto const& of = is_by_besides ? judged.besides : judged.left;
  auto text = line.name + " " + percent(share_of(of.estimate)) + " (" + percent(share_of(of.low)) +
              " to " + percent(share_of(of.high)) + "; " + std::string(name_of(of.from)) + ")";
  if (line.by_clock && std::abs(*line.by_clock) >= least_difference)
    text += ", and " + percent(*line.by_clock) + " by the clock";
  if (is_by_besides && line.shared) text += ", and " + percent(*line.shared) + " as all kernels";
  return text;
}

std::string clause_judge::runs_that_would_do(difference const& line) const {
  auto const target = std::max(limit_, line.left.estimate);
  std::size_t needed = 0;
  for (auto const* of : {&line.of.left, &line.of.besides}) {
    auto const runs = runs_needed(*of, alpha(), target);
    if (runs > 0 && (needed == 0 || runs < needed)) needed = runs;
  }
  if (needed == 0) return "a hundred captures a side would not do: noise is too great";
  return std::to_string(needed) + " captures a side would do";
}

gate_result judge_losses(clause const& of, std::span<run_digest const> fresh) {
  std::uint64_t most = 0;
  for (auto const& run : fresh) most = std::max(most, run.lost);
  auto const failed = static_cast<double>(most) > of.limit;
  return {failed ? gate_answer::failed : gate_answer::passed,
          of.text + ": " + (failed ? "failed" : "passed") + ": " + std::to_string(most) +
              " records were lost in a new capture"};
}

}  // namespace

std::vector<gate_result> judge_gate(std::span<clause const> clauses, comparison const& compared,
                                    std::span<run_digest const> fresh) {
  auto const tested = std::count_if(clauses.begin(), clauses.end(),
                                    [](clause const& of) { return of.kind != clause_kind::lost; });
  auto const error = error_rate / static_cast<double>(std::max<std::ptrdiff_t>(tested, 1));
  std::vector<gate_result> answers;
  for (auto const& of : clauses)
    answers.push_back(of.kind == clause_kind::lost ? judge_losses(of, fresh)
                                                   : clause_judge(of, compared, error).run());
  return answers;
}

}  // namespace gpuprof::host::compare

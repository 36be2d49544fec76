// SPDX-License-Identifier: Apache-2.0
#include "host/report/finding_text.hpp"

#include "base/readable.hpp"
#include "host/advice/rule.hpp"
#include "host/report/advice_words.hpp"
#include "text/padding.hpp"

#include <algorithm>

namespace gpuprof::host::report {
namespace {

constexpr std::size_t finding_indent = 4, label_width = 7;
constexpr std::size_t shown_evidence = 2;

/// "where:  in range forward, ..."
class block {
 public:
  explicit block(finding_layout const& layout) : layout_(layout) {}
  void line(std::string_view label, std::string const& text) {
    if (text.empty()) return;
    std::string whole(finding_indent, ' ');
    text::append_padded(whole, label, label_width, false);
    append_wrapped(lines_, whole + text::on_one_line(text), layout_.width,
                   finding_indent + label_width);
  }
  std::vector<std::string>& lines() noexcept { return lines_; }
  /// What a line has for a name that must stay on it.
  std::string name(std::string_view text, std::size_t beside) const {
    auto const used = finding_indent + label_width + beside;
    constexpr std::size_t longest = 160;  // of a file or a pipe too: kernels may have kilobytes
    auto const plain = text::on_one_line(text);
    return text::shortened(plain, layout_.width > used + 12 ? layout_.width - used : longest);
  }

 private:
  finding_layout const& layout_;
  std::vector<std::string> lines_;
};

/// Names of functions and fields keep their spelling.
std::string as_sentence(std::string text) {
  auto const first = std::string_view(text).substr(0, text.find(' '));
  auto const is_word = std::all_of(first.begin(), first.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; });
  if (!text.empty() && is_word) text[0] = static_cast<char>(text[0] - ('a' - 'A'));
  return text;
}

std::string heading_of(std::size_t number, advice::finding const& one,
                       finding_layout const& layout) {
  auto const rule = " [" + std::string(one.rule) + "]";
  std::string text;
  text::append_padded(text, std::to_string(number) + ". ", finding_indent, true);
  auto const what = as_sentence(text::on_one_line(one.what));
  auto const beside = text.size() + rule.size();
  text += layout.width > beside + 20 ? text::shortened(what, layout.width - beside) : what;
  text += rule;
  return layout.bold ? "\x1b[1m" + text + "\x1b[0m" : text;
}

std::string gain_of(advice::joined_finding const& of) {
  if (of.ns.high <= 0)
    return of.one.is_hidden_by_launches ? "none alone: launches hold the program, not this kernel"
                                        : "none in time";
  auto text = time_interval(of.ns) + " (" + share_interval(of.share) +
              (of.ranks.size() > 1 ? " of the run of a rank)" : " of the run)");
  if (of.one.is_hidden_by_launches)
    text += "; the program waits for its launches: sure only once these are faster";
  return text;
}

/// "on 7 of 8 ranks, 120 ms (rank 3) to 140 ms (rank 5) at best"
std::string ranks_of(advice::joined_finding const& of, std::size_t all) {
  if (all < 2 || of.ranks.empty()) return {};
  auto const [least, greatest] = std::minmax_element(
      of.ranks.begin(), of.ranks.end(),
      [](auto const& a, auto const& b) { return a.gain.high_ns < b.gain.high_ns; });
  auto const figure = [](advice::gain_of_rank const& rank) {
    return readable_time(rank.gain.high_ns) + " (rank " + rank.rank + ")";
  };
  auto text = "on " + std::to_string(of.ranks.size()) + " of " + std::to_string(all) + " ranks";
  if (greatest->gain.high_ns <= 0) return text;
  return text + ", " +
         (of.ranks.size() == 1 ? figure(*least) : figure(*least) + " to " + figure(*greatest)) +
         " at best";
}

std::string where_of(advice::finding const& one, std::size_t ranks, block const& layout) {
  std::vector<std::string> parts;
  if (!one.range.empty()) parts.push_back("range " + layout.name(one.range, 6));
  if (!one.call.empty()) parts.push_back(layout.name(one.call, 0));
  if (one.device && ranks < 2) parts.push_back("GPU " + std::to_string(raw(*one.device)));
  if (one.instances > 0) parts.push_back(counted(one.instances, "times"));
  std::string text;
  for (auto const& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string why_of(advice::finding const& one) {
  std::string text;
  for (std::size_t i = 0; i < std::min(shown_evidence, one.because.size()); ++i)
    text += (i == 0 ? "" : ", ") + evidence_words(one.because[i]);
  return text;
}

std::string next_of(std::string_view rule_name) {
  auto const* const rule = advice::find_rule(rule_name);
  return rule != nullptr ? std::string(rule->next) : std::string();
}

}  // namespace

void append_wrapped(std::vector<std::string>& lines, std::string_view text, std::size_t width,
                    std::size_t indented) {
  auto const broken = text::wrapped(text, width, indented);
  for (std::size_t begin = 0; begin <= broken.size();) {
    auto const end = std::min(broken.find('\n', begin), broken.size());
    lines.push_back(broken.substr(begin, end - begin));
    begin = end + 1;
  }
}

std::vector<std::string> finding_text(std::size_t number, advice::joined_finding const& of,
                                      finding_layout const& layout) {
  auto const& one = of.one;
  block text(layout);
  text.lines().push_back(heading_of(number, one, layout));
  append_wrapped(text.lines(), "    potential gain " + gain_of(of), layout.width,
                 finding_indent + label_width);
  text.line("ranks", ranks_of(of, layout.ranks));
  text.line("kernel", text.name(one.kernel, 0));
  text.line("where", where_of(one, layout.ranks, text));
  text.line("why", why_of(one));
  text.line("do",
            one.to_do + (one.changes_results ? " Changes results in their last digits." : ""));
  text.line("next", next_of(one.rule));
  return std::move(text.lines());
}

}  // namespace gpuprof::host::report

// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"
#include "host/compare/gate.hpp"
#include "model/kernel_pattern.hpp"
#include "model/kernel_patterns.hpp"

#include <array>
#include <charconv>
#include <optional>

namespace gpuprof::host::compare {
namespace {

struct kind_word {
  std::string_view word;
  clause_kind kind;
  bool has_name;
  bool is_share;
};
constexpr std::array<kind_word, 10> words = {{{"run", clause_kind::run, false, true},
                                              {"step", clause_kind::step, false, true},
                                              {"gpu", clause_kind::gpu, false, true},
                                              {"range", clause_kind::range, true, true},
                                              {"kernel", clause_kind::kernel, true, true},
                                              {"line", clause_kind::line, true, true},
                                              {"module", clause_kind::module, true, true},
                                              {"bucket", clause_kind::bucket, true, true},
                                              {"finding", clause_kind::finding, true, true},
                                              {"lost", clause_kind::lost, false, false}}};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

struct limit_text {
  double number = 0;
  bool is_percent = false;
};

std::optional<limit_text> limit_of(std::string_view text) {
  text = trimmed(text);
  limit_text found;
  if (text.ends_with('%')) {
    found.is_percent = true;
    text = trimmed(text.substr(0, text.size() - 1));
  }
  auto const* const end = text.data() + text.size();
  auto const read = std::from_chars(text.data(), end, found.number, std::chars_format::fixed);
  if (read.ec != std::errc{} || read.ptr != end || found.number < 0) return std::nullopt;
  return found;
}

/// Returns the end of the first clause: a comma after ">NUMBER" or ">NUMBER%", or the end of the
/// text.
std::size_t end_of_clause(std::string_view text) {
  for (auto comma = text.find(','); comma != text.npos; comma = text.find(',', comma + 1)) {
    auto const above = text.rfind('>', comma);
    if (above != text.npos && limit_of(text.substr(above + 1, comma - above - 1))) return comma;
  }
  return text.size();
}

std::string known_words() {
  std::string all;
  for (auto const& each : words)
    all += (all.empty() ? "" : ", ") + std::string(each.word) + (each.has_name ? ":NAME" : "");
  return all;
}

error refuse(std::string_view clause, std::string const& why) {
  return error{"'" + std::string(clause) + "' is no clause of a gate: " + why};
}

result<kind_word> kind_of(std::string_view text, std::string_view word) {
  std::vector<std::string> names;
  for (auto const& each : words) {
    if (each.word == word) return each;
    names.emplace_back(each.word);
  }
  auto const near = nearest_name(word, names);
  return refuse(text, "there is no '" + std::string(word) + "'" +
                          (near.empty() ? "" : ", did you mean " + near + "?") +
                          "; clauses are of " + known_words());
}

result<clause> parse_clause(std::string_view text) {
  auto const above = text.rfind('>');
  if (above == text.npos)
    return refuse(text, "it has no limit; write " + std::string(text) + ">3%");
  auto const limit = limit_of(text.substr(above + 1));
  if (!limit)
    return refuse(
        text, "'" + std::string(trimmed(text.substr(above + 1))) + "' is no number; write 3% or 0");
  auto const subject = trimmed(text.substr(0, above));
  auto const colon = subject.find(':');
  auto const kind = kind_of(text, trimmed(subject.substr(0, colon)));
  if (!kind) return error{kind.message()};
  clause found{kind->kind, std::string(text), {}, limit->number};
  if (colon != subject.npos) found.name = trimmed(subject.substr(colon + 1));
  auto const word = std::string(kind->word);
  if (kind->has_name && found.name.empty())
    return refuse(text, "it names none; write " + word + ":NAME>3%");
  if (!kind->has_name && colon != subject.npos)
    return refuse(text, word + " takes no name; write " + word + ">3%");
  if (kind->is_share != limit->is_percent)
    return refuse(text, kind->is_share ? "the limit is a percentage; write 3%"
                                       : "the limit is a number of records; write 0");
  if (kind->is_share) found.limit /= 100;
  if (found.kind == clause_kind::kernel) {
    kernel_pattern const pattern{found.name, true};
    auto const compiled = kernel_patterns::make(std::span(&pattern, 1));
    if (!compiled) return refuse(text, compiled.message());
  }
  return found;
}

}  // namespace

result<std::vector<clause>> parse_gate(std::string_view text) {
  std::vector<clause> clauses;
  while (!trimmed(text).empty()) {
    auto const end = end_of_clause(text);
    auto parsed = parse_clause(trimmed(text.substr(0, end)));
    if (!parsed) return error{parsed.message()};
    clauses.push_back(*std::move(parsed));
    text = end < text.size() ? text.substr(end + 1) : std::string_view{};
  }
  if (clauses.empty()) return error{"the gate has no clause; write for example step>3%"};
  return clauses;
}

}  // namespace gpuprof::host::compare

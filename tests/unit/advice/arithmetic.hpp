// SPDX-License-Identifier: Apache-2.0
// Reads the arithmetic of a finding as a person would: its products must come to the gain of the
// rule, and its last figures must be the gain of the finding.
#pragma once

#include "host/advice/finding.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <regex>
#include <string>
#include <string_view>

namespace gpuprof::test {
using namespace host;

/// Evaluates "794 ms x (1 - 24 / 132) x 1.1 (blocks differ)". Units scale; words in parentheses are
/// left out.
class expression {
 public:
  explicit expression(std::string_view text) : rest_(text) {}

  /// Nothing if the text is not an expression from its first character to its last.
  std::optional<double> value() {
    auto const found = sum();
    skip_blanks();
    return found && rest_.empty() ? found : std::nullopt;
  }
  bool has_operator() const noexcept { return has_operator_; }

 private:
  void skip_blanks() {
    while (rest_.starts_with(' ')) rest_.remove_prefix(1);
  }
  bool take(std::string_view word) {
    skip_blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  void skip_words() {
    skip_blanks();
    std::match_results<std::string_view::const_iterator> words;
    static std::regex const in_parentheses(R"(\([A-Za-z][^()]*\))");
    if (std::regex_search(rest_.begin(), rest_.end(), words, in_parentheses,
                          std::regex_constants::match_continuous))
      rest_.remove_prefix(static_cast<std::size_t>(words.length()));
  }
  std::optional<double> sum() {
    auto left = product();
    while (left) {
      auto const is_minus = take("- ");
      if (!is_minus && !take("+ ")) break;
      auto const right = product();
      if (!right) return std::nullopt;
      has_operator_ = true;
      left = is_minus ? *left - *right : *left + *right;
    }
    return left;
  }
  std::optional<double> product() {
    auto left = factor();
    while (left) {
      skip_words();
      auto const divides = take("/ ");
      if (!divides && !take("x ")) break;
      auto const right = factor();
      if (!right) return std::nullopt;
      has_operator_ = true;
      left = divides ? *left / *right : *left * *right;
    }
    return left;
  }
  std::optional<double> factor() {
    if (take("max(")) {
      auto const one = sum();
      auto const other = one && take(", ") ? sum() : std::nullopt;
      return other && take(")") ? std::optional(std::max(*one, *other)) : std::nullopt;
    }
    if (take("(")) {
      auto const inside = sum();
      return inside && take(")") ? inside : std::nullopt;
    }
    skip_blanks();
    std::match_results<std::string_view::const_iterator> read;
    static std::regex const figure(
        R"((\d+(?:\.\d+)?)(?: (ns|us|ms|s|%|[PTGMk]?(?:FLOP/s|B/s|B))(?![A-Za-z]))?)");
    if (!std::regex_search(rest_.begin(), rest_.end(), read, figure,
                           std::regex_constants::match_continuous))
      return std::nullopt;
    auto const number = std::atof(read[1].str().c_str());
    auto const unit = read[2].str();
    rest_.remove_prefix(static_cast<std::size_t>(read.length()));
    return number * scale_of(unit);
  }
  static double scale_of(std::string const& unit) {
    if (unit.empty() || unit == "ns") return 1;
    if (unit == "us") return 1e3;
    if (unit == "ms") return 1e6;
    if (unit == "s") return 1e9;
    if (unit == "%") return 0.01;
    auto const prefix = std::string_view("kMGTP").find(unit.front());
    return prefix == std::string_view::npos ? 1 : std::pow(1e3, static_cast<double>(prefix + 1));
  }

  std::string_view rest_;
  bool has_operator_ = false;
};

/// "0 to 650 ms" at the end of a text, in nanoseconds.
inline std::optional<advice::time_gain> gain_at_end(std::string const& text) {
  static std::regex const ending(
      R"((?:: |= |at least )(0|\d[\d.]* (?:ns|us|ms|s))(?: to (0|\d[\d.]* (?:ns|us|ms|s)))?(?:, for [a-z ]+)?$)");
  std::smatch found;
  if (!std::regex_search(text, found, ending)) return std::nullopt;
  auto const low = expression(found[1].str()).value();
  auto const high = found[2].matched ? expression(found[2].str()).value() : low;
  return advice::time_gain{*low, *high};
}

/// Times and factors have two or three digits. `of` is the greatest figure: a difference of two
/// that are nearly equal has fewer.
inline bool reads_as(double stated, double exact, double of = 0) {
  return std::abs(stated - exact) <= 0.06 * std::max(stated, exact) + 0.006 * of + 1;
}

/// What a rule computed: the last "= EXPRESSION" in front of its "; low: ..." and "; gain: ...".
inline std::optional<double> computed_by_rule(std::string const& text) {
  auto const ends = text.find("; ");
  auto const rule = text.substr(0, ends);
  auto const equals = rule.rfind(" = ");
  if (equals == std::string::npos) return std::nullopt;
  expression computed(std::string_view(rule).substr(equals + 3));
  auto const value = computed.value();
  return computed.has_operator() ? value : std::nullopt;
}

/// Returns how the figures of a finding's arithmetic fail to lead to its gain; empty if they do.
inline std::string fault_of_arithmetic(advice::finding const& one) {
  auto const& text = one.arithmetic;
  auto const says = [&](char const* words) { return text.find(words) != std::string::npos; };
  if (one.gain.high_ns <= 0 && (says("no gain") || says("no shorter"))) return {};
  auto const stated = gain_at_end(text);
  if (!stated) return "it does not end with a gain";
  // The end of a replay's products is its low gain.
  if (!says(" shorter at best ") || says("; at most ")) {
    if (!reads_as(stated->high_ns, one.gain.high_ns)) return "it ends with another high gain";
    if (!reads_as(stated->low_ns, one.gain.low_ns)) return "it ends with another low gain";
  }
  auto const of_rule = text.substr(text.starts_with("the worst: ") ? 11 : 0);
  auto const begin = of_rule.find("; gain: ");
  auto const computed = computed_by_rule(of_rule);
  if (begin == std::string::npos || !computed) return {};
  auto const claimed = gain_at_end(of_rule.substr(0, of_rule.find("; ", begin + 2)));
  if (!claimed) return "the rule states no gain";
  return reads_as(*computed, claimed->high_ns) ? "" : "its product is another high gain";
}

inline void check_arithmetic(advice::finding const& one) {
  INFO(one.rule << ": " << one.arithmetic);
  INFO("gain: " << one.gain.low_ns << " to " << one.gain.high_ns << " ns");
  CHECK(fault_of_arithmetic(one) == "");
}

}  // namespace gpuprof::test

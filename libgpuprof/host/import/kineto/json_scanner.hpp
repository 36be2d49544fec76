// SPDX-License-Identifier: Apache-2.0
// Splits JSON into tokens while reading: files of gigabytes need one megabyte of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Profilers write text that violates the standard: NaN, bytes that are not UTF-8, control
/// characters in strings. So tokens are accepted leniently, and only text that cannot be split ends
/// the reading.
class json_scanner {
 public:
  enum class token { object, array, end, key, text, number, word, finished, damaged };

  /// `read` fills the span from its beginning and returns the number of bytes; 0 at the end.
  explicit json_scanner(std::function<std::size_t(std::span<char>)> read);

  /// `end` ends an object or array; `word` is null, true, NaN or similar.
  token next();
  /// The text of a key, string (without escapes), number or word. Valid until next().
  std::string_view text() const noexcept { return text_; }
  /// Skips the value of a key, or an element, with all that it contains. `first` is its first
  /// token.
  void skip(token first);
  /// True at the end of the text.
  bool has_ended() const noexcept { return at_ == end_; }
  /// Position in the text, in bytes from its beginning.
  std::uint64_t offset() const noexcept { return before_ + at_; }

 private:
  bool fill();  // keeps the text from keep_ on; false at the end
  int peek();   // the next character that is not white space; -1 at the end
  token string_token();
  token plain_token();
  bool take_escape();
  bool take_hexadecimal(std::uint32_t& code);  // on failure nothing is consumed
  std::uint32_t whole_character(std::uint32_t first);
  token open(char kind, token result);
  token close(char kind);
  token damage() { return finished_ = token::damaged; }

  std::function<std::size_t(std::span<char>)> read_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0, keep_ = 0;
  std::uint64_t before_ = 0;  // bytes before the buffer
  std::string nesting_;       // the open { and [
  bool key_next_ = false;
  token finished_ = token::finished;
  std::string unescaped_;
  std::string_view text_;
};

/// True at the end of an object or array, or of the text.
constexpr bool is_over(json_scanner::token of) noexcept {
  using enum json_scanner::token;
  return of == end || of == finished || of == damaged;
}

}  // namespace gpuprof::host

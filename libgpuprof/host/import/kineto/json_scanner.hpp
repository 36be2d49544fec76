// SPDX-License-Identifier: Apache-2.0
// Takes JSON apart into tokens while it is read: files of gigabytes in a megabyte of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof::host {

/// Profilers write what no standard allows: NaN, bytes that are no UTF-8, control characters within
/// strings. Tokens are therefore taken as they come, and only what cannot be told apart is an end.
class json_scanner {
 public:
  enum class token { object, array, end, key, text, number, word, finished, damaged };

  /// `read` fills a part of the span from its beginning; 0: there is no more.
  explicit json_scanner(std::function<std::size_t(std::span<char>)> read);

  /// `end` of an object or array; `word` is null, true, NaN and the like.
  token next();
  /// Of a key, text (without escapes), number or word. Until next().
  std::string_view text() const noexcept { return text_; }
  /// What follows a key, or an element, is passed over with all it holds. `first` was its token.
  void skip(token first);
  /// Nothing follows.
  bool has_ended() const noexcept { return at_ == end_; }
  /// Of the text, from its beginning.
  std::uint64_t offset() const noexcept { return before_ + at_; }

 private:
  bool fill();  // keeps what begins at keep_; false: no more
  int peek();   // the next character that is not white; -1: no more
  token string_token();
  token plain_token();
  bool take_escape();
  bool take_hexadecimal(std::uint32_t& code);  // else nothing is taken
  std::uint32_t whole_character(std::uint32_t first);
  token open(char kind, token result);
  token close(char kind);
  token damage() { return finished_ = token::damaged; }

  std::function<std::size_t(std::span<char>)> read_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0, keep_ = 0;
  std::uint64_t before_ = 0;  // characters before the buffer
  std::string nesting_;       // of { and [
  bool key_next_ = false;
  token finished_ = token::finished;
  std::string unescaped_;
  std::string_view text_;
};

/// What no further element of an object or array follows.
constexpr bool is_over(json_scanner::token of) noexcept {
  using enum json_scanner::token;
  return of == end || of == finished || of == damaged;
}

}  // namespace gpuprof::host

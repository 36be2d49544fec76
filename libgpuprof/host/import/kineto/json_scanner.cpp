// SPDX-License-Identifier: Apache-2.0
#include "host/import/kineto/json_scanner.hpp"

#include <cstring>

namespace gpuprof::host {
namespace {

constexpr std::size_t first_buffer = 1 << 20;
constexpr std::size_t longest_string = 64 << 20;
constexpr std::size_t deepest = 1024;

bool is_white(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool is_plain(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

void append_utf8(std::string& out, std::uint32_t code) {
  auto const tail = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    tail(6), tail(0);
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

json_scanner::json_scanner(std::function<std::size_t(std::span<char>)> read)
    : read_(std::move(read)), buffer_(first_buffer) {}

bool json_scanner::fill() {
  std::memmove(buffer_.data(), buffer_.data() + keep_, end_ - keep_);
  before_ += keep_;
  at_ -= keep_;
  end_ -= keep_;
  keep_ = 0;
  if (end_ == buffer_.size()) {
    if (buffer_.size() >= longest_string) return false;
    buffer_.resize(2 * buffer_.size());
  }
  auto const count = read_(std::span(buffer_).subspan(end_));
  end_ += count;
  return count > 0;
}

int json_scanner::peek() {
  for (;;) {
    while (at_ < end_ && is_white(buffer_[at_])) ++at_;
    keep_ = at_;
    if (at_ < end_) return static_cast<unsigned char>(buffer_[at_]);
    if (!fill()) return -1;
  }
}

json_scanner::token json_scanner::open(char kind, token result) {
  if (nesting_.size() == deepest) return damage();
  nesting_ += kind;
  key_next_ = kind == '{';
  return result;
}

json_scanner::token json_scanner::close(char kind) {
  if (nesting_.empty() || nesting_.back() != kind) return damage();
  nesting_.pop_back();
  key_next_ = false;
  return token::end;
}

json_scanner::token json_scanner::next() {
  if (finished_ == token::damaged) return finished_;
  for (;;) {
    auto const c = peek();
    if (c < 0) return nesting_.empty() ? token::finished : damage();
    if (c == '"') return string_token();
    if (is_plain(static_cast<char>(c))) return plain_token();
    ++at_;
    switch (c) {
      case ',':
        key_next_ = !nesting_.empty() && nesting_.back() == '{';
        continue;
      case ':':
        continue;
      case '{':
        return open('{', token::object);
      case '[':
        return open('[', token::array);
      case '}':
        return close('{');
      case ']':
        return close('[');
      case 0xef:  // byte order mark of UTF-8
      case 0xbb:
      case 0xbf:
        if (nesting_.empty()) continue;
        return damage();
      default:
        return damage();
    }
  }
}

bool json_scanner::take_hexadecimal(std::uint32_t& code) {
  while (end_ - at_ < 4)
    if (!fill()) return false;
  code = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    auto const c = static_cast<unsigned char>(buffer_[at_ + i]);
    auto const digit = c >= '0' && c <= '9'   ? c - '0'
                       : c >= 'a' && c <= 'f' ? c - 'a' + 10
                       : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                              : 16;
    if (digit == 16) return false;
    code = code << 4 | static_cast<std::uint32_t>(digit);
  }
  at_ += 4;
  return true;
}

/// Reads what follows a backslash.
bool json_scanner::take_escape() {
  if (at_ == end_ && !fill()) return false;
  auto const c = buffer_[at_++];
  constexpr std::string_view letters = "bfnrt", meanings = "\b\f\n\r\t";
  if (auto const known = letters.find(c); known != std::string_view::npos) {
    unescaped_ += meanings[known];
    return true;
  }
  if (c != 'u') {
    unescaped_ += c;
    return true;
  }
  std::uint32_t code = 0;
  if (!take_hexadecimal(code)) {  // a Windows path, "C:\users", that was not escaped
    unescaped_ += "\\u";
    return true;
  }
  append_utf8(unescaped_, code >= 0xd800 && code < 0xe000 ? whole_character(code) : code);
  return true;
}

/// Returns the character that begins with this surrogate, or the replacement character if the
/// second half is missing.
std::uint32_t json_scanner::whole_character(std::uint32_t first) {
  constexpr std::uint32_t replacement = 0xfffd;
  while (end_ - at_ < 6)
    if (!fill()) return replacement;
  if (first >= 0xdc00 || buffer_[at_] != '\\' || buffer_[at_ + 1] != 'u') return replacement;
  std::uint32_t second = 0;
  at_ += 2;
  if (take_hexadecimal(second) && second >= 0xdc00 && second < 0xe000)
    return 0x10000 + ((first & 0x3ff) << 10 | (second & 0x3ff));
  at_ -= 2;
  return replacement;
}

json_scanner::token json_scanner::string_token() {
  auto const kind = key_next_ ? token::key : token::text;
  key_next_ = false;
  keep_ = at_++;
  unescaped_.clear();
  auto from = at_ - keep_;  // relative to keep_, because fill() moves the buffer
  bool has_escapes = false;
  for (;;) {
    while (at_ < end_ && buffer_[at_] != '"' && buffer_[at_] != '\\') ++at_;
    if (at_ == end_) {
      if (!fill()) return damage();
      continue;
    }
    auto const piece = std::string_view(buffer_.data() + keep_ + from, at_ - keep_ - from);
    if (buffer_[at_++] == '"') {
      if (has_escapes) unescaped_ += piece;
      text_ = has_escapes ? std::string_view(unescaped_) : piece;
      return kind;
    }
    has_escapes = true;
    unescaped_ += piece;
    if (!take_escape()) return damage();
    from = at_ - keep_;
  }
}

json_scanner::token json_scanner::plain_token() {
  keep_ = at_;
  do {
    while (at_ < end_ && is_plain(buffer_[at_])) ++at_;
  } while (at_ == end_ && fill());
  text_ = std::string_view(buffer_.data() + keep_, at_ - keep_);
  auto const c = text_.size() > 1 && text_.front() == '-' ? text_[1] : text_.front();
  return c >= '0' && c <= '9' ? token::number : token::word;
}

void json_scanner::skip(token first) {
  if (first != token::object && first != token::array) return;
  for (std::size_t depth = 1; depth > 0;) {
    auto const what = next();
    if (what == token::damaged || what == token::finished) return;
    if (what == token::object || what == token::array) ++depth;
    if (what == token::end) --depth;
  }
}

}  // namespace gpuprof::host

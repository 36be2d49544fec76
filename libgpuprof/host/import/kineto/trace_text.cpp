// SPDX-License-Identifier: Apache-2.0
#include "host/import/kineto/trace_text.hpp"

#include "host/import/import_job.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>
#include <zlib.h>

namespace gpuprof::host {
namespace {

constexpr std::size_t piece = 256 << 10;
constexpr int gzip_only = 16;

}  // namespace

trace_text::trace_text(std::string const& path) : file_(std::fopen(path.c_str(), "rbe")) {
  if (file_ == nullptr)
    throw import_failure("cannot read " + path + ": " + std::strerror(errno) +
                         "; nothing is written");
  std::error_code ignored;
  file_bytes_ = std::filesystem::file_size(path, ignored);
  unsigned char head[2] = {};
  auto const count = std::fread(head, 1, sizeof head, file_.get());
  if (std::fseek(file_.get(), 0, SEEK_SET) != 0)
    throw import_failure("cannot read " + path + " from its begin: " + std::strerror(errno) +
                         "; nothing is written");
  if (count != sizeof head || head[0] != 0x1f || head[1] != 0x8b) return;
  packed_.resize(piece);
  unpacking_ = std::make_unique<z_stream>();
  if (inflateInit2(unpacking_.get(), MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
}

trace_text::~trace_text() {
  if (unpacking_ != nullptr) inflateEnd(unpacking_.get());
}

bool trace_text::fill() {
  auto const count = std::fread(packed_.data(), 1, packed_.size(), file_.get());
  if (std::ferror(file_.get()) != 0) failure_ = std::strerror(errno);
  read_ += count;
  unpacking_->next_in = packed_.data();
  unpacking_->avail_in = static_cast<unsigned>(count);
  return count > 0;
}

std::size_t trace_text::unpack(std::span<char> into) {
  auto& stream = *unpacking_;
  stream.next_out = reinterpret_cast<unsigned char*>(into.data());
  stream.avail_out = static_cast<unsigned>(into.size());
  while (stream.avail_out > 0 && failure_.empty()) {
    if (stream.avail_in == 0 && !fill()) {
      if (!is_at_member_ && failure_.empty()) failure_ = "its compressed data end too early";
      break;
    }
    auto const status = inflate(&stream, Z_NO_FLUSH);
    is_at_member_ = status == Z_STREAM_END;
    if (status == Z_STREAM_END) {
      // A gzip file may have several members; other bytes after a member are padding.
      if ((stream.avail_in == 0 && !fill()) || *stream.next_in != 0x1f) {
        stream.avail_in = 0;
        break;
      }
      inflateReset(&stream);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      failure_ = stream.msg != nullptr ? stream.msg : "its compressed data are damaged";
    }
  }
  return into.size() - stream.avail_out;
}

std::size_t trace_text::read(std::span<char> into) {
  if (!failure_.empty()) return 0;
  if (unpacking_ != nullptr) return unpack(into);
  auto const count = std::fread(into.data(), 1, into.size(), file_.get());
  if (std::ferror(file_.get()) != 0) failure_ = std::strerror(errno);
  read_ += count;
  return count;
}

std::uint64_t trace_text::newly_read() {
  auto const since = read_ - told_;
  told_ = read_;
  return since;
}

}  // namespace gpuprof::host

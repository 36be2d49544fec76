// SPDX-License-Identifier: Apache-2.0
#include "host/import/kineto/trace_text.hpp"

#include "host/import/import_job.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <zlib.h>

namespace gpuprof {

trace_text::trace_text(std::string const& path) : file_(gzopen(path.c_str(), "rbe")) {
  if (file_ == nullptr)
    throw import_failure("cannot read " + path + ": " + std::strerror(errno) +
                         "; nothing is written");
  gzbuffer(file_, 256 << 10);
  std::error_code ignored;
  file_bytes_ = std::filesystem::file_size(path, ignored);
}

trace_text::~trace_text() {
  gzclose(file_);
}

std::size_t trace_text::read(std::span<char> into) {
  auto const count = gzread(file_, into.data(), static_cast<unsigned>(into.size()));
  int error = Z_OK;
  auto const* const why = gzerror(file_, &error);
  if (error != Z_OK && error != Z_STREAM_END)
    failure_ = error == Z_ERRNO       ? std::strerror(errno)
               : error == Z_BUF_ERROR ? "its compressed data end too early"
                                      : why;
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

std::uint64_t trace_text::newly_read() {
  auto const now = static_cast<std::uint64_t>(std::max<z_off_t>(gzoffset(file_), 0));
  auto const since = now > told_ ? now - told_ : 0;
  told_ += since;
  return since;
}

}  // namespace gpuprof

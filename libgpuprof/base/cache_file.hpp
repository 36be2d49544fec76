// SPDX-License-Identifier: Apache-2.0
// Files that are kept for later runs: where they lie, read whole, replaced whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof {

/// $XDG_CACHE_HOME/gpuprof/`kind`, else ~/.cache/gpuprof/`kind`; empty when neither is known.
/// Reads the environment: not on our own threads, beside a program that changes it.
std::string cache_folder(std::string_view kind);

/// `text` with what may not stand in the name of a file replaced.
std::string as_file_name(std::string text);

/// FNV-1a, 64 bits: the same in every build, which std::hash does not promise.
std::uint64_t stable_hash(std::string_view text) noexcept;

struct text_or_errno {
  std::string text;
  int failure = 0;
};
/// The whole of a file of at most `limit` bytes.
text_or_errno read_whole_file(std::string const& path, std::size_t limit);

/// The same, if it is a regular file of this user that no other user may write; else EPERM. Links
/// are not followed.
text_or_errno read_own_file(std::string const& path, std::size_t limit);

/// Makes the folder. Written beside and renamed, so that no reader sees half a file; only its owner
/// may read it. 0, or the errno; nothing is left behind then.
int replace_file(std::string const& folder, std::string const& path, std::string_view text);

}  // namespace gpuprof

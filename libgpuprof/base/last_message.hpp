// SPDX-License-Identifier: Apache-2.0
// The reason why the last call of the C API on this thread failed. Uses no heap memory and no lock,
// so that it also works without memory and in inert children.
#pragma once

#include <cstddef>
#include <string_view>

namespace gpuprof {

/// Longer messages are cut.
inline constexpr std::size_t max_message_bytes = 1023;

/// Never null. Valid until this thread keeps another message.
char const* last_message() noexcept;

/// `message` must live as long as the process; "" forgets the last one.
void keep_fixed_message(char const* message) noexcept;

/// Copies the message. Threads that copied one share 64 places; a place becomes free when its
/// thread has ended. If no place is free, the message says that stderr has the reason.
void keep_message(std::string_view message) noexcept;

}  // namespace gpuprof

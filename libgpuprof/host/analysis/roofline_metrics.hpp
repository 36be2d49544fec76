// SPDX-License-Identifier: Apache-2.0
// The metrics from which rates of a roofline come.
#pragma once

#include <string_view>

namespace gpuprof {

// Chips name the same thing differently; those with memory of the processor count no DRAM bytes.
inline constexpr std::string_view dram_read_names[] = {"dram__bytes_read.sum",
                                                       "dram__bytes_op_read.sum"};
inline constexpr std::string_view dram_write_names[] = {"dram__bytes_write.sum",
                                                        "dram__bytes_op_write.sum"};
inline constexpr std::string_view l2_bytes_name = "lts__t_bytes.sum";

}  // namespace gpuprof

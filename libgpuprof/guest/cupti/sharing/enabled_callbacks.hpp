// SPDX-License-Identifier: Apache-2.0
// Which of CUPTI's callbacks a client has asked for.
#pragma once

#include "guest/cupti/api.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

namespace gpuprof {

/// Any thread, without lock.
class enabled_callbacks {
 public:
  static constexpr std::uint32_t ids = 1024;  // of a domain; those beyond share the last place

  void set(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool on) noexcept {
    auto& word = words_[place_of(domain)][clamped(id) / 64];
    auto const bit = std::uint64_t{1} << clamped(id) % 64;
    on ? word.fetch_or(bit, std::memory_order_acq_rel)
       : word.fetch_and(~bit, std::memory_order_acq_rel);
  }
  void set_domain(CUpti_CallbackDomain domain, bool on) noexcept {
    for (auto& word : words_[place_of(domain)])
      word.store(on ? ~std::uint64_t{0} : 0, std::memory_order_release);
  }
  bool has(CUpti_CallbackDomain domain, CUpti_CallbackId id) const noexcept {
    auto const word = words_[place_of(domain)][clamped(id) / 64].load(std::memory_order_acquire);
    return (word >> clamped(id) % 64 & 1) != 0;
  }
  bool has_any(CUpti_CallbackDomain domain) const noexcept {
    for (auto const& word : words_[place_of(domain)])
      if (word.load(std::memory_order_acquire) != 0) return true;
    return false;
  }
  /// Each of a domain, in order.
  template <class Use>
  void for_each(CUpti_CallbackDomain domain, Use use) const {
    auto const& words = words_[place_of(domain)];
    for (std::uint32_t i = 0; i < words.size(); ++i)
      for (auto rest = words[i].load(std::memory_order_acquire); rest != 0; rest &= rest - 1)
        use(static_cast<CUpti_CallbackId>(64 * i +
                                          static_cast<std::uint32_t>(std::countr_zero(rest))));
  }

  static constexpr CUpti_CallbackDomain all_domains[] = {
      CUPTI_CB_DOMAIN_DRIVER_API,  CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE,
      CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CB_DOMAIN_NVTX,        CUPTI_CB_DOMAIN_STATE};

 private:
  static constexpr std::uint32_t clamped(CUpti_CallbackId id) noexcept {
    return id < ids ? id : ids - 1;
  }
  static constexpr std::size_t place_of(CUpti_CallbackDomain domain) noexcept {
    return static_cast<std::size_t>(domain) % 8;
  }

  std::array<std::array<std::atomic<std::uint64_t>, ids / 64>, 8> words_{};
};

}  // namespace gpuprof

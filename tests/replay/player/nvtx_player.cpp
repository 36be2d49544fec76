// SPDX-License-Identifier: Apache-2.0
#include "replay/player/nvtx_player.hpp"

#include "replay/driver/canceled_thread.hpp"

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <thread>

namespace gpuprof::replay {
namespace {

std::wstring widen(std::string const& utf8) {
  std::wstring wide;
  for (std::size_t i = 0; i < utf8.size();) {
    auto const first = static_cast<unsigned char>(utf8[i]);
    int const more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    unsigned long point = more == 0 ? first : first & (0x3fu >> more);
    for (int k = 1; k <= more && i + static_cast<unsigned>(k) < utf8.size(); ++k) {
      point = point << 6 | (static_cast<unsigned char>(utf8[i + static_cast<unsigned>(k)]) & 0x3fu);
    }
    wide += static_cast<wchar_t>(point);
    i += static_cast<std::size_t>(more) + 1;
  }
  return wide;
}

template <class Handle>
Handle handle_of(std::uint64_t value) {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(value));
}
std::uint64_t number_of(void const* handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

std::uint32_t most(recording const& r, std::uint32_t event::*which) {
  std::uint32_t highest = 0;
  for (auto const& e : r.events) {
    if (e.kind == event_kind::nvtx) highest = std::max(highest, e.*which);
  }
  return highest;
}

/// gpuprof_step(), where the library is in the process and it is asked for.
int (*counted_step())() {
  if (std::getenv("REPLAY_STEPS") == nullptr) return nullptr;
  return reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "gpuprof_step"));
}

}  // namespace

nvtx_player::nvtx_player(recording const& r)
    : r_(r),
      domains_(std::max(most(r, &event::domain), most(r, &event::object)) + 1u),
      strings_(std::max(most(r, &event::registered), most(r, &event::object)) + 1u),
      ranges_by_id_(most(r, &event::object) + 1u),
      step_(counted_step()),
      os_threads_(r.threads.size()) {
  for (auto const& s : r.strings) wide_.push_back(widen(s));
  for (std::size_t i = 0; i < os_threads_.size(); ++i) {
    os_threads_[i].first = r.threads[i].os_thread;
  }
  put(domains_, 0, 0);  // the default domain, and no registered string
  put(strings_, 0, 0);
}

// Made by another thread a moment ago in the recording: it may not have come so far here.
std::uint64_t nvtx_player::wait_for(slots& all, std::uint32_t ordinal) {
  auto& s = all[ordinal];
  // A thousand threads may share two cores.
  auto const give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!s.made.load(std::memory_order_acquire)) {
    if (std::chrono::steady_clock::now() > give_up) {
      std::fprintf(stderr, "gpuprof-play: an NVTX object is used that the session never makes\n");
      std::_Exit(3);
    }
    std::this_thread::yield();
  }
  return s.value;
}

void nvtx_player::put(slots& all, std::uint32_t ordinal, std::uint64_t value) {
  all[ordinal].value = value;
  all[ordinal].made.store(true, std::memory_order_release);
}

void nvtx_player::start_again() {
  for (auto& s : ranges_by_id_) s.made = false;
}

void nvtx_player::set_os_thread(std::uint32_t recorded, std::uint32_t now) {
  for (auto& [os_thread, here] : os_threads_) {
    if (os_thread == recorded) here = now;
  }
}

std::uint32_t nvtx_player::os_thread(std::uint32_t recorded) {
  for (auto& [os_thread, here] : os_threads_) {
    if (os_thread == recorded && here != 0) return here;
  }
  return recorded;
}

void nvtx_player::play(event const& e) {
  canceled_thread const now;
  if (step_ != nullptr && e.code == NVTX_CBID_CORE_RangePushA) step_();
  if (e.code < nvtx_core2) {
    play_default_domain(e);
  } else {
    play_domain(e);
  }
}

namespace {

nvtxEventAttributes_t attributes_of(event const& e, char const* text, wchar_t const* wide,
                                    nvtxStringHandle_t registered) {
  nvtxEventAttributes_t a{};
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.category = e.category;
  a.colorType = static_cast<std::int32_t>(e.color_type);
  a.color = e.color;
  a.payloadType = static_cast<std::int32_t>(e.payload_type);
  a.payload.ullValue = e.payload_bits;
  a.messageType = static_cast<std::int32_t>(e.message_type);
  if (e.message_type == NVTX_MESSAGE_TYPE_ASCII) a.message.ascii = text;
  if (e.message_type == NVTX_MESSAGE_TYPE_UNICODE) a.message.unicode = wide;
  if (e.message_type == NVTX_MESSAGE_TYPE_REGISTERED) a.message.registered = registered;
  return a;
}

}  // namespace

void nvtx_player::play_default_domain(event const& e) {
  auto const attributes = [&] {
    return attributes_of(e, text(e), wide(e),
                         handle_of<nvtxStringHandle_t>(wait_for(strings_, e.registered)));
  };
  switch (e.code) {
    case NVTX_CBID_CORE_MarkEx: {
      auto const a = attributes();
      nvtxMarkEx(&a);
      ++marks_;
      break;
    }
    case NVTX_CBID_CORE_MarkA:
      nvtxMarkA(text(e));
      ++marks_;
      break;
    case NVTX_CBID_CORE_MarkW:
      nvtxMarkW(wide(e));
      ++marks_;
      break;
    case NVTX_CBID_CORE_RangeStartEx: {
      auto const a = attributes();
      put(ranges_by_id_, e.object, nvtxRangeStartEx(&a));
      ++ranges_;
      break;
    }
    case NVTX_CBID_CORE_RangeStartA:
      put(ranges_by_id_, e.object, nvtxRangeStartA(text(e)));
      ++ranges_;
      break;
    case NVTX_CBID_CORE_RangeStartW:
      put(ranges_by_id_, e.object, nvtxRangeStartW(wide(e)));
      ++ranges_;
      break;
    case NVTX_CBID_CORE_RangeEnd:
      nvtxRangeEnd(wait_for(ranges_by_id_, e.object));
      break;
    case NVTX_CBID_CORE_RangePushEx: {
      auto const a = attributes();
      nvtxRangePushEx(&a);
      ++ranges_;
      break;
    }
    case NVTX_CBID_CORE_RangePushA:
      nvtxRangePushA(text(e));
      ++ranges_;
      break;
    case NVTX_CBID_CORE_RangePushW:
      nvtxRangePushW(wide(e));
      ++ranges_;
      break;
    case NVTX_CBID_CORE_RangePop:
      nvtxRangePop();
      break;
    case NVTX_CBID_CORE_NameCategoryA:
      nvtxNameCategoryA(e.category, text(e));
      break;
    case NVTX_CBID_CORE_NameCategoryW:
      nvtxNameCategoryW(e.category, wide(e));
      break;
    case NVTX_CBID_CORE_NameOsThreadA:
      nvtxNameOsThreadA(os_thread(e.category), text(e));
      break;
    case NVTX_CBID_CORE_NameOsThreadW:
      nvtxNameOsThreadW(os_thread(e.category), wide(e));
      break;
    default:
      break;
  }
}

void nvtx_player::play_domain(event const& e) {
  auto const domain = [&] { return handle_of<nvtxDomainHandle_t>(wait_for(domains_, e.domain)); };
  auto const attributes = [&] {
    return attributes_of(e, text(e), wide(e),
                         handle_of<nvtxStringHandle_t>(wait_for(strings_, e.registered)));
  };
  auto const is_made = [&](slots const& all) { return all[e.object].made.load(); };
  switch (e.code - nvtx_core2) {
    case NVTX_CBID_CORE2_DomainMarkEx: {
      auto const a = attributes();
      nvtxDomainMarkEx(domain(), &a);
      ++marks_;
      break;
    }
    case NVTX_CBID_CORE2_DomainRangeStartEx: {
      auto const a = attributes();
      put(ranges_by_id_, e.object, nvtxDomainRangeStartEx(domain(), &a));
      ++ranges_;
      break;
    }
    case NVTX_CBID_CORE2_DomainRangeEnd:
      nvtxDomainRangeEnd(domain(), wait_for(ranges_by_id_, e.object));
      break;
    case NVTX_CBID_CORE2_DomainRangePushEx: {
      auto const a = attributes();
      nvtxDomainRangePushEx(domain(), &a);
      ++ranges_;
      break;
    }
    case NVTX_CBID_CORE2_DomainRangePop:
      nvtxDomainRangePop(domain());
      break;
    case NVTX_CBID_CORE2_DomainNameCategoryA:
      nvtxDomainNameCategoryA(domain(), e.category, text(e));
      break;
    case NVTX_CBID_CORE2_DomainNameCategoryW:
      nvtxDomainNameCategoryW(domain(), e.category, wide(e));
      break;
    case NVTX_CBID_CORE2_DomainRegisterStringA:
      if (!is_made(strings_))
        put(strings_, e.object, number_of(nvtxDomainRegisterStringA(domain(), text(e))));
      break;
    case NVTX_CBID_CORE2_DomainRegisterStringW:
      if (!is_made(strings_))
        put(strings_, e.object, number_of(nvtxDomainRegisterStringW(domain(), wide(e))));
      break;
    case NVTX_CBID_CORE2_DomainCreateA:
      if (!is_made(domains_)) put(domains_, e.object, number_of(nvtxDomainCreateA(text(e))));
      break;
    case NVTX_CBID_CORE2_DomainCreateW:
      if (!is_made(domains_)) put(domains_, e.object, number_of(nvtxDomainCreateW(wide(e))));
      break;
    case NVTX_CBID_CORE2_DomainDestroy:
      nvtxDomainDestroy(domain());
      break;
    default:
      break;
  }
}

}  // namespace gpuprof::replay

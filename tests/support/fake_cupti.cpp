// SPDX-License-Identifier: Apache-2.0
#include "support/fake_cupti.hpp"

#include "support/record_walk.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace gpuprof::test {
namespace {

fake_cupti* current = nullptr;

template <auto>
struct tag {};

template <auto A, auto B>
inline constexpr bool is = std::is_same_v<tag<A>, tag<B>>;

/// Questions: they would only make the lists of calls longer.
template <auto M>
inline constexpr bool changes_something =
    !(is<M, &cupti_api::cuptiGetVersion> || is<M, &cupti_api::cuptiGetResultString> ||
      is<M, &cupti_api::cuptiGetCallbackName> || is<M, &cupti_api::cuptiActivityGetNextRecord> ||
      is<M, &cupti_api::cuptiDeviceGetChipName> || is<M, &cupti_api::cuptiGetDeviceId> ||
      is<M, &cupti_api::cuptiGetContextId> || is<M, &cupti_api::cuptiGetGraphNodeId>);

template <class T>
std::string text_of(T const& argument) {
  if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
    return ' ' + std::to_string(static_cast<long long>(argument));
  } else {
    return {};
  }
}

template <auto Member, class Function>
struct stub;
template <auto Member, class... Args>
struct stub<Member, CUptiResult (*)(Args...)> {
  static CUptiResult CUPTIAPI call(Args... args) {
    auto const code = current->note(cupti_function_name<Member>, (text_of(args) + ... + ""),
                                    changes_something<Member>);
    return code != CUPTI_SUCCESS ? code : current->act<Member>(args...);
  }
};

struct named_call {
  std::uint32_t cbid;
  char const* name;
};
constexpr named_call driver_calls[] = {
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, "cuLaunchKernel_ptsz"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel"},
    {CUPTI_DRIVER_TRACE_CBID_cuLaunchHostFunc, "cuLaunchHostFunc"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy, "cuGraphExecDestroy"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphCreate, "cuGraphCreate"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphConditionalHandleCreate, "cuGraphConditionalHandleCreate"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuModuleUnload, "cuModuleUnload"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent, "cuStreamWaitEvent"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamDestroy_v2, "cuStreamDestroy_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, "cuStreamEndCapture"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "cuEventSynchronize"},
    {CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2, "cuGraphExecUpdate_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemPrefetchAsync, "cuMemPrefetchAsync"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2, "cuMemcpyHtoD_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload, "cuLibraryUnload"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemsetD8_v2, "cuMemsetD8_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, "cuMemAlloc_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2, "cuMemFree_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData, "cuModuleLoadData"},
    {CUPTI_DRIVER_TRACE_CBID_cuStreamQuery, "cuStreamQuery"},
    {CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart"},
    {CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop"},
    {CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"},
    {CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease_v2"},
    {CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, "cuCtxGetCurrent"},
};

CUptiResult callback_name(CUpti_CallbackDomain domain, std::uint32_t cbid, char const** name) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && cbid == CUPTI_RUNTIME_TRACE_CBID_cudaMalloc_v3020) {
    *name = "cudaMalloc_v3020";
    return CUPTI_SUCCESS;
  }
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto const& call : driver_calls) {
    if (call.cbid != cbid) continue;
    *name = call.name;
    return CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

char const* result_text(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
    case CUPTI_ERROR_NOT_COMPATIBLE:
      return "CUPTI_ERROR_NOT_COMPATIBLE";
    default:
      return "CUPTI_ERROR_UNKNOWN";
  }
}

// Any address does for a handle.
char subscriber_place = 0;

}  // namespace

fake_cupti::fake_cupti(unsigned version) {
  current = this;
  library.version = version;
  library.path = "/fake/libcupti.so";
#define GPUPROF_STUB(name) \
  library.api.name = &stub<&cupti_api::name, decltype(cupti_api::name)>::call;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_STUB)
#undef GPUPROF_STUB
}

fake_cupti::~fake_cupti() {
  current = nullptr;
}

void fake_cupti::fail_nth(std::string const& function, unsigned n, CUptiResult code) {
  std::lock_guard const lock(mutex_);
  failures_.push_back({function, n, code});
}

void fake_cupti::fail_call(unsigned n, CUptiResult code) {
  fail_nth("", n, code);
}

void fake_cupti::when_called(std::string const& function, std::function<void()> what) {
  std::lock_guard const lock(mutex_);
  acts_[function] = std::move(what);
}

CUptiResult fake_cupti::note(char const* function, std::string arguments, bool changes) {
  std::function<void()> what;
  auto code = CUPTI_SUCCESS;
  {
    std::lock_guard const lock(mutex_);
    auto const nth = ++counts_[function];
    if (changes) {
      calls_.push_back(function + arguments);
      ++total_;
    }
    for (auto const& f : failures_) {
      if (f.function == function && (f.n == 0 || f.n == nth)) code = f.code;
      if (f.function.empty() && changes && f.n == total_) code = f.code;
    }
    if (auto const found = acts_.find(function); found != acts_.end()) what = found->second;
  }
  if (what) what();
  return code;
}

CUptiResult fake_cupti::subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                  void* user) {
  std::lock_guard const lock(mutex_);
  if (!holder_.empty() || subscribed_) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscribed_ = true;
  callback_ = callback;
  callback_user_ = user;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&subscriber_place);
  return CUPTI_SUCCESS;
}

template <auto M, class... Args>
CUptiResult fake_cupti::act(Args... args) {
  if constexpr (is<M, &cupti_api::cuptiSubscribe>) {
    return subscribe(args...);
  } else if constexpr (is<M, &cupti_api::cuptiSubscribe_v2>) {
    return [this](CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user,
                  CUpti_SubscriberParams* params) {
      auto const code = subscribe(handle, callback, user);
      if (code != CUPTI_SUCCESS && params->oldSubscriberName != nullptr)
        holder_.copy(params->oldSubscriberName, params->oldSubscriberSize - 1);
      return code;
    }(args...);
  } else if constexpr (is<M, &cupti_api::cuptiActivityGetNextRecord>) {
    return next_record(args...);
  } else if constexpr (is<M, &cupti_api::cuptiGetCallbackName>) {
    return callback_name(args...);
  } else if constexpr (is<M, &cupti_api::cuptiGetResultString>) {
    return [](CUptiResult code, char const** text) {
      *text = result_text(code);
      return CUPTI_SUCCESS;
    }(args...);
  } else if constexpr (is<M, &cupti_api::cuptiGetVersion>) {
    return [this](std::uint32_t* version) {
      *version = library.version;
      return CUPTI_SUCCESS;
    }(args...);
  } else if constexpr (is<M, &cupti_api::cuptiDeviceGetChipName>) {
    return [](CUpti_Device_GetChipName_Params* params) {
      params->pChipName = "GH100";
      return CUPTI_SUCCESS;
    }(args...);
  } else if constexpr (is<M, &cupti_api::cuptiGetGraphNodeId>) {
    return [](CUgraphNode node, std::uint64_t* id) {
      *id = reinterpret_cast<std::uintptr_t>(node);
      return CUPTI_SUCCESS;
    }(args...);
  } else if constexpr (requires { host.answer(args...); }) {
    return host.answer(args...);
  } else if constexpr (requires { sampling.answer(args...); }) {
    return sampling.answer(args...);
  } else {
    std::lock_guard const lock(mutex_);
    if constexpr (is<M, &cupti_api::cuptiUnsubscribe>) {
      subscribed_ = false;
      callback_ = nullptr;
      callbacks_.clear();
      domains_.clear();
    } else if constexpr (is<M, &cupti_api::cuptiFinalize>) {
      subscribed_ = false;
      kinds_.clear();
      single_calls_.clear();
      callbacks_.clear();
      made_whole_.clear();
      request_ = nullptr;
      complete_ = nullptr;
    } else if constexpr (is<M, &cupti_api::cuptiActivityEnable>) {
      (kinds_.insert(static_cast<int>(args)), ...);
    } else if constexpr (is<M, &cupti_api::cuptiActivityDisable>) {
      (kinds_.erase(static_cast<int>(args)), ...);
      switched_off_ += ((args == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) + ...);
      // "overrides the settings done by this API if it is called after the API"
      std::erase_if(single_calls_, [&](auto const& call) {
        return ((call.first == static_cast<int>(args)) || ...);
      });
    } else if constexpr (is<M, &cupti_api::cuptiActivityEnableDriverApi> ||
                         is<M, &cupti_api::cuptiActivityEnableRuntimeApi>) {
      [this](auto id, auto on) {
        auto const kind = is<M, &cupti_api::cuptiActivityEnableDriverApi>
                              ? CUPTI_ACTIVITY_KIND_DRIVER
                              : CUPTI_ACTIVITY_KIND_RUNTIME;
        std::pair const which{static_cast<int>(kind), static_cast<int>(id)};
        if (on != 0) {
          single_calls_.insert(which);
        } else {
          single_calls_.erase(which);
        }
      }(args...);
    } else if constexpr (is<M, &cupti_api::cuptiActivityRegisterCallbacks>) {
      [this](auto request, auto complete) {
        request_ = request;
        complete_ = complete;
      }(args...);
    } else if constexpr (is<M, &cupti_api::cuptiEnableCallback>) {
      [this](auto on, auto, auto domain, auto id) {
        std::pair const which{static_cast<int>(domain), static_cast<int>(id)};
        if (on != 0) {
          callbacks_.insert(which);
        } else {
          callbacks_.erase(which);
        }
      }(args...);
    } else if constexpr (is<M, &cupti_api::cuptiEnableDomain>) {
      [this](auto on, auto, auto domain) {
        if (on != 0) domains_.insert(static_cast<int>(domain));
      }(args...);
    } else if constexpr (is<M, &cupti_api::cuptiActivityGetNumDroppedRecords>) {
      [this](auto, auto, auto count) { *count = std::exchange(dropped_, 0); }(args...);
    }
    return CUPTI_SUCCESS;
  }
}

std::vector<std::string> fake_cupti::calls() const {
  std::lock_guard const lock(mutex_);
  return calls_;
}

unsigned fake_cupti::count(std::string const& function) const {
  std::lock_guard const lock(mutex_);
  auto const found = counts_.find(function);
  return found != counts_.end() ? found->second : 0;
}

void fake_cupti::forget_calls() {
  std::lock_guard const lock(mutex_);
  calls_.clear();
}

std::set<int> fake_cupti::kinds() const {
  std::lock_guard const lock(mutex_);
  return kinds_;
}

std::set<std::pair<int, int>> fake_cupti::single_calls() const {
  std::lock_guard const lock(mutex_);
  return single_calls_;
}

std::set<std::pair<int, int>> fake_cupti::callbacks() const {
  std::lock_guard const lock(mutex_);
  return callbacks_;
}

bool fake_cupti::listens_to_whole_domain(int domain) const {
  std::lock_guard const lock(mutex_);
  return domains_.count(domain) != 0;
}

std::pair<std::uint8_t*, std::size_t> fake_cupti::request_buffer() {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 1;
  request_(&buffer, &size, &most);
  return {buffer, size};
}

void fake_cupti::complete_buffer(std::uint8_t* buffer, std::size_t size, std::size_t used) {
  complete_(nullptr, 0, buffer, size, used);
}

void fake_cupti::deliver(CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
  callback_(callback_user_, domain, id, data);
}

void fake_cupti::driver_call(CUpti_ApiCallbackSite site, CUpti_CallbackData& data,
                             std::uint32_t cbid) {
  data.callbackSite = site;
  deliver(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &data);
}

void fake_cupti::resource(CUpti_CallbackId id) {
  CUpti_ResourceData data{};
  deliver(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

void fake_cupti::deliver_if_on(CUpti_CallbackDomain domain, CUpti_CallbackId id, void const* data) {
  if (callbacks().count({static_cast<int>(domain), static_cast<int>(id)}) != 0)
    deliver(domain, id, data);
}

void fake_cupti::deliver_graph(CUpti_CallbackId id, CUgraphExec graph) {
  CUpti_GraphData about{};
  about.graphExec = graph;
  CUpti_ResourceData data{};
  data.resourceDescriptor = &about;
  deliver_if_on(CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

namespace {

/// A call whose one parameter of interest is a graph.
struct call_with_graph {
  explicit call_with_graph(CUgraphExec with) : graph(with) {
    data.functionParams = &graph;
    data.correlationData = &kept;
  }
  CUpti_CallbackData& at(CUpti_ApiCallbackSite site) {
    data.callbackSite = site;
    data.functionReturnValue = site == CUPTI_API_EXIT ? &result : nullptr;
    return data;
  }
  CUgraphExec graph;
  std::uint64_t kept = 0;
  int result = 0;
  CUpti_CallbackData data{};
};

}  // namespace

void fake_cupti::instantiate(CUgraphExec graph, std::function<void()> const& meanwhile) {
  constexpr auto cbid = CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags;
  call_with_graph made(graph);
  deliver_if_on(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &made.at(CUPTI_API_ENTER));
  unsigned switched_off = 0;
  {
    std::lock_guard const lock(mutex_);
    switched_off = switched_off_;
    if (kinds_.count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) == 0) --switched_off;
  }
  if (meanwhile) meanwhile();
  {
    std::lock_guard const lock(mutex_);
    made_whole_.erase(graph);
    if (switched_off == switched_off_) made_whole_.insert(graph);
  }
  deliver_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, graph);
  deliver_if_on(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &made.at(CUPTI_API_EXIT));
}

void fake_cupti::destroy(CUgraphExec graph) {
  deliver_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, graph);
  std::lock_guard const lock(mutex_);
  made_whole_.erase(graph);
}

void fake_cupti::call(std::uint32_t cbid) {
  call_with_graph made(nullptr);
  for (auto const site : {CUPTI_API_ENTER, CUPTI_API_EXIT})
    deliver_if_on(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &made.at(site));
}

bool fake_cupti::is_deadly(CUgraphExec graph) const {
  std::lock_guard const lock(mutex_);
  return kinds_.count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != 0 && made_whole_.count(graph) == 0;
}

// CUPTI handles the launch once its client has heard of its begin, and until it hears of its end.
fake_cupti::launched fake_cupti::launch(CUgraphExec graph, std::function<void()> const& meanwhile) {
  constexpr auto cbid = CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch;
  call_with_graph made(graph);
  deliver_if_on(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &made.at(CUPTI_API_ENTER));
  auto has_crashed = is_deadly(graph);
  auto const is_whole = kinds().count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) != 0;
  if (meanwhile) meanwhile();
  has_crashed = has_crashed || is_deadly(graph);
  deliver_if_on(CUPTI_CB_DOMAIN_DRIVER_API, cbid, &made.at(CUPTI_API_EXIT));
  if (has_crashed) return launched::crashed;
  return is_whole ? launched::whole : launched::by_nodes;
}

void fake_cupti::fatal_error(CUptiResult code, char const* message) {
  CUpti_StateData data{};
  data.notification.result = code;
  data.notification.message = message;
  deliver(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

}  // namespace gpuprof::test

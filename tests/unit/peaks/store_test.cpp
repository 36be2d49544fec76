// SPDX-License-Identifier: Apache-2.0
#include "guest/peaks/store/store.hpp"

#include "guest/peaks/store/peaks_json.hpp"
#include "support/catch.hpp"
#include "support/pretended_gpu.hpp"
#include "support/scratch_folder.hpp"
#include "support/test_data.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;
using namespace gpuprof::guest::peaks;

namespace {

std::string json_of(gpu_peaks const& gpu) {
  return to_json({&gpu, 1});
}

/// Short enough to be damaged at every byte.
std::string short_document() {
  auto gpu = pretended_gpu();
  gpu.results = {gpu.results[2]};
  return json_of(gpu);
}

void write_file(std::string const& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

std::string message_of(std::string_view text) {
  auto const gpus = from_json(text);
  REQUIRE_FALSE(gpus);
  CHECK(gpus.message().find('\n') == std::string::npos);
  return gpus.message();
}

bool contains(std::string const& text, std::string_view part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
  return text.find(part) != std::string::npos;
}

std::vector<std::string> tests_in(gpu_peaks const& gpu) {
  std::vector<std::string> names;
  for (auto const& r : gpu.results) names.push_back(r.test);
  return names;
}

}  // namespace

TEST_CASE("all measured values survive JSON, to the last bit") {
  auto gpu = pretended_gpu();
  gpu.name = "a \"name\"\n\\ with everything";
  gpu.remarks = {"one", "two"};
  auto& result = gpu.results[2];
  result.burst.value = 0.1 + 0.2;
  result.theory = std::numeric_limits<double>::max();
  result.per_clock_theory = std::numeric_limits<double>::denorm_min();
  result.burst.chip.limiters = std::numeric_limits<std::uint64_t>::max();
  result.effort = peak_effort::sustained;
  result.measured_at = "2025-12-31T00:00:00Z";
  auto const text = json_of(gpu);
  auto const back = from_json(text);
  REQUIRE(back);
  REQUIRE(back->size() == 1);
  CHECK(json_of(back->front()) == text);
  auto const& read = back->front();
  CHECK(read.key == gpu.key);
  CHECK(read.name == gpu.name);
  CHECK(read.remarks == gpu.remarks);
  CHECK(read.results[2].burst.value == 0.1 + 0.2);
  CHECK(read.results[2].theory == std::numeric_limits<double>::max());
  CHECK(read.results[2].per_clock_theory == std::numeric_limits<double>::denorm_min());
  CHECK(read.results[2].burst.chip.limiters == std::numeric_limits<std::uint64_t>::max());
  CHECK(read.results[2].effort == peak_effort::sustained);
  CHECK(read.results[3].outcome == peak_outcome::failed);
  CHECK(read.results[4].outcome == peak_outcome::unavailable);
}

TEST_CASE("figures that were not measured, or are not finite, are left out of the JSON") {
  auto gpu = pretended_gpu();
  gpu.results[0].burst.value = std::numeric_limits<double>::quiet_NaN();
  gpu.results[0].theory = std::numeric_limits<double>::infinity();
  auto const json = nlohmann::json::parse(json_of(gpu));
  CHECK(json["format"] == 1);
  auto const& results = json["gpus"][0]["results"];
  CHECK_FALSE(results[0].contains("burst"));
  CHECK_FALSE(results[0].contains("sustained"));
  CHECK_FALSE(results[0].contains("theory"));
  CHECK(results[0].contains("per_clock"));
  CHECK_FALSE(results[3].contains("burst"));
  CHECK(results[3]["outcome"] == "failed");
  CHECK(results[2]["sustained"]["limiters"] == 4);
}

TEST_CASE("several GPUs are one document, and so is an empty list") {
  std::vector const gpus{pretended_gpu(1), pretended_gpu(2)};
  auto const back = from_json(to_json(gpus));
  REQUIRE(back);
  REQUIRE(back->size() == 2);
  CHECK((*back)[1].key == gpus[1].key);
  auto const none = from_json(to_json({}));
  REQUIRE(none);
  CHECK(none->empty());
}

TEST_CASE("fields that a later version adds are ignored") {
  auto json = nlohmann::json::parse(json_of(pretended_gpu()));
  json["more"] = {1, 2};
  json["gpus"][0]["key"]["more"] = "x";
  json["gpus"][0]["results"][0]["burst"]["more"] = nullptr;
  CHECK(from_json(json.dump()));
}

TEST_CASE("the example in the test data is read, and is written the same way") {
  auto const path = test_data("peaks/example.json");
  if (std::getenv("GPUPROF_UPDATE_GOLDEN") != nullptr) write_file(path, json_of(pretended_gpu()));
  auto const gpus = read_peaks_file(path);
  if (!gpus) FAIL(gpus.message());
  std::ifstream file(path, std::ios::binary);
  CHECK(to_json(*gpus) == std::string{std::istreambuf_iterator<char>(file), {}});
}

TEST_CASE("a document cut at any byte is refused in one line") {
  auto const whole = short_document();
  CHECK(message_of("") == "is empty");
  for (std::size_t length = 1; length + 1 < whole.size(); ++length)
    REQUIRE(message_of(whole.substr(0, length)) ==
            "ends too early, after " + std::to_string(length) + " bytes");
  CHECK(from_json(whole.substr(0, whole.size() - 1)));  // the last line end
}

TEST_CASE("a document with any byte changed is read or refused, without a crash") {
  auto const whole = short_document();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (char const other : {'\0', '"', '}', '9', '-', '\xFF'}) {
      auto changed = whole;
      changed[at] = other;
      if (auto const gpus = from_json(changed); !gpus)
        REQUIRE(std::count(gpus.message().begin(), gpus.message().end(), '\n') == 0);
    }
}

TEST_CASE("an invalid document is refused with the place of the error") {
  auto const good = nlohmann::json::parse(json_of(pretended_gpu()));
  auto const changed = [&](auto change) {
    auto json = good;
    change(json);
    return message_of(json.dump());
  };
  using nlohmann::json;
  auto const result = [](json& j) -> json& { return j["gpus"][0]["results"][2]; };
  contains(message_of("[]"), "it is no object");
  contains(message_of("12"), "it is no object");
  contains(message_of("{\"format\": 1, \"gpus\": [}"), "is no valid JSON from byte 24 on");
  contains(changed([](json& j) { j.erase("format"); }), "format is missing");
  contains(changed([](json& j) { j["format"] = 2; }),
           "has format 2, and this gpuprof reads format 1");
  contains(changed([](json& j) { j["format"] = "1"; }), "format is no whole number");
  contains(changed([](json& j) { j["gpus"] = 3; }), "gpus is no list");
  contains(changed([](json& j) { j["gpus"][0] = "x"; }), "gpus[0] is no object");
  contains(changed([](json& j) { j["gpus"][0].erase("key"); }), "gpus[0].key is missing");
  contains(changed([](json& j) { j["gpus"][0]["key"]["ecc"] = 1; }),
           "gpus[0].key.ecc is neither true nor false");
  contains(changed([](json& j) { j["gpus"][0]["key"]["sm_count"] = -1; }),
           "gpus[0].key.sm_count is no whole number");
  contains(changed([](json& j) { j["gpus"][0]["key"]["sm_count"] = 5'000'000'000; }),
           "gpus[0].key.sm_count is too large");
  contains(changed([&](json& j) { result(j)["burst"].erase("value"); }),
           "gpus[0].results[2].burst.value is missing");
  contains(changed([&](json& j) { result(j)["burst"]["value"] = nullptr; }),
           "gpus[0].results[2].burst.value is no number");
  contains(changed([&](json& j) { result(j)["theory"] = -1.0; }),
           "gpus[0].results[2].theory is negative");
  contains(changed([&](json& j) { result(j)["outcome"] = "perhaps"; }),
           "gpus[0].results[2].outcome is no word known here");
  contains(changed([&](json& j) { result(j)["title"] = {1}; }),
           "gpus[0].results[2].title is no text");
  auto huge = good.dump();
  huge.replace(huge.find("409600000000000"), 15, "1e999");
  contains(message_of(huge), "cannot be used");
}

TEST_CASE("saved peaks are loaded under the same key, from a folder that did not exist before") {
  scratch_folder const scratch;
  auto const folder = scratch / "a/b";
  auto const gpu = pretended_gpu();
  auto const nothing = load_peaks(folder, gpu.key);
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);
  REQUIRE(save_peaks(folder, gpu));
  auto const loaded = load_peaks(folder, gpu.key);
  REQUIRE(loaded);
  REQUIRE(*loaded);
  CHECK(json_of(**loaded) == json_of(gpu));
  auto const entries = std::filesystem::directory_iterator(folder);
  CHECK(std::distance(begin(entries), end(entries)) == 1);
}

TEST_CASE("stored peaks are not used if any part of the key changes") {
  scratch_folder const scratch;
  auto const folder = scratch / "peaks";
  auto const gpu = pretended_gpu();
  REQUIRE(save_peaks(folder, gpu));
  auto const is_loaded = [&](auto change) {
    auto key = gpu.key;
    change(key);
    auto const found = load_peaks(folder, key);
    REQUIRE(found);
    return found->has_value();
  };
  CHECK(is_loaded([](peaks_key&) {}));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.uuid.back() = '9'; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.driver_version += "1"; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.kernels = "new"; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.power_limit_w = 400; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.max_sm_clock_mhz = 900; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.max_memory_clock_mhz = 900; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.application_sm_clock_mhz = 900; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.ecc = false; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.sm_count = 50; }));
  CHECK_FALSE(is_loaded([](peaks_key& k) { k.memory_bytes = 1; }));
  // A file renamed by hand is not taken for what its name says.
  auto other = gpu.key;
  other.ecc = false;
  std::filesystem::rename(store_path(folder, gpu.key), store_path(folder, other));
  auto const found = load_peaks(folder, other);
  REQUIRE(found);
  CHECK_FALSE(*found);
}

TEST_CASE("a UUID never leads out of the folder") {
  auto key = key_of_gpu(1);
  key.uuid = "../../etc/x";
  auto const path = store_path("/cache", key);
  CHECK(std::filesystem::path(path).parent_path() == "/cache");
  key.uuid.clear();
  CHECK(store_path("/cache", key).starts_with("/cache/unknown-"));
}

TEST_CASE("tests that were not measured again are kept, with the time they were measured at") {
  scratch_folder const scratch;
  auto const folder = scratch / "peaks";
  auto earlier = pretended_gpu();
  earlier.remarks = {"a remark on what is kept"};
  REQUIRE(save_peaks(folder, earlier));
  auto later = pretended_gpu();
  later.measured_at = "2026-02-02T12:00:00Z";
  later.results = {measured("dram_copy", "memory", "DRAM copy", "B/s", 8e12, 10e12),
                   measured("fp32", "cuda_cores", "FP32 FMA", "FLOP/s", 24e12, 25.6e12)};
  REQUIRE(save_peaks(folder, later));
  auto const loaded = load_peaks(folder, later.key);
  REQUIRE(loaded);
  REQUIRE(*loaded);
  auto const& all = **loaded;
  CHECK(tests_in(all) == std::vector<std::string>{"fp32", "int32", "tensor_bf16", "tensor_fp8",
                                                  "tensor_fp4", "dram_read", "dram_copy", "h2d",
                                                  "launch_latency"});
  CHECK(all.measured_at == later.measured_at);
  CHECK(all.results[0].burst.value == 24e12);
  CHECK(all.results[0].measured_at.empty());
  CHECK(all.results[1].measured_at == earlier.measured_at);
  CHECK(all.remarks == earlier.remarks);
  // Measured a third time, the second time of the kept ones does not count.
  later.measured_at = "2026-03-03T12:00:00Z";
  REQUIRE(save_peaks(folder, later));
  CHECK((**load_peaks(folder, later.key)).results[1].measured_at == earlier.measured_at);
}

TEST_CASE("a damaged stored file is an error that names it and the remedy") {
  scratch_folder const scratch;
  auto const folder = scratch / "peaks";
  auto const gpu = pretended_gpu();
  REQUIRE(save_peaks(folder, gpu));
  auto const path = store_path(folder, gpu.key);
  for (auto const* const damage : {"", "{\"format\": 1,", "hello", "{}", "{\"format\": 7}"}) {
    write_file(path, damage);
    auto const loaded = load_peaks(folder, gpu.key);
    REQUIRE_FALSE(loaded);
    contains(loaded.message(), path);
    contains(loaded.message(), "; gpuprof peaks --refresh measures anew");
    CHECK(loaded.message().find('\n') == std::string::npos);
    CHECK(std::filesystem::file_size(path) == std::string_view(damage).size());
  }
  REQUIRE(save_peaks(folder, gpu));  // measuring anew replaces it
  CHECK(load_peaks(folder, gpu.key));
}

TEST_CASE("a folder that cannot be written gives one line, and no file is left behind") {
  scratch_folder const scratch;
  auto const gpu = pretended_gpu();
  write_file(scratch / "file", "not a folder");
  auto const below_a_file = save_peaks(scratch / "file/peaks", gpu);
  REQUIRE_FALSE(below_a_file);
  contains(below_a_file.message(), "Not a directory");
  auto const nothing = load_peaks(scratch / "file/peaks", gpu.key);
  REQUIRE(nothing);
  CHECK_FALSE(*nothing);

  // A folder stands where the file should: renaming onto it fails after all was written.
  std::filesystem::create_directories(store_path(scratch / "peaks", gpu.key) + "/x");
  auto const onto_a_folder = save_peaks(scratch / "peaks", gpu);
  REQUIRE_FALSE(onto_a_folder);
  contains(onto_a_folder.message(), "set GPUPROF_PEAKS_DIR to a writable folder");
  auto const entries = std::filesystem::directory_iterator(scratch / "peaks");
  CHECK(std::distance(begin(entries), end(entries)) == 1);
  CHECK_FALSE(load_peaks(scratch / "peaks", gpu.key));

  auto const nowhere = save_peaks("", gpu);
  REQUIRE_FALSE(nowhere);
  contains(nowhere.message(), "neither XDG_CACHE_HOME nor HOME is set");

  if (geteuid() != 0) {  // root writes everywhere
    std::filesystem::create_directory(scratch / "closed");
    chmod((scratch / "closed").c_str(), 0500);
    auto const closed = save_peaks(scratch / "closed", gpu);
    REQUIRE_FALSE(closed);
    contains(closed.message(), "Permission denied");
  }
}

TEST_CASE("a folder that cannot be created gives one line") {
  auto const refused = save_peaks("/proc/gpuprof", pretended_gpu());
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find('\n') == std::string::npos);
}

TEST_CASE("the folder is set by the user, else it is in the XDG cache, else below home") {
  auto const folder_with = [](char const* own, char const* cache, char const* home) {
    auto const set = [](char const* name, char const* value) {
      value != nullptr ? setenv(name, value, 1) : unsetenv(name);
    };
    set("GPUPROF_PEAKS_DIR", own);
    set("XDG_CACHE_HOME", cache);
    set("HOME", home);
    return store_folder();
  };
  CHECK(folder_with("/own", "/cache", "/home/me") == "/own");
  CHECK(folder_with(nullptr, "/cache", "/home/me") == "/cache/gpuprof/peaks");
  CHECK(folder_with("", "relative", "/home/me") == "/home/me/.cache/gpuprof/peaks");
  CHECK(folder_with(nullptr, nullptr, "/home/me") == "/home/me/.cache/gpuprof/peaks");
  CHECK(folder_with(nullptr, nullptr, nullptr).empty());
}

TEST_CASE("any file with peaks can be read by its path") {
  scratch_folder const scratch;
  write_file(scratch / "two.json", to_json(std::vector{pretended_gpu(1), pretended_gpu(2)}));
  auto const two = read_peaks_file(scratch / "two.json");
  REQUIRE(two);
  CHECK(two->size() == 2);
  auto const missing = read_peaks_file(scratch / "missing.json");
  REQUIRE_FALSE(missing);
  contains(missing.message(), "missing.json: No such file or directory");
  auto const folder = read_peaks_file(scratch / "");
  REQUIRE_FALSE(folder);
  contains(folder.message(), "Is a directory");
  write_file(scratch / "text", "hello");
  contains(read_peaks_file(scratch / "text").message(), "is no valid JSON from byte 1 on");
  contains(read_peaks_file("/dev/zero").message(), "File too large");
}

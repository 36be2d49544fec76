// SPDX-License-Identifier: Apache-2.0
// Counter availability kept on disk: asked once per machine, and again where it no longer holds.
#include "guest/metrics/availability_store.hpp"

#include "guest/counters/counter_access.hpp"
#include "guest/counters/windows/pm_sampler.hpp"
#include "support/catch.hpp"
#include "support/fake_cupti.hpp"
#include "support/scratch_folder.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

using namespace gpuprof;
using namespace gpuprof::guest;
using namespace gpuprof::test;

namespace {

constexpr char const* asking = "cuptiPmSamplingGetCounterAvailability";

availability_key a_key() {
  return {counter_engine::sampling, "GH100", "GPU-1b2c", "580.159.03", 13000, 130001, true};
}
availability_image an_image() {
  return {7, '\n', '\n', 0, 255, 'x'};
}

/// As one process does it: its own objects, the folder of all.
struct sampled_process {
  explicit sampled_process(std::string const& folder, availability_key of = a_key())
      : store(folder, [of](cupti_api const&, counter_engine engine, device_id) {
          auto key = of;
          key.engine = engine;
          return key;
        }) {}

  bool begin() {
    return sampler.begin_window(devices, 20'000, next_metric, metrics,
                                [](std::string const&) { return name_id{7}; });
  }
  /// Of the image; another asks for its size.
  unsigned times_asked() const { return cupti.count(asking) / 2; }

  fake_cupti cupti;
  availability_store store;
  std::uint32_t next_metric = 1;
  std::vector<metric_record> metrics;
  std::vector<device_id> devices{device_id{0}};
  std::atomic<bool> halted{false};
  pm_sampler sampler{cupti.library.api,
                     {.words = {"sm__cycles_active.avg"}, .interval_ns = 20'000, .stored = &store},
                     halted};
};

std::string text_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("a stored image is found under the same key, and only its owner may read it") {
  scratch_folder const folder;
  availability_store const store(folder / "a/b");
  CHECK_FALSE(store.load(a_key()));
  store.save(a_key(), an_image());
  CHECK(store.load(a_key()) == an_image());
  struct stat status {};
  REQUIRE(stat(store.path_of(a_key()).c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
  store.forget(a_key());
  CHECK_FALSE(store.load(a_key()));
}

TEST_CASE("a link in the place of an image is not followed") {
  scratch_folder const folder;
  availability_store const store(folder / "counters");
  store.save(a_key(), an_image());
  auto const path = store.path_of(a_key()), moved = folder / "moved";
  std::filesystem::rename(path, moved);
  std::filesystem::create_symlink(moved, path);
  CHECK_FALSE(store.load(a_key()));
  REQUIRE(std::filesystem::remove(path));
  std::filesystem::rename(moved, path);
  CHECK(store.load(a_key()) == an_image());
  REQUIRE(std::filesystem::remove(path));
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  CHECK_FALSE(store.load(a_key()));  // and does not wait for a writer
}

TEST_CASE("an image is valid only for its own GPU, driver, CUPTI, engine and rights") {
  scratch_folder const folder;
  availability_store const store(folder / "counters");
  store.save(a_key(), an_image());
  auto const differs = [&](auto change) {
    auto key = a_key();
    change(key);
    CHECK_FALSE(store.load(key));
  };
  differs([](auto& key) { key.engine = counter_engine::ranges; });
  differs([](auto& key) { key.chip = "GB100"; });
  differs([](auto& key) { key.gpu = "GPU-1b2d"; });
  differs([](auto& key) { key.driver_version = "580.159.04"; });
  differs([](auto& key) { key.cuda_version = 13010; });
  differs([](auto& key) { key.cupti_version = 130100; });
  differs([](auto& key) { key.is_privileged = false; });
}

TEST_CASE("nothing is stored if part of the key is not known") {
  scratch_folder const folder;
  availability_store const store(folder / "counters");
  auto key = a_key();
  key.driver_version.clear();
  store.save(key, an_image());
  CHECK_FALSE(std::filesystem::exists(folder / "counters"));
}

TEST_CASE("a file that was damaged at any byte, cut or renamed is ignored") {
  scratch_folder const folder;
  availability_store const store(folder / "counters");
  store.save(a_key(), an_image());
  auto const path = store.path_of(a_key());
  auto const whole = text_of(path);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    auto damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] + 1);
    std::ofstream(path, std::ios::binary) << damaged;
    CHECK_FALSE(store.load(a_key()));
    std::ofstream(path, std::ios::binary) << whole.substr(0, i);
    CHECK_FALSE(store.load(a_key()));
  }
  std::ofstream(path, std::ios::binary) << whole;
  CHECK(store.load(a_key()));
  auto other = a_key();
  other.gpu = "GPU-other";
  std::filesystem::rename(path, store.path_of(other));
  CHECK_FALSE(store.load(other));
}

TEST_CASE("a file that others may write is not read") {
  scratch_folder const folder;
  availability_store const store(folder / "counters");
  store.save(a_key(), an_image());
  REQUIRE(chmod(store.path_of(a_key()).c_str(), 0666) == 0);
  CHECK_FALSE(store.load(a_key()));
}

TEST_CASE("the GPU's name never leads out of the folder") {
  auto key = a_key();
  key.gpu = "../../x";
  CHECK(availability_store("/cache").path_of(key).find("/cache/______x-") == 0);
}

TEST_CASE("a folder that cannot be created is ignored") {
  scratch_folder const folder;
  std::ofstream(folder / "file") << "x";
  for (auto const& place : {folder / "file/counters", std::string()}) {
    availability_store const store(place);
    store.save(a_key(), an_image());
    store.forget(a_key());
    CHECK_FALSE(store.load(a_key()));
  }
}

TEST_CASE("only the first process asks CUPTI for the available counters") {
  scratch_folder const folder;
  for (unsigned const asked : {1u, 0u, 0u}) {
    sampled_process process(folder / "counters");
    CHECK(process.begin());
    CHECK(process.metrics.size() == 1);
    CHECK(process.times_asked() == asked);
  }
}

TEST_CASE("CUPTI is asked again with another driver") {
  scratch_folder const folder;
  availability_store(folder / "counters").save(a_key(), an_image());
  auto newer = a_key();
  newer.driver_version = "590.10";
  sampled_process process(folder / "counters", newer);
  CHECK(process.begin());
  CHECK(process.times_asked() == 1);
}

TEST_CASE("an image that CUPTI refuses is deleted, and CUPTI is asked once") {
  scratch_folder const folder;
  for (auto const* const call : {"cuptiPmSamplingEnable", "cuptiPmSamplingSetConfig"}) {
    availability_store(folder / "counters").save(a_key(), an_image());
    sampled_process process(folder / "counters");
    process.cupti.fail_nth(call, 1, CUPTI_ERROR_INVALID_PARAMETER);
    CHECK(process.begin());
    CHECK(process.times_asked() == 1);
    CHECK(process.store.load(a_key()) != an_image());
  }
}

TEST_CASE("a refusal that has other reasons is reported once, after asking once") {
  scratch_folder const folder;
  availability_store(folder / "counters").save(a_key(), an_image());
  sampled_process process(folder / "counters");
  process.cupti.fail_nth("cuptiPmSamplingSetConfig", 0, CUPTI_ERROR_INVALID_PARAMETER);
  CHECK_FALSE(process.begin());
  CHECK(process.times_asked() == 1);
  CHECK(process.sampler.take_warnings().size() == 1);
}

TEST_CASE("a stored image stays valid while another tool holds the counters") {
  scratch_folder const folder;
  availability_store(folder / "counters").save(a_key(), an_image());
  sampled_process process(folder / "counters");
  process.cupti.fail_nth("cuptiPmSamplingEnable", 1, CUPTI_ERROR_HARDWARE_BUSY);
  CHECK_FALSE(process.begin());
  CHECK(process.times_asked() == 0);
  CHECK(process.store.load(a_key()) == an_image());
}

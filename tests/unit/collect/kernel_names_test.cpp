// SPDX-License-Identifier: Apache-2.0
// Names by pointers that may come to mean other kernels.
#include "guest/collect/kernel_names.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <string>
#include <thread>
#include <vector>

using namespace gpuprof;
using namespace gpuprof::guest;

TEST_CASE("a pointer is known until code is unloaded") {
  name_registry names;
  kernel_names kernels(names);
  char text[] = "first";
  CHECK(raw(kernels.known(text)) == 0);
  auto const first = kernels.of_launched(text);
  CHECK(names.text(first) == "first");
  CHECK(kernels.known(text) == first);
  kernels.code_unloads();
  CHECK(raw(kernels.known(text)) == 0);
  text[0] = 'F';
  CHECK(names.text(kernels.of_launched(text)) == "First");
}

TEST_CASE("a null pointer has no name") {
  name_registry names;
  kernel_names kernels(names);
  CHECK(raw(kernels.of_launched(nullptr)) == 0);
  CHECK(raw(kernels.known(nullptr)) == 0);
}

TEST_CASE("a pointer is not known again after 65,536 unloads") {
  name_registry names;
  kernel_names kernels(names);
  kernels.of_launched("k");
  for (int i = 0; i < 65'536; ++i) kernels.code_unloads();
  CHECK(raw(kernels.known("k")) == 0);
}

TEST_CASE("launches beside threads that load and unload code never get a wrong name") {
  name_registry names;
  kernel_names kernels(names);
  std::vector<std::string> texts;
  for (int i = 0; i < 6000; ++i) texts.push_back("kernel " + std::to_string(i));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 60'000; ++i) {
        auto const& text = texts[(i * 7919 + t) % texts.size()];
        if (names.text(kernels.of_launched(text.c_str())) != text) ++wrong;
        if (i % 5000 == t) kernels.code_unloads();
      }
    });
  }
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

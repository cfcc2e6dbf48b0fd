// Runs a function as every thread of an emulated block, as generated code is run.

#ifndef KILN_TESTS_RUNTIME_EMULATOR_EMULATEDBLOCK_H
#define KILN_TESTS_RUNTIME_EMULATOR_EMULATEDBLOCK_H

#include "runtime/emulated_launch.h"
#include "runtime/emulator/kiln_emu.h"
#include "runtime/kiln.h"
#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kiln::emulator::testing {

class EmulatedBlock {
public:
  uint32_t threads = 32, warpSize = 32, sharedBanks = 32, sharedBytes = 1024;
  uint32_t cluster = 1; ///< blocks that run together
  bool check = true, count = false, hasCumulativeFences = false;
  uint32_t loadCaches = 0;
  std::vector<kiln_emulated_range> ranges; ///< sorted
  /// For counting: what the body uses, each at its index, and its basic blocks.
  std::vector<const kiln_emu_site *> sites;
  std::vector<kiln_emu_basic_block> blocks;
  std::vector<kiln_emu_instructions> instructions;

  /// Of the last run, with `count`.
  std::vector<kiln_emulator_count> counts;

  using Body = std::function<void(kiln_emu_thread *)>;

  /// What was reported, in order.
  std::vector<std::string> run(const Body &body) {
    kiln_emulator *emulator = nullptr;
    EXPECT_EQ(kiln_emulator_create("sm_80", nullptr, &emulator), KILN_SUCCESS);
    kiln_emulated_launch launch = {};
    launch.emulator = emulator;
    launch.cluster = cluster;
    launch.threads = threads;
    launch.dynamic_bytes = sharedBytes;
    launch.max_shared = 160 * 1024;
    launch.check = check;
    launch.count = count;
    launch.ranges = ranges.data();
    launch.num_ranges = uint32_t(ranges.size());
    kiln_emu_kernel kernel = {call,
                              "kernel",
                              warpSize,
                              sharedBanks,
                              threads,
                              0,
                              uint32_t(sites.size()),
                              uint32_t(blocks.size()),
                              hasCumulativeFences,
                              loadCaches,
                              sites.data(),
                              blocks.data(),
                              instructions.data()};
    void *params[] = {const_cast<Body *>(&body)};
    const uint32_t program[3] = {2, 1, 0}, programs[3] = {3, 2, 1};
    kiln_emu_run_block(&kernel, params, program, programs, &launch);
    std::vector<std::string> reports;
    for (uint32_t i = 0; i < kiln_emulator_num_reports(emulator); ++i)
      reports.push_back(kiln_emulator_report(emulator, i));
    counts.resize(kiln_emulator_num_counts(emulator));
    for (uint32_t i = 0; i < counts.size(); ++i)
      EXPECT_EQ(kiln_emulator_count_at(emulator, i, &counts[i]), KILN_SUCCESS);
    kiln_emulator_destroy(emulator);
    return reports;
  }

private:
  static void call(kiln_emu_thread *thread, void *const *params) {
    (*static_cast<const Body *>(params[0]))(thread);
  }
};

/// A place in a source: SITE(name, "operation", line), in the order of the lines. Those that are
/// counted have a number.
#define SITE(NAME, OPERATION, LINE) COUNTED_SITE(NAME, OPERATION, LINE, LINE, "other", 0)
#define COUNTED_SITE(NAME, OPERATION, LINE, INDEX, KIND, IS_WARP)                                  \
  static const kiln_emu_site NAME = {OPERATION, "kernel.py", LINE,    5, INDEX,                    \
                                     IS_WARP,   KIND,        nullptr, 4, 0}

inline ::testing::AssertionResult oneReport(const std::vector<std::string> &reports,
                                            const std::string &part) {
  if (reports.size() == 1 && reports[0].find(part) != std::string::npos)
    return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure() << "expected one report with \"" << part << "\", got";
  for (const std::string &report : reports)
    result << "\n  " << report;
  return result;
}

inline bool anyReport(const std::vector<std::string> &reports, const std::string &part) {
  return std::any_of(reports.begin(), reports.end(), [&](const std::string &report) {
    return report.find(part) != std::string::npos;
  });
}

} // namespace kiln::emulator::testing

#endif

// What a tuner makes of times on a machine whose speed changes.
extern "C" {
#include "runtime/tuner/samples.h"
}
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace {

using Samples = std::vector<kiln_tuner_samples>;

std::vector<double> fit(const Samples &samples) {
  std::vector<double> times(samples.size());
  kiln_tuner_fit(samples.data(), uint32_t(samples.size()), times.data());
  return times;
}

kiln_tuner_samples constant(double time, uint32_t count) {
  kiln_tuner_samples samples = {};
  samples.count = count;
  std::fill_n(samples.microseconds, count, time);
  return samples;
}

TEST(TunerSamples, WhatDoesNotChangeIsAsItIs) {
  std::vector<double> times = fit({constant(10, 100), constant(12, 5), constant(70, 3)});
  EXPECT_NEAR(times[0], 10, 1e-9);
  EXPECT_NEAR(times[1], 12, 1e-9);
  EXPECT_NEAR(times[2], 70, 1e-9);
  EXPECT_TRUE(fit({}).empty());
  EXPECT_NEAR(fit({constant(3, 1)})[0], 3, 1e-9);
}

// The second variant has samples in slow rounds alone: its own median says 22.
TEST(TunerSamples, RoundsThatAreSlowAreTakenOut) {
  kiln_tuner_samples often = constant(10, 100), seldom = constant(11, 3);
  for (int round = 0; round < 30; ++round)
    often.microseconds[round] *= 2;
  for (int round = 0; round < 3; ++round)
    seldom.microseconds[round] *= 2;
  std::vector<double> times = fit({often, seldom});
  EXPECT_NEAR(times[0], 10, 1e-4);
  EXPECT_NEAR(times[1], 11, 1e-4);
}

// Eight variants that differ by 3 %, rounds of three speeds, single launches that are interrupted.
TEST(TunerSamples, OrderIsFoundWhereMediansAreWrong) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform;
  int right = 0, rightByMedians = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Samples samples;
    for (int v = 0; v < 8; ++v)
      samples.push_back(constant(100 * std::pow(1.03, v), 15));
    for (int round = 0; round < 15; ++round) {
      double speed = std::vector<double>{1, 1.6, 2.7}[random() % 3];
      for (kiln_tuner_samples &one : samples)
        one.microseconds[round] *=
            speed * (1 + 0.01 * uniform(random)) * (random() % 6 ? 1 : 1 + 3 * uniform(random));
    }
    std::vector<double> times = fit(samples), medians;
    for (kiln_tuner_samples &one : samples) {
      std::sort(one.microseconds, one.microseconds + one.count);
      medians.push_back(one.microseconds[one.count / 2]);
    }
    right += std::is_sorted(times.begin(), times.end());
    rightByMedians += std::is_sorted(medians.begin(), medians.end());
  }
  EXPECT_GE(right, 190);
  EXPECT_LE(rightByMedians, 100);
}

TEST(TunerSamples, ClocksThatAreTooCoarseAreNoFailure) {
  std::vector<double> times = fit({constant(0, 5), constant(1, 5)});
  EXPECT_LT(times[0], times[1]);
  EXPECT_TRUE(std::isfinite(times[0]));
}

} // namespace

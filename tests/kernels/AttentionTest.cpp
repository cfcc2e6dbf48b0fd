#include "attention.h"
#include "tests/kernels/AttentionCase.h"

using namespace kiln::test;

namespace {

/// Of 8-bit floats: of each head, or of all.
struct Scales {
  std::vector<float> q, k, v;
  int step = 0;
  double of(const std::vector<float> &scales, int instance) const {
    return scales.empty() ? 1 : scales[size_t(instance) * step];
  }
};

class Attention : public KernelTest {
protected:
  Scales scales;

  /// `launch` takes what is behind the scale, too.
  template <typename T, int dim, typename Out = T, typename Launch, typename... Rest>
  void run(Shape shape, Form form, double tolerance, Launch launch, Rest... rest) {
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.heads << " x " << shape.queries
                                    << " queries, " << shape.keys << " keys");
    Layout q = shape.ofQueries(dim), k = shape.ofKeys(dim);
    Buffer<T> queries(q.size()), keys(k.size()), values(k.size());
    Buffer<Out> out(q.size());
    Buffer<float> lse(size_t(shape.batch) * shape.heads * shape.queries);
    for (Buffer<T> *buffer : {&queries, &keys, &values})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
    out.fill([&](size_t) { return Out(random(-2, 2)); });
    std::vector<float> before(q.size());
    for (size_t i = 0; i < before.size(); ++i)
      before[i] = float(out[i]);
    const float scale = 0.4f / std::sqrt(float(dim));
    ASSERT_KILN(launch(stream(), queries.data(), keys.data(), values.data(), out.data(), lse.data(),
                       q.batchStride(), q.headStride(), int(q.rowStride()), k.batchStride(),
                       k.headStride(), int(k.rowStride()), k.batchStride(), k.headStride(),
                       int(k.rowStride()), q.batchStride(), q.headStride(), int(q.rowStride()),
                       shape.heads, shape.group, shape.queries, shape.keys, scale, rest...,
                       shape.batch));
    std::vector<float> queryValues = valuesOf(queries), keyValues = valuesOf(keys),
                       valueValues = valuesOf(values);
    std::vector<bool> isWritten(q.size());
    for (int b = 0; b < shape.batch; ++b)
      for (int h = 0; h < shape.heads; ++h)
        for (int row = 0; row < shape.queries; ++row) {
          int kvHead = h / shape.group, instance = b * k.heads + kvHead;
          double ofScores =
              scales.of(scales.q, b * shape.heads + h) * scales.of(scales.k, instance);
          size_t first = k.at(b, kvHead, 0);
          Row expectedRow = attend(shape, form, row, &queryValues[q.at(b, h, row)],
                                   &keyValues[first], k.rowStride(), dim, scale * ofScores);
          std::vector<double> expected =
              weighted(expectedRow, &valueValues[first], k.rowStride(), dim);
          float gotLse = lse[size_t(b * shape.heads + h) * shape.queries + row];
          if (expectedRow.seesAny())
            ASSERT_NEAR(gotLse, expectedRow.lse, 1e-3);
          else
            ASSERT_EQ(gotLse, -INFINITY);
          for (int d = 0; d < dim; ++d) {
            double scaled = expected[d] * scales.of(scales.v, instance);
            ASSERT_NEAR(double(float(out[q.at(b, h, row) + d])), scaled, tolerance)
                << "row " << row << ", element " << d;
            isWritten[q.at(b, h, row) + d] = true;
          }
        }
    for (size_t i = 0; i < before.size(); ++i)
      if (!isWritten[i])
        ASSERT_EQ(float(out[i]), before[i]) << "between the rows";
    EXPECT_TRUE(out.guardsHold());
    EXPECT_TRUE(lse.guardsHold());
  }
};

TEST_P(Attention, F16MatchesForOddLengths) {
  for (Shape shape : {Shape{1, 1, 1, 1, 0}, {2, 3, 67, 101, 16}, {1, 2, 130, 33, 0}})
    run<F16, 64>(shape, {}, 4e-3, attention_f16);
}

TEST_P(Attention, CausalF16SeesWhatCameBefore) {
  for (Shape shape : {Shape{1, 2, 100, 100, 0}, {1, 1, 5, 77, 16}})
    run<F16, 64>(shape, {.isCausal = true}, 4e-3, attention_causal_f16);
}

TEST_P(Attention, HeadsOf128) {
  run<F16, 128>({1, 1, 70, 300, 0}, {}, 4e-3, attention_f16_128);
  run<F16, 128>({1, 2, 200, 200, 16}, {.isCausal = true}, 4e-3, attention_causal_f16_128);
}

TEST_P(Attention, HeadsThatShareKeys) {
  run<F16, 64>({2, 6, 40, 70, 0, 3}, {}, 4e-3, attention_f16);
  run<BF16, 128>({1, 4, 33, 129, 16, 2}, {.isCausal = true}, 2e-2, attention_causal_bf16_128);
}

TEST_P(Attention, AWindowOfKeys) {
  for (int window : {1, 64, 200})
    run<F16, 128>({1, 1, 150, 290, 0}, {.isCausal = true, .window = window}, 4e-3,
                  attention_windowed_f16_128, window);
  run<F16, 128>({1, 1, 90, 60, 0}, {.isCausal = true, .window = 17}, 4e-3,
                attention_windowed_f16_128, 17);
}

TEST_P(Attention, CappedScores) {
  run<F16, 64>({1, 2, 65, 100, 0}, {.isCausal = true, .softCap = 0.75f}, 4e-3, attention_capped_f16,
               0.75f);
}

TEST_P(Attention, CausalF32WithQueriesThatSeeNothing) {
  for (Shape shape : {Shape{1, 2, 45, 45, 3}, {1, 1, 40, 33, 5}})
    run<float, 32>(shape, {.isCausal = true}, 4e-3, attention_causal_f32);
}

TEST_P(Attention, HeadsOf96) {
  run<F16, 96>({1, 1, 70, 150, 0}, {}, 4e-3, attention_f16_96);
  run<F16, 96>({2, 2, 130, 130, 16, 2}, {.isCausal = true}, 4e-3, attention_causal_f16_96);
}

TEST_P(Attention, HeadsOf256) {
  run<F16, 256>({1, 1, 70, 100, 0}, {}, 4e-3, attention_f16_256);
  run<F16, 256>({1, 2, 130, 130, 16, 2}, {.isCausal = true}, 4e-3, attention_causal_f16_256);
}

TEST_P(Attention, F8WithScales) {
  Buffer<float> q(8), k(8), v(8);
  for (Buffer<float> *buffer : {&q, &k, &v})
    buffer->fill([&](size_t) { return random(0.5f, 1.5f); });
  for (int step : {0, 1}) {
    scales = {{q.data(), q.data() + 8}, {k.data(), k.data() + 8}, {v.data(), v.data() + 8}, step};
    run<E4M3, 128, F16>({1, 2, 70, 150, 0}, {}, 6e-3, attention_f8e4m3_128, q.data(), k.data(),
                        v.data(), step);
    run<E4M3, 128, F16>({2, 4, 65, 65, 16, 2}, {.isCausal = true}, 6e-3,
                        attention_causal_f8e4m3_128, q.data(), k.data(), v.data(), step);
  }
}

KILN_INSTANTIATE(Attention);

} // namespace

#include "attention.h"
#include "tests/kernels/KernelTest.h"

using namespace kiln::test;

namespace {

/// batch x heads x rows x dim, with room behind each row, each head and each batch.
struct Layout {
  int batch, heads, rows, dim, padding;
  int64_t rowStride() const { return dim + padding; }
  int64_t headStride() const { return rows * rowStride() + padding; }
  int64_t batchStride() const { return heads * headStride() + padding; }
  size_t size() const { return size_t(batch * batchStride()); }
  size_t at(int b, int h, int row) const {
    return size_t(b * batchStride() + h * headStride() + row * rowStride());
  }
};

struct Shape {
  int batch, heads, queries, keys, padding;
  int group = 1; ///< heads of queries that share one of keys and values
};

/// Which keys a query sees, and what becomes of scores.
struct Form {
  bool isCausal = false;
  int window = 0;    ///< 0: all that come before
  float softCap = 0; ///< 0: none
};

class Attention : public KernelTest {
protected:
  /// `launch` takes what is behind the scale, too.
  template <typename T, int dim, typename Launch, typename... Rest>
  void run(Shape shape, Form form, double tolerance, Launch launch, Rest... rest) {
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.heads << " x " << shape.queries
                                    << " queries, " << shape.keys << " keys");
    Layout q{shape.batch, shape.heads, shape.queries, dim, shape.padding};
    Layout k{shape.batch, shape.heads / shape.group, shape.keys, dim, 2 * shape.padding};
    Buffer<T> queries(q.size()), keys(k.size()), values(k.size()), out(q.size());
    Buffer<float> lse(size_t(shape.batch) * shape.heads * shape.queries);
    for (Buffer<T> *buffer : {&queries, &keys, &values, &out})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
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
    std::vector<bool> isWritten(q.size());
    for (int b = 0; b < shape.batch; ++b)
      for (int h = 0; h < shape.heads; ++h)
        for (int row = 0; row < shape.queries; ++row) {
          int seen = form.isCausal ? std::max(0, row + 1 + shape.keys - shape.queries) : shape.keys;
          int first = form.window ? std::max(0, seen - form.window) : 0, kvHead = h / shape.group;
          std::vector<double> scores(seen, -INFINITY);
          double largest = -INFINITY, sum = 0;
          for (int n = first; n < seen; ++n) {
            scores[n] = 0;
            for (int d = 0; d < dim; ++d)
              scores[n] += double(float(queries[q.at(b, h, row) + d])) *
                           double(float(keys[k.at(b, kvHead, n) + d])) * double(scale);
            if (form.softCap)
              scores[n] = form.softCap * std::tanh(scores[n] / form.softCap);
            largest = std::max(largest, scores[n]);
          }
          for (double &score : scores)
            sum += score = std::exp(score - largest);
          float gotLse = lse[size_t(b * shape.heads + h) * shape.queries + row];
          if (seen)
            ASSERT_NEAR(gotLse, largest + std::log(sum), 1e-3);
          else
            ASSERT_EQ(gotLse, -INFINITY);
          for (int d = 0; d < dim; ++d) {
            double expected = 0;
            for (int n = 0; n < seen; ++n)
              expected += scores[n] / sum * double(float(values[k.at(b, kvHead, n) + d]));
            ASSERT_NEAR(double(float(out[q.at(b, h, row) + d])), expected, tolerance)
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

KILN_INSTANTIATE(Attention);

} // namespace

#include "attention_backward.h"
#include "tests/kernels/AttentionCase.h"

using namespace kiln::test;

namespace {

/// The C functions of one kind of attention.
template <typename Statistics, typename Keys, typename Queries> struct Functions {
  Statistics statistics;
  Keys keys;
  Queries queries;
};
template <typename Statistics, typename Keys, typename Queries>
Functions(Statistics, Keys, Queries) -> Functions<Statistics, Keys, Queries>;

/// Gradients in double precision, laid out as the arrays are.
struct Gradients {
  std::vector<double> q, k, v;
};

template <typename T> struct Arrays {
  Arrays(const Shape &shape, int dim)
      : shape(shape), rows(shape.ofQueries(dim)), columns(shape.ofKeys(dim)), q(rows.size()),
        k(columns.size()), v(columns.size()), out(rows.size()), dout(rows.size()), dq(rows.size()),
        dk(columns.size()), dv(columns.size()),
        lse(size_t(shape.batch) * shape.heads * shape.queries),
        lse2(size_t(shape.batch) * shape.heads * paddedRows()),
        delta(size_t(shape.batch) * shape.heads * paddedRows()),
        scale(0.4f / std::sqrt(float(dim))) {}

  int paddedRows() const { return (shape.queries + 127) / 128 * 128; }

  Shape shape;
  Layout rows, columns;
  Buffer<T> q, k, v, out, dout, dq, dk, dv;
  Buffer<float> lse, lse2, delta;
  float scale;
};

/// What the gradients are; on the way, the results of the forward pass.
template <typename T> Gradients gradients(Arrays<T> &a, const Form &form) {
  const int dim = a.rows.dim;
  Gradients expected{std::vector<double>(a.rows.size()), std::vector<double>(a.columns.size()),
                     std::vector<double>(a.columns.size())};
  std::vector<float> q = valuesOf(a.q), k = valuesOf(a.k), v = valuesOf(a.v),
                     dout = valuesOf(a.dout);
  for (int b = 0; b < a.shape.batch; ++b)
    for (int h = 0; h < a.shape.heads; ++h)
      for (int m = 0; m < a.shape.queries; ++m) {
        size_t atQ = a.rows.at(b, h, m), atK = a.columns.at(b, h / a.shape.group, 0);
        int64_t stride = a.columns.rowStride();
        Row row = attend(a.shape, form, m, &q[atQ], &k[atK], stride, dim, a.scale);
        a.lse[size_t(b * a.shape.heads + h) * a.shape.queries + m] = float(row.lse);
        std::vector<double> out = weighted(row, &v[atK], stride, dim);
        double delta = 0;
        for (int d = 0; d < dim; ++d) {
          a.out[atQ + d] = T(float(out[d]));
          delta += out[d] * double(dout[atQ + d]);
        }
        for (int n = 0; n < a.shape.keys; ++n) {
          size_t at = atK + n * stride;
          double p = row.probabilities[n];
          if (p == 0)
            continue;
          double ds =
              p * (sumOfProducts(&dout[atQ], &v[at], dim) - delta) * row.slopes[n] * a.scale;
          addScaled(&expected.v[at], p, &dout[atQ], dim);
          addScaled(&expected.k[at], ds, &q[atQ], dim);
          addScaled(&expected.q[atQ], ds, &k[at], dim);
        }
      }
  return expected;
}

template <typename T>
void expectNear(Buffer<T> &got, const std::vector<double> &expected, const Layout &layout,
                double tolerance, const char *name) {
  std::vector<bool> isRow(layout.size());
  for (int b = 0; b < layout.batch; ++b)
    for (int h = 0; h < layout.heads; ++h)
      for (int row = 0; row < layout.rows; ++row)
        for (int d = 0; d < layout.dim; ++d) {
          size_t at = layout.at(b, h, row) + d;
          isRow[at] = true;
          ASSERT_NEAR(double(float(got[at])), expected[at],
                      tolerance * (1 + std::fabs(expected[at])))
              << name << ", head " << h << ", row " << row << ", element " << d;
        }
  for (size_t i = 0; i < isRow.size(); ++i)
    if (!isRow[i])
      ASSERT_EQ(float(got[i]), 1) << name << ", between the rows";
  EXPECT_TRUE(got.guardsHold());
}

class AttentionBackward : public KernelTest {
protected:
  /// `launch` makes all three gradients of the arrays.
  template <typename T, int dim, typename Launch>
  void check(Shape shape, Form form, double tolerance, Launch launch) {
    SCOPED_TRACE(testing::Message() << shape.batch << " x " << shape.heads << " x " << shape.queries
                                    << " queries, " << shape.keys << " keys");
    Arrays<T> a(shape, dim);
    for (Buffer<T> *buffer : {&a.q, &a.k, &a.v, &a.dout})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
    for (Buffer<T> *buffer : {&a.dq, &a.dk, &a.dv})
      buffer->fill([](size_t) { return T(1); });
    for (Buffer<float> *buffer : {&a.lse2, &a.delta})
      buffer->fill([](size_t) { return NAN; });
    Gradients expected = gradients(a, form);
    launch(a, Strides{a.rows.batchStride(), a.rows.headStride(), int(a.rows.rowStride())},
           Strides{a.columns.batchStride(), a.columns.headStride(), int(a.columns.rowStride())});
    expectNear(a.dv, expected.v, a.columns, tolerance, "dv");
    expectNear(a.dk, expected.k, a.columns, tolerance, "dk");
    expectNear(a.dq, expected.q, a.rows, tolerance, "dq");
    EXPECT_TRUE(a.lse2.guardsHold());
    EXPECT_TRUE(a.delta.guardsHold());
  }

  /// Of a batch, a head, a row.
  struct Strides {
    int64_t b, h;
    int m;
  };

  /// `rest`: what is behind the scale.
  template <typename T, int dim, typename F, typename... Rest>
  void run(Shape shape, Form form, double tolerance, F functions, Rest... rest) {
    check<T, dim>(shape, form, tolerance, [&](Arrays<T> &a, Strides q, Strides k) {
      ASSERT_KILN(functions.statistics(stream(), a.out.data(), a.dout.data(), a.lse.data(),
                                       a.lse2.data(), a.delta.data(), q.b, q.h, q.m, q.b, q.h, q.m,
                                       shape.heads, shape.queries, shape.batch));
      ASSERT_KILN(functions.keys(stream(), a.q.data(), a.k.data(), a.v.data(), a.dout.data(),
                                 a.lse2.data(), a.delta.data(), a.dk.data(), a.dv.data(), q.b, q.h,
                                 q.m, k.b, k.h, k.m, k.b, k.h, k.m, q.b, q.h, q.m, k.b, k.h, k.m,
                                 k.b, k.h, k.m, shape.heads / shape.group, shape.group,
                                 shape.queries, shape.keys, a.scale, rest..., shape.batch));
      ASSERT_KILN(functions.queries(stream(), a.q.data(), a.k.data(), a.v.data(), a.dout.data(),
                                    a.lse2.data(), a.delta.data(), a.dq.data(), q.b, q.h, q.m, k.b,
                                    k.h, k.m, k.b, k.h, k.m, q.b, q.h, q.m, q.b, q.h, q.m,
                                    shape.heads, shape.group, shape.queries, shape.keys, a.scale,
                                    rest..., shape.batch));
    });
  }

  /// With the queries' gradients added up in memory.
  template <typename T, int dim, typename F>
  void runAtOnce(Shape shape, Form form, double tolerance, F functions) {
    check<T, dim>(shape, form, tolerance, [&](Arrays<T> &a, Strides q, Strides k) {
      Buffer<float> sums(a.delta.size() * dim);
      sums.fill([](size_t) { return NAN; });
      ASSERT_KILN(functions.statistics(stream(), a.out.data(), a.dout.data(), a.lse.data(),
                                       a.lse2.data(), a.delta.data(), q.b, q.h, q.m, q.b, q.h, q.m,
                                       shape.heads, shape.queries, sums.data(), shape.batch));
      ASSERT_KILN(functions.keys(stream(), a.q.data(), a.k.data(), a.v.data(), a.dout.data(),
                                 a.lse2.data(), a.delta.data(), a.dk.data(), a.dv.data(), q.b, q.h,
                                 q.m, k.b, k.h, k.m, k.b, k.h, k.m, q.b, q.h, q.m, k.b, k.h, k.m,
                                 k.b, k.h, k.m, shape.heads / shape.group, shape.group,
                                 shape.queries, shape.keys, a.scale, sums.data(), shape.batch));
      ASSERT_KILN(functions.queries(stream(), sums.data(), a.dq.data(), q.b, q.h, q.m, shape.heads,
                                    shape.queries, a.scale, shape.batch));
      EXPECT_TRUE(sums.guardsHold());
    });
  }
};

#define FUNCTIONS(ROWS, FORM)                                                                      \
  Functions {                                                                                      \
    attention_row_statistics_##ROWS, attention_key_gradients_##FORM,                               \
        attention_query_gradients_##FORM                                                           \
  }

TEST_P(AttentionBackward, F16MatchesForOddLengths) {
  for (Shape shape : {Shape{1, 1, 1, 1, 0}, {2, 2, 67, 101, 16}, {1, 1, 130, 33, 0}})
    run<F16, 64>(shape, {}, 4e-3, FUNCTIONS(f16, f16));
}

TEST_P(AttentionBackward, CausalF16) {
  for (Shape shape : {Shape{1, 2, 150, 150, 0}, {1, 1, 5, 77, 16}})
    run<F16, 64>(shape, {.isCausal = true}, 4e-3, FUNCTIONS(f16, causal_f16));
}

TEST_P(AttentionBackward, HeadsOf128) {
  run<F16, 128>({1, 1, 70, 150, 0}, {}, 4e-3, FUNCTIONS(f16_128, f16_128));
  run<F16, 128>({1, 1, 200, 200, 16}, {.isCausal = true}, 4e-3, FUNCTIONS(f16_128, causal_f16_128));
}

#define FUNCTIONS_AT_ONCE(ROWS, FORM)                                                              \
  Functions {                                                                                      \
    attention_row_statistics_and_sums_##ROWS, attention_gradients_##FORM,                          \
        attention_query_gradients_of_sums_##ROWS                                                   \
  }

TEST_P(AttentionBackward, AllAtOnce) {
  runAtOnce<F16, 128>({1, 2, 150, 70, 16}, {}, 4e-3, FUNCTIONS_AT_ONCE(f16_128, f16_128));
  runAtOnce<F16, 128>({1, 1, 200, 300, 0}, {}, 4e-3, FUNCTIONS_AT_ONCE(f16_128, f16_128));
  runAtOnce<F16, 128>({1, 1, 200, 200, 16}, {.isCausal = true}, 4e-3,
                      FUNCTIONS_AT_ONCE(f16_128, causal_f16_128));
  runAtOnce<F16, 128>({1, 1, 90, 60, 0}, {.isCausal = true}, 4e-3,
                      FUNCTIONS_AT_ONCE(f16_128, causal_f16_128));
  runAtOnce<BF16, 128>({1, 4, 133, 129, 16, 2}, {.isCausal = true}, 3e-2,
                       FUNCTIONS_AT_ONCE(bf16_128, causal_bf16_128));
}

TEST_P(AttentionBackward, HeadsThatShareKeys) {
  run<F16, 64>({2, 6, 40, 70, 0, 3}, {}, 4e-3, FUNCTIONS(f16, f16));
  run<BF16, 128>({1, 4, 33, 129, 16, 2}, {.isCausal = true}, 3e-2,
                 FUNCTIONS(bf16_128, causal_bf16_128));
}

TEST_P(AttentionBackward, AWindowOfKeys) {
  for (int window : {1, 64})
    run<F16, 128>({1, 1, 150, 190, 0}, {.isCausal = true, .window = window}, 4e-3,
                  FUNCTIONS(f16_128, windowed_f16_128), window);
  run<F16, 128>({1, 1, 90, 60, 0}, {.isCausal = true, .window = 17}, 4e-3,
                FUNCTIONS(f16_128, windowed_f16_128), 17);
}

TEST_P(AttentionBackward, CappedScores) {
  run<F16, 64>({1, 2, 65, 100, 0}, {.isCausal = true, .softCap = 0.75f}, 4e-3,
               FUNCTIONS(f16, capped_f16), 0.75f);
}

TEST_P(AttentionBackward, CausalF32WithQueriesThatSeeNothing) {
  for (Shape shape : {Shape{1, 2, 45, 45, 3}, {1, 1, 40, 33, 5}})
    run<float, 32>(shape, {.isCausal = true}, 4e-3, FUNCTIONS(f32, causal_f32));
}

TEST_P(AttentionBackward, HeadsOf96) {
  run<F16, 96>({1, 1, 70, 150, 0}, {}, 4e-3, FUNCTIONS(f16_96, f16_96));
  run<F16, 96>({2, 2, 130, 130, 16, 2}, {.isCausal = true}, 4e-3, FUNCTIONS(f16_96, causal_f16_96));
}

TEST_P(AttentionBackward, HeadsOf256) {
  run<F16, 256>({1, 1, 40, 100, 0}, {}, 4e-3, FUNCTIONS(f16_256, f16_256));
  run<F16, 256>({1, 2, 130, 70, 16, 2}, {.isCausal = true}, 4e-3,
                FUNCTIONS(f16_256, causal_f16_256));
}

KILN_INSTANTIATE(AttentionBackward);

} // namespace

// Attention of sequences of several lengths that lie behind one another, forward and backward.

#include "attention.h"
#include "attention_backward.h"
#include "tests/kernels/AttentionCase.h"
#include <numeric>

using namespace kiln::test;

namespace {

/// rows x heads x dim, with room behind each row.
struct PackedRows {
  PackedRows(std::vector<int> lengths, int heads, int dim, int padding)
      : starts(lengths.size() + 1), heads(heads), dim(dim), padding(padding) {
    std::partial_sum(lengths.begin(), lengths.end(), starts.begin() + 1);
    longest = *std::max_element(lengths.begin(), lengths.end());
  }
  int rowStride() const { return heads * dim + padding; }
  int rows() const { return starts.back(); }
  size_t size() const { return size_t(rows()) * rowStride(); }
  int length(int sequence) const { return starts[sequence + 1] - starts[sequence]; }
  size_t at(int sequence, int head, int row) const {
    return size_t(starts[sequence] + row) * rowStride() + head * dim;
  }

  std::vector<int> starts;
  int heads, dim, padding, longest = 0;
};

struct Sequences {
  std::vector<int> queries, keys;
  int heads, group, padding;
};

template <typename T> struct Arrays {
  explicit Arrays(const PackedRows &queries, const PackedRows &keys)
      : q(queries.size()), out(queries.size()), dout(queries.size()), dq(queries.size()),
        k(keys.size()), v(keys.size()), dk(keys.size()), dv(keys.size()),
        lse(size_t(queries.heads) * queries.rows()), lse2(statistics(queries)),
        delta(statistics(queries)), queryStarts(queries.starts.size()),
        keyStarts(keys.starts.size()) {
    queryStarts.fill([&](size_t i) { return queries.starts[i]; });
    keyStarts.fill([&](size_t i) { return keys.starts[i]; });
    for (Buffer<float> *buffer : {&lse, &lse2, &delta})
      buffer->fill([](size_t) { return NAN; });
  }
  static size_t statistics(const PackedRows &queries) {
    return size_t(queries.heads) * (queries.rows() / 128 + queries.starts.size() - 1) * 128;
  }

  Buffer<T> q, out, dout, dq, k, v, dk, dv;
  Buffer<float> lse, lse2, delta;
  Buffer<int> queryStarts, keyStarts;
};

template <typename T>
void expectNear(Buffer<T> &got, const std::vector<double> &expected, const PackedRows &rows,
                double tolerance, const char *name) {
  for (size_t i = 0; i < got.size(); ++i)
    if (int(i % rows.rowStride()) < rows.heads * rows.dim)
      ASSERT_NEAR(double(float(got[i])), expected[i], tolerance * (1 + std::fabs(expected[i])))
          << name << ", row " << i / rows.rowStride() << ", element " << i % rows.rowStride();
    else
      ASSERT_EQ(float(got[i]), 1) << name << ", behind row " << i / rows.rowStride();
  EXPECT_TRUE(got.guardsHold());
}

class PackedAttention : public KernelTest {
protected:
  /// `rest`: what is behind the scale of the three.
  template <typename T, int dim, typename Forward, typename Rows, typename Keys, typename Queries,
            typename... Rest>
  void run(const Sequences &sequences, Form form, Forward forward, Rows statistics, Keys ofKeys,
           Queries ofQueries, Rest... rest) {
    PackedRows q(sequences.queries, sequences.heads, dim, sequences.padding);
    PackedRows k(sequences.keys, sequences.heads / sequences.group, dim, sequences.padding);
    Arrays<T> a(q, k);
    for (Buffer<T> *buffer : {&a.q, &a.k, &a.v, &a.dout})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
    for (Buffer<T> *buffer : {&a.out, &a.dq, &a.dk, &a.dv})
      buffer->fill([](size_t) { return T(1); });
    const int64_t d = dim;
    const int qm = q.rowStride(), kn = k.rowStride(), batch = int(sequences.queries.size());
    const float scale = 0.4f / std::sqrt(float(dim));
    ASSERT_KILN(forward(stream(), a.q.data(), a.k.data(), a.v.data(), a.out.data(), a.lse.data(), d,
                        qm, d, kn, d, kn, d, qm, q.heads, sequences.group, q.rows(), scale, rest...,
                        a.queryStarts.data(), a.keyStarts.data(), batch, q.longest));
    ASSERT_KILN(statistics(stream(), a.out.data(), a.dout.data(), a.lse.data(), a.lse2.data(),
                           a.delta.data(), d, qm, d, qm, q.heads, q.rows(), a.queryStarts.data(),
                           batch, q.longest));
    ASSERT_KILN(ofKeys(stream(), a.q.data(), a.k.data(), a.v.data(), a.dout.data(), a.lse2.data(),
                       a.delta.data(), a.dk.data(), a.dv.data(), d, qm, d, kn, d, kn, d, qm, d, kn,
                       d, kn, k.heads, sequences.group, q.rows(), scale, rest...,
                       a.queryStarts.data(), a.keyStarts.data(), batch, k.longest));
    ASSERT_KILN(ofQueries(stream(), a.q.data(), a.k.data(), a.v.data(), a.dout.data(),
                          a.lse2.data(), a.delta.data(), a.dq.data(), d, qm, d, kn, d, kn, d, qm, d,
                          qm, q.heads, sequences.group, q.rows(), scale, rest...,
                          a.queryStarts.data(), a.keyStarts.data(), batch, q.longest));
    compare(a, q, k, sequences.group, form, scale);
  }

private:
  template <typename T>
  void compare(Arrays<T> &a, const PackedRows &q, const PackedRows &k, int group, const Form &form,
               double scale) {
    std::vector<double> out(q.size()), dq(q.size()), dk(k.size()), dv(k.size());
    std::vector<float> qs = valuesOf(a.q), ks = valuesOf(a.k), vs = valuesOf(a.v),
                       douts = valuesOf(a.dout);
    for (size_t s = 0; s + 1 < q.starts.size(); ++s)
      for (int h = 0; h < q.heads; ++h)
        for (int m = 0; m < q.length(int(s)); ++m) {
          size_t atQ = q.at(int(s), h, m), atK = k.at(int(s), h / group, 0);
          Shape shape{1, 1, q.length(int(s)), k.length(int(s)), 0};
          Row row = attend(shape, form, m, &qs[atQ], ks.data() + atK, k.rowStride(), q.dim, scale);
          float lse = a.lse[size_t(h) * q.rows() + q.starts[s] + m];
          if (row.seesAny())
            ASSERT_NEAR(lse, row.lse, 1e-3) << "sequence " << s << ", row " << m;
          else
            ASSERT_EQ(lse, -INFINITY);
          std::vector<double> ofRow = weighted(row, vs.data() + atK, k.rowStride(), q.dim);
          double delta = 0;
          for (int d = 0; d < q.dim; ++d) {
            out[atQ + d] = ofRow[d];
            delta += ofRow[d] * double(douts[atQ + d]);
          }
          for (size_t n = 0; n < row.probabilities.size(); ++n) {
            size_t at = atK + n * k.rowStride();
            double p = row.probabilities[n];
            double ds =
                p * (sumOfProducts(&douts[atQ], &vs[at], q.dim) - delta) * row.slopes[n] * scale;
            addScaled(&dv[at], p, &douts[atQ], q.dim);
            addScaled(&dk[at], ds, &qs[atQ], q.dim);
            addScaled(&dq[atQ], ds, &ks[at], q.dim);
          }
        }
    expectNear(a.out, out, q, 4e-3, "out");
    expectNear(a.dv, dv, k, 4e-3, "dv");
    expectNear(a.dk, dk, k, 4e-3, "dk");
    expectNear(a.dq, dq, q, 4e-3, "dq");
    EXPECT_TRUE(a.lse.guardsHold() && a.lse2.guardsHold() && a.delta.guardsHold());
  }
};

TEST_P(PackedAttention, F16) {
  run<F16, 64>({{5, 140, 0, 64, 1}, {70, 33, 9, 128, 0}, 2, 1, 16}, {}, packed_attention_f16,
               packed_attention_row_statistics_f16, packed_attention_key_gradients_f16,
               packed_attention_query_gradients_f16);
}

TEST_P(PackedAttention, CausalHeadsOf128ThatShareKeys) {
  run<F16, 128>({{130, 1, 40, 20}, {130, 77, 60, 9}, 2, 2, 0}, {.isCausal = true},
                packed_attention_causal_f16_128, packed_attention_row_statistics_f16_128,
                packed_attention_key_gradients_causal_f16_128,
                packed_attention_query_gradients_causal_f16_128);
}

KILN_INSTANTIATE(PackedAttention);

} // namespace

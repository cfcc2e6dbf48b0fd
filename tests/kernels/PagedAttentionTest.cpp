#include "paged_attention.h"
#include "tests/kernels/AttentionCase.h"
#include <algorithm>
#include <numeric>

using namespace kiln::test;

namespace {

struct Decode {
  std::vector<int> lengths;
  int kvHeads, group, splits;
};

/// Keys or values: pages x rows x heads x dim, with room behind each row and each page.
struct Pages {
  int count, rows, heads, dim;
  int rowStride() const { return heads * dim + 16; }
  int pageStride() const { return rows * rowStride() + 32; }
  size_t size() const { return size_t(count) * pageStride(); }
};

class PagedAttention : public KernelTest {
protected:
  template <typename T, int dim, typename Attend, typename Combine>
  void run(const Decode &decode, int pageSize, double tolerance, Attend attendPages,
           Combine combine) {
    SCOPED_TRACE(testing::Message() << decode.splits << " splits");
    const int batch = int(decode.lengths.size()), heads = decode.kvHeads * decode.group;
    const int mostPages =
        1 + *std::max_element(decode.lengths.begin(), decode.lengths.end()) / pageSize;
    Pages pages{batch * mostPages, pageSize, decode.kvHeads, dim};
    Buffer<T> q(size_t(batch) * heads * dim), k(pages.size()), v(pages.size()), out(q.size());
    Buffer<int> table(size_t(batch) * mostPages), lengths(decode.lengths.size());
    Buffer<float> partial(q.size() * decode.splits), lse(size_t(batch) * heads * decode.splits);
    for (Buffer<T> *buffer : {&q, &k, &v})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
    for (Buffer<float> *buffer : {&partial, &lse})
      buffer->fill([](size_t) { return NAN; });
    out.fill([](size_t) { return T(NAN); });
    lengths.fill([&](size_t i) { return decode.lengths[i]; });
    std::iota(table.data(), table.data() + table.size(), 0);
    std::shuffle(table.data(), table.data() + table.size(), std::mt19937(7));
    // Numbers of pages that no sequence needs are no numbers of pages.
    for (int b = 0; b < batch; ++b)
      for (int page = 0; page < mostPages; ++page)
        if (page * pageSize >= decode.lengths[b])
          table[b * mostPages + page] = 1 << 30;
    const float scale = 0.4f / std::sqrt(float(dim));
    const int64_t stride = int64_t(heads) * dim, row = pages.rowStride(), page = pages.pageStride();
    ASSERT_KILN(attendPages(stream(), q.data(), k.data(), v.data(), table.data(), lengths.data(),
                            partial.data(), lse.data(), stride, dim, page, row, dim, page, row, dim,
                            mostPages, decode.group, decode.splits, scale, batch, decode.kvHeads));
    ASSERT_KILN(combine(stream(), partial.data(), lse.data(), out.data(), stride, dim, heads,
                        decode.splits, batch));
    for (int b = 0; b < batch; ++b)
      for (int h = 0; h < heads; ++h) {
        int length = decode.lengths[b];
        // The keys in a row.
        std::vector<T> keys(size_t(length) * dim), values(size_t(length) * dim);
        for (int n = 0; n < length; ++n) {
          size_t at = size_t(table[b * mostPages + n / pageSize]) * pages.pageStride() +
                      n % pageSize * pages.rowStride() + h / decode.group * dim;
          std::copy_n(&k[at], dim, &keys[size_t(n) * dim]);
          std::copy_n(&v[at], dim, &values[size_t(n) * dim]);
        }
        Row expected = attend(Shape{1, 1, 1, length, 0}, {}, 0, &q[(size_t(b) * heads + h) * dim],
                              keys.data(), dim, dim, scale);
        for (int d = 0; d < dim; ++d) {
          double sum = 0;
          for (int n = 0; n < length; ++n)
            sum += expected.probabilities[n] * double(float(values[size_t(n) * dim + d]));
          ASSERT_NEAR(double(float(out[(size_t(b) * heads + h) * dim + d])), sum, tolerance)
              << "sequence " << b << ", head " << h << ", element " << d;
        }
      }
    EXPECT_TRUE(out.guardsHold() && partial.guardsHold() && lse.guardsHold());
  }
};

TEST_P(PagedAttention, OneSplit) {
  run<F16, 64>({{1, 33, 100}, 2, 1, 1}, 16, 4e-3, paged_attention_f16, combine_splits_f16);
}

TEST_P(PagedAttention, SplitsOfWhichSomeAreEmpty) {
  run<F16, 64>({{0, 20, 250}, 1, 3, 5}, 16, 4e-3, paged_attention_f16, combine_splits_f16);
  run<F16, 64>({{300, 7}, 2, 2, 12}, 64, 4e-3, paged_attention_f16_pages_of_64, combine_splits_f16);
}

TEST_P(PagedAttention, MoreHeadsThanABlockHolds) {
  run<F16, 128>({{77, 130}, 1, 20, 2}, 16, 4e-3, paged_attention_f16_128, combine_splits_f16_128);
  run<BF16, 128>({{129}, 2, 8, 3}, 64, 2e-2, paged_attention_bf16_128_pages_of_64,
                 combine_splits_bf16_128);
}

TEST_P(PagedAttention, RefusesMoreSplitsThanItCombines) {
  Buffer<float> partial(64), lse(1);
  Buffer<F16> out(64);
  EXPECT_EQ(combine_splits_f16(stream(), partial.data(), lse.data(), out.data(), 64, 64, 1, 65, 1),
            KILN_ERROR_NO_VARIANT);
}

KILN_INSTANTIATE(PagedAttention);

} // namespace

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

/// Keys or values: pages x rows x heads x dim, with room behind each row and
/// each page.
struct Pages {
  int count, rows, heads, dim;
  int rowStride() const { return heads * dim + 16; }
  int pageStride() const { return rows * rowStride() + 32; }
  size_t size() const { return size_t(count) * pageStride(); }
};

template <typename T> struct Arrays {
  Arrays(const Decode &decode, int pageSize, int dim)
      : batch(int(decode.lengths.size())), heads(decode.kvHeads * decode.group),
        mostPages(1 + *std::max_element(decode.lengths.begin(), decode.lengths.end()) / pageSize),
        pages{batch * mostPages, pageSize, decode.kvHeads, dim}, q(size_t(batch) * heads * dim),
        k(pages.size()), v(pages.size()), out(q.size()), table(size_t(batch) * mostPages),
        lengths(decode.lengths.size()), partial(q.size() * decode.splits),
        lse(size_t(batch) * heads * decode.splits), scale(0.4f / std::sqrt(float(dim))) {
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
  }

  /// The rows of a sequence's keys or values for one head, one after the other.
  std::vector<float> rowsOf(Buffer<T> &paged, int sequence, int kvHead) {
    std::vector<float> rows(size_t(lengths[sequence]) * pages.dim);
    for (int n = 0; n < lengths[sequence]; ++n) {
      size_t page = size_t(table[sequence * mostPages + n / pages.rows]);
      size_t at = page * pages.pageStride() + n % pages.rows * pages.rowStride();
      for (int d = 0; d < pages.dim; ++d)
        rows[size_t(n) * pages.dim + d] = float(paged[at + kvHead * pages.dim + d]);
    }
    return rows;
  }

  int batch, heads, mostPages;
  Pages pages;
  Buffer<T> q, k, v, out;
  Buffer<int> table, lengths;
  Buffer<float> partial, lse;
  float scale;
};

template <typename T> void compare(Arrays<T> &a, int group, double tolerance) {
  const int dim = a.pages.dim;
  std::vector<float> queries = valuesOf(a.q);
  for (int b = 0; b < a.batch; ++b)
    for (int h = 0; h < a.heads; ++h) {
      std::vector<float> keys = a.rowsOf(a.k, b, h / group), values = a.rowsOf(a.v, b, h / group);
      size_t at = (size_t(b) * a.heads + h) * dim;
      Row expected = attend(Shape{1, 1, 1, a.lengths[b], 0}, {}, 0, &queries[at], keys.data(), dim,
                            dim, a.scale);
      std::vector<double> sums = weighted(expected, values.data(), dim, dim);
      for (int d = 0; d < dim; ++d)
        ASSERT_NEAR(double(float(a.out[at + d])), sums[d], tolerance)
            << "sequence " << b << ", head " << h << ", element " << d;
    }
  EXPECT_TRUE(a.out.guardsHold() && a.partial.guardsHold() && a.lse.guardsHold());
}

class PagedAttention : public KernelTest {
protected:
  template <typename T, int dim, typename Attend, typename Combine>
  void run(const Decode &decode, int pageSize, double tolerance, Attend attendPages,
           Combine combine) {
    SCOPED_TRACE(testing::Message() << decode.splits << " splits");
    Arrays<T> a(decode, pageSize, dim);
    for (Buffer<T> *buffer : {&a.q, &a.k, &a.v})
      buffer->fill([&](size_t) { return T(random(-2, 2)); });
    const int64_t stride = int64_t(a.heads) * dim, row = a.pages.rowStride(),
                  page = a.pages.pageStride();
    ASSERT_KILN(attendPages(stream(), a.q.data(), a.k.data(), a.v.data(), a.table.data(),
                            a.lengths.data(), a.partial.data(), a.lse.data(), stride, dim, page,
                            row, dim, page, row, dim, a.mostPages, decode.group, decode.splits,
                            a.scale, a.batch, decode.kvHeads));
    ASSERT_KILN(combine(stream(), a.partial.data(), a.lse.data(), a.out.data(), stride, dim,
                        a.heads, decode.splits, a.batch));
    compare(a, decode.group, tolerance);
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

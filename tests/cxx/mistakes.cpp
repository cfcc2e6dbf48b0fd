// Uses of the header that do not compile, one for each macro; without any it does.

#include "rows.hpp"

#include <vector>

using kiln::fp16;
namespace kernels = kiln::kernels::rows;

inline kiln_status use(std::vector<fp16> &x, std::vector<float> &s,
                       const std::vector<fp16> &constant) {
  const int64_t flat[] = {16}, shape[] = {4, 4};
#if defined(WRONG_ELEMENT)
  return kernels::scale_rows(kiln::stream::cpu(), s, s, x, 1, 1, 1).status();
#elif defined(WRONG_CONST)
  return kernels::scale_rows(kiln::stream::cpu(), x, s, constant, 1, 1, 1).status();
#elif defined(WRONG_RANK)
  kiln::tensor<float, 1> line(s, flat);
  return kernels::add_one(kiln::stream::cpu(), line, line).status();
#elif defined(DROPPED)
  kernels::scale_rows(kiln::stream::cpu(), x, s, x, 1, 1, 1);
#endif
  (void)flat;
  kiln::tensor<float, 2> square(s, shape);
  if (auto added = kernels::add_one(kiln::stream::cpu(), square, square); !added)
    return added.status();
  return kernels::scale_rows(kiln::stream::cpu(), constant, s, x, 1, 1, 1).status();
}

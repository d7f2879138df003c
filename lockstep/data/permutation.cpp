#include "lockstep/data/permutation.h"

#include <numeric>
#include <utility>

#include "lockstep/data/keyed_random.h"

namespace lockstep::data {

std::vector<int64_t> permutation(int64_t n, uint64_t seed, uint64_t round) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = n - 1; i > 0; --i) {
    const auto j = below(keyed_random({seed, round, uint64_t(i)}), uint64_t(i) + 1);
    std::swap(order[i], order[j]);
  }
  return order;
}

}  // namespace lockstep::data

#include "lockstep/comm/stand_in_communicator.h"

#include <ATen/ops/empty_like.h>

#include "lockstep/base/check.h"
#include "lockstep/comm/ordered_sum.h"

namespace lockstep::comm {

Work StandInCommunicator::all_gather(at::Tensor out, at::Tensor in) {
  LOCKSTEP_CHECK(out.numel() == size() * in.numel()) << in.sizes() << " into " << out.sizes();
  out.view({size(), in.numel()}).copy_(in.view({1, -1}).expand({size(), in.numel()}));
  return Work();
}

Work StandInCommunicator::all_to_all(at::Tensor out, at::Tensor in) {
  return all_gather(out, in.view({size(), -1})[0]);
}

Work StandInCommunicator::reduce_scatter(at::Tensor out, at::Tensor in) {
  const at::Tensor parts = at::empty_like(in);
  all_to_all(parts, in);
  ordered_sum(out, parts.view({size(), -1}));
  return Work();
}

Work StandInCommunicator::all_reduce(at::Tensor in_out) {
  in_out.mul_(size());
  return Work();
}

Work StandInCommunicator::broadcast(at::Tensor, int root) {
  LOCKSTEP_CHECK(root == 0);
  return Work();
}

}  // namespace lockstep::comm

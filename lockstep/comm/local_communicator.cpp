#include "lockstep/comm/local_communicator.h"

#include "lockstep/base/check.h"

namespace lockstep::comm {

Work LocalCommunicator::all_gather(at::Tensor out, at::Tensor in) {
  out.copy_(in);
  return Work();
}

Work LocalCommunicator::all_to_all(at::Tensor out, at::Tensor in) { return all_gather(out, in); }

Work LocalCommunicator::reduce_scatter(at::Tensor out, at::Tensor in) { return all_gather(out, in); }

Work LocalCommunicator::all_reduce(at::Tensor) { return Work(); }

Work LocalCommunicator::broadcast(at::Tensor, int root) {
  LOCKSTEP_CHECK(root == 0);
  return Work();
}

}  // namespace lockstep::comm

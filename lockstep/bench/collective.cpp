#include "lockstep/bench/collective.h"

namespace lockstep::bench {
namespace {

void copy_if_other(const at::Tensor& out, const at::Tensor& in) {
  if (!out.is_same(in)) out.copy_(in);
}

}  // namespace

Collective collective_of(comm::Communicator& communicator, Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return [&communicator](const at::Tensor& out, const at::Tensor& in) {
        copy_if_other(out, in);
        communicator.all_reduce(out).wait();
      };
    case Operation::kAllGather:
      return [&communicator](const at::Tensor& out, const at::Tensor& in) {
        communicator.all_gather(out, in).wait();
      };
    case Operation::kReduceScatter:
      break;
  }
  return [&communicator](const at::Tensor& out, const at::Tensor& in) {
    communicator.reduce_scatter(out, in).wait();
  };
}

Collective collective_of(comm::LibraryCollectives& library, Operation operation) {
  switch (operation) {
    case Operation::kAllReduce:
      return [&library](const at::Tensor& out, const at::Tensor& in) {
        copy_if_other(out, in);
        library.all_reduce(out);
      };
    case Operation::kAllGather:
      return [&library](const at::Tensor& out, const at::Tensor& in) { library.all_gather(out, in); };
    case Operation::kReduceScatter:
      break;
  }
  return [&library](const at::Tensor& out, const at::Tensor& in) { library.reduce_scatter(out, in); };
}

}  // namespace lockstep::bench

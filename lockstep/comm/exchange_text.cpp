#include "lockstep/comm/exchange_text.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstring>

namespace lockstep::comm {
namespace {

at::Tensor to_tensor(const std::string& text, int64_t padded_bytes, c10::Device device) {
  const at::Tensor bytes = at::zeros({padded_bytes}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr<uint8_t>(), text.data(), text.size());
  return bytes.to(device);
}

std::string to_text(const at::Tensor& bytes, int64_t length) {
  return {reinterpret_cast<const char*>(bytes.const_data_ptr<uint8_t>()), static_cast<size_t>(length)};
}

at::Tensor length_of(const std::string& text, c10::Device device) {
  return at::full({1}, static_cast<int64_t>(text.size()),
                  at::TensorOptions().dtype(at::kLong).device(device));
}

}  // namespace

std::vector<std::string> all_gather_text(Communicator& comm, const std::string& mine, c10::Device device) {
  at::Tensor lengths = at::empty({comm.size()}, at::TensorOptions().dtype(at::kLong).device(device));
  comm.all_gather(lengths, length_of(mine, device)).wait();
  lengths = lengths.to(at::kCPU);
  const int64_t longest = lengths.max().item<int64_t>();
  std::vector<std::string> texts(static_cast<size_t>(comm.size()));
  if (longest == 0) return texts;
  at::Tensor gathered =
      at::empty({comm.size() * longest}, at::TensorOptions().dtype(at::kByte).device(device));
  comm.all_gather(gathered, to_tensor(mine, longest, device)).wait();
  gathered = gathered.to(at::kCPU);
  for (int rank = 0; rank < comm.size(); ++rank) {
    texts[static_cast<size_t>(rank)] =
        to_text(gathered.narrow(0, rank * longest, longest), lengths[rank].item<int64_t>());
  }
  return texts;
}

std::string broadcast_text(Communicator& comm, const std::string& text, int root, c10::Device device) {
  const at::Tensor length = length_of(text, device);
  comm.broadcast(length, root).wait();
  const auto num_bytes = length.item<int64_t>();
  if (num_bytes == 0) return "";
  const at::Tensor bytes = comm.rank() == root
                               ? to_tensor(text, num_bytes, device)
                               : at::zeros({num_bytes}, at::TensorOptions().dtype(at::kByte).device(device));
  comm.broadcast(bytes, root).wait();
  return to_text(bytes.to(at::kCPU), num_bytes);
}

}  // namespace lockstep::comm

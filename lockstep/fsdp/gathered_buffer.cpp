#include "lockstep/fsdp/gathered_buffer.h"

#include <ATen/ops/empty.h>
#include <c10/core/Allocator.h>
#include <c10/core/StorageImpl.h>

#include <limits>

namespace lockstep::fsdp {
namespace {

// The storage is a little larger than what any view covers. So a gathered parameter is
// always a view of a larger buffer, which is how optimizers know and refuse it.
constexpr int64_t kGuardBytes = 64;

// Many kernels take the raw pointer without asking whether there is memory behind it; this
// makes the asking throw, and back. (Despite its name the first call releases nothing.)
// libtorch 2.11 cannot take it back: there, reading a freed unit is a null pointer.
template <typename Storage>
void forbid_access(Storage& storage, const char* words) {
  if constexpr (requires { storage.clear_data_ptr_access_error_msg_(); }) {
    storage.release_data_and_set_meta_custom_data_ptr_error_msg_(words);
  }
}

template <typename Storage>
void allow_access(Storage& storage) {
  if constexpr (requires { storage.clear_data_ptr_access_error_msg_(); }) {
    storage.clear_data_ptr_access_error_msg_();
  }
}

}  // namespace

GatheredBuffer::GatheredBuffer(int64_t numel, c10::ScalarType dtype, c10::Device device, UnitMemory& memory)
    : memory_(memory) {
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  const size_t bytes = static_cast<size_t>(numel) * c10::elementSize(dtype) + kGuardBytes;
  c10::Storage storage(c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), bytes,
                                                             c10::DataPtr(nullptr, device),
                                                             c10::GetAllocator(device.type()),
                                                             /*resizable=*/false));
  tensor_ = at::empty({0}, options);
  tensor_.set_(storage, 0, {numel}, {1});
  release();
}

bool GatheredBuffer::allocated() const {
  return tensor_.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks().get() != nullptr;
}

void GatheredBuffer::allocate() {
  c10::StorageImpl* storage = tensor_.storage().unsafeGetStorageImpl();
  allow_access(*storage);
  storage->set_data_ptr_noswap(memory_.take(storage->nbytes()));
}

void GatheredBuffer::release() {
#ifndef NDEBUG
  if (allocated()) tensor_.fill_(std::numeric_limits<double>::quiet_NaN());
#endif
  c10::StorageImpl* storage = tensor_.storage().unsafeGetStorageImpl();
  memory_.give(storage->set_data_ptr(c10::DataPtr(nullptr, tensor_.device())), storage->nbytes());
  forbid_access(
      *storage,
      "fsdp: this parameter is not gathered now. Call its module through the holder, module(x), not "
      "module->forward(x), and read parameters only inside such a call");
}

}  // namespace lockstep::fsdp

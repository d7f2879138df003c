#include "lockstep/comm/peer_memory.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <fmt/format.h>
#include <unistd.h>

#include "lockstep/base/check.h"
#include "lockstep/base/first_line.h"
#include "lockstep/base/json.h"
#include "lockstep/comm/exchange_text.h"

namespace lockstep::comm {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

// What others need to find this rank's tensors.
Json offer(const std::vector<at::Tensor>& tensors) {
  Json places = Json::array();
  for (const at::Tensor& tensor : tensors) {
    const auto shared = allocator::shareIpcHandle(tensor.mutable_data_ptr());
    places.push_back({{"handle", std::vector<uint8_t>(shared.handle.begin(), shared.handle.end())},
                      {"offset", shared.offset},
                      {"bytes", tensor.nbytes()}});
  }
  return {{"process", getpid()}, {"tensors", places}};
}

// The first rank's reason, if any has one.
std::string common_reason(Communicator& comm, const std::string& mine, c10::Device device) {
  const auto all = all_gather_text(comm, mine, device);
  for (size_t rank = 0; rank < all.size(); ++rank)
    if (!all[rank].empty()) return fmt::format("rank {} of {}: {}", rank, comm.name(), all[rank]);
  return "";
}

}  // namespace

std::unique_ptr<PeerMemory> PeerMemory::map(Communicator& comm, const std::vector<at::Tensor>& tensors,
                                            std::string& why) {
  const c10::Device device(c10::kCUDA, c10::cuda::current_device());
  std::string reason;
  Json mine = Json::object();
  try {
    mine = offer(tensors);
  } catch (const std::exception& error) {
    reason = first_line(error.what());
  }
  const auto offers = all_gather_text(comm, mine.dump(), device);
  why = common_reason(comm, reason, device);
  if (!why.empty()) return nullptr;

  auto memory = std::make_unique<PeerMemory>();
  for (const at::Tensor& tensor : tensors) memory->tensors_.push_back(tensor.const_data_ptr());
  memory->places_.resize(tensors.size());
  try {
    for (int rank = 0; rank < comm.size(); ++rank) {
      const Json theirs = Json::parse(offers[static_cast<size_t>(rank)]);
      const bool is_me = rank == comm.rank();
      if (!is_me && theirs["process"] == mine["process"])
        throw std::runtime_error(fmt::format("rank {} is a thread of the same process", rank));
      for (size_t i = 0; i < tensors.size(); ++i) {
        const Json& place = theirs["tensors"][i];
        LOCKSTEP_CHECK(place["bytes"].get<size_t>() == tensors[i].nbytes());
        if (is_me) {
          memory->places_[i].push_back(tensors[i].const_data_ptr());
          continue;
        }
        const auto handle = place["handle"].get<std::vector<uint8_t>>();
        memory->mapped_.push_back(allocator::getIpcDevPtr({handle.begin(), handle.end()}));
        memory->places_[i].push_back(static_cast<const char*>(memory->mapped_.back().get()) +
                                     place["offset"].get<ptrdiff_t>());
      }
    }
  } catch (const std::exception& error) {
    reason = first_line(error.what());
  }
  why = common_reason(comm, reason, device);
  return why.empty() ? std::move(memory) : nullptr;
}

const std::vector<const void*>& PeerMemory::places(const void* mine) const {
  static const std::vector<const void*> none;
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i] == mine) return places_[i];
  return none;
}

}  // namespace lockstep::comm

#include "lockstep/comm/heartbeat.h"

#include <fmt/format.h>

#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace lockstep::comm {
namespace {

std::string key_of(int rank) { return fmt::format("lockstep/heartbeat/{}", rank); }

}  // namespace

struct Heartbeat::Impl {
  c10::intrusive_ptr<c10d::Store> store;
  int rank;
  const Position& position;
  std::mutex store_mutex;  // the beat and a diagnosis share the connection

  std::mutex stop_mutex;
  std::condition_variable stopped;
  bool stop = false;
  std::thread thread;

  Impl(c10::intrusive_ptr<c10d::Store> s, int r, const Position& p)
      : store(std::move(s)), rank(r), position(p) {}

  void beat_until_stopped() {
    std::unique_lock lock(stop_mutex);
    for (int64_t count = 0; !stop; ++count) {
      try {
        const std::lock_guard guard(store_mutex);
        store->set(key_of(rank), fmt::format("{} {} {}", count, position.sequence.load(), position.words()));
      } catch (const std::exception&) {
        return;  // The store is gone with its host; the next collective reports that.
      }
      stopped.wait_for(lock, kInterval, [&] { return stop; });
    }
  }

  std::string last_beat(int peer) {
    const std::lock_guard guard(store_mutex);
    return store->check({key_of(peer)}) ? store->get_to_str(key_of(peer)) : std::string();
  }
};

Heartbeat::Heartbeat(c10::intrusive_ptr<c10d::Store> store, int rank, const Position& position)
    : impl_(std::make_unique<Impl>(std::move(store), rank, position)) {
  impl_->thread = std::thread([impl = impl_.get()] { impl->beat_until_stopped(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(impl_->stop_mutex);
    impl_->stop = true;
  }
  impl_->stopped.notify_all();
  impl_->thread.join();
}

std::vector<Heartbeat::Peer> Heartbeat::look_at(const std::vector<int>& ranks) {
  std::vector<std::string> before;
  for (const int rank : ranks) before.push_back(impl_->last_beat(rank));
  std::this_thread::sleep_for(4 * kInterval);
  std::vector<Peer> peers;
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] == impl_->rank) continue;
    const std::string beat = impl_->last_beat(ranks[i]);
    Peer peer{.rank = ranks[i], .silent = beat == before[i]};
    int words_begin = 0;
    if (std::sscanf(beat.c_str(), "%*d %" SCNd64 " %n", &peer.sequence, &words_begin) == 1) {
      peer.words = beat.substr(static_cast<size_t>(words_begin));
    }
    peers.push_back(std::move(peer));
  }
  return peers;
}

}  // namespace lockstep::comm

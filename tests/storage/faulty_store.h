// A store in which one call goes wrong, for tests that let each call of an operation fail in turn:
//
//   FaultyStore counting(store);
//   save(counting);
//   for (int64_t call = 1; call <= counting.calls(); ++call) {
//     for (const FaultKind kind : kErrors) {
//       FaultyStore faulty(store, {.at_call = call, .kind = kind});
//       EXPECT_THROW(save(faulty), IoError) << to_text(kind) << " in " << counting.call_text(call);
//       ...
//
// Calls of all verbs are counted alike, from 1, in the order in which they begin.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::storage {

enum class FaultKind {
  kErrorBefore,  // IoError, and nothing was done
  kErrorAfter,   // IoError, though all was done: an answer that got lost
  // IoError, and the first half of the value stands under its key: a store that cannot replace a
  // value whole. What writes no value does nothing.
  kShortWrite,
  kFullDisk,    // the IoError of ENOSPC, and nothing was done
  kKillBefore,  // SIGKILL for the process: before the call,
  kKillMidway,  // with the first half of the value under its key,
  kKillAfter,   // or after the call
  kDelay,       // the call takes `delay` longer, and works
};

inline constexpr std::array kErrors = {FaultKind::kErrorBefore, FaultKind::kErrorAfter,
                                       FaultKind::kShortWrite, FaultKind::kFullDisk};
inline constexpr std::array kKills = {FaultKind::kKillBefore, FaultKind::kKillMidway, FaultKind::kKillAfter};

inline const char* to_text(FaultKind kind) {
  switch (kind) {
    case FaultKind::kErrorBefore:
      return "error before";
    case FaultKind::kErrorAfter:
      return "error after";
    case FaultKind::kShortWrite:
      return "short write";
    case FaultKind::kFullDisk:
      return "full disk";
    case FaultKind::kKillBefore:
      return "kill before";
    case FaultKind::kKillMidway:
      return "kill midway";
    case FaultKind::kKillAfter:
      return "kill after";
    case FaultKind::kDelay:
      return "delay";
  }
  return "?";
}

struct Fault {
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  int64_t at_call = 0;    // 0: never
  int64_t num_calls = 1;  // that call and those after it
  FaultKind kind = FaultKind::kErrorBefore;
  std::chrono::milliseconds delay{0};
};

class FaultyStore : public ObjectStore {
 public:
  explicit FaultyStore(ObjectStore& inner, Fault fault = {}) : inner_(inner), fault_(fault) {}

  int64_t calls() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int64_t>(calls_.size());
  }
  // What the call was, "put shards/0003": the calls are counted from 1.
  std::string call_text(int64_t call) const {
    const std::lock_guard lock(mutex_);
    return calls_.at(static_cast<size_t>(call - 1));
  }

  void put(const Key& key, std::span<const std::byte> value) override {
    call(
        "put " + key, [&] { inner_.put(key, value); }, [&] { inner_.put(key, half(value)); });
  }
  std::optional<Bytes> get(const Key& key, ByteRange range = {}) override {
    return call("get " + key, [&] { return inner_.get(key, range); });
  }
  std::vector<Key> list(const Key& prefix) override {
    return call("list " + prefix, [&] { return inner_.list(prefix); });
  }
  void remove(const Key& key) override {
    call("remove " + key, [&] { inner_.remove(key); });
  }
  void append(const Key& key, std::span<const std::byte> segment) override {
    call(
        "append " + key, [&] { inner_.append(key, segment); }, [&] { inner_.append(key, half(segment)); });
  }
  void sweep(const Key& prefix) override {
    call("sweep " + prefix, [&] { inner_.sweep(prefix); });
  }
  std::optional<int64_t> free_bytes() override {
    return call("free_bytes", [&] { return inner_.free_bytes(); });
  }

 private:
  static std::span<const std::byte> half(std::span<const std::byte> value) {
    return value.first(value.size() / 2);
  }

  bool strikes(const std::string& text) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(text);
    const int64_t since = static_cast<int64_t>(calls_.size()) - fault_.at_call;
    return fault_.at_call > 0 && since >= 0 && since < fault_.num_calls;
  }

  [[noreturn]] static void kill_this_process() {
    ::kill(::getpid(), SIGKILL);
    while (true) ::pause();  // the signal may take another thread first
  }

  // Runs `whole`, or as much of the call as the fault lets happen.
  template <typename Whole>
  std::invoke_result_t<const Whole&> call(const std::string& text, const Whole& whole,
                                          const std::function<void()>& part = nullptr) {
    if (!strikes(text)) return whole();
    switch (fault_.kind) {
      case FaultKind::kErrorBefore:
        break;
      case FaultKind::kErrorAfter:
        whole();
        break;
      case FaultKind::kShortWrite:
        if (part) part();
        break;
      case FaultKind::kFullDisk:
        throw_io_error("finish", text, ENOSPC);
      case FaultKind::kKillBefore:
        kill_this_process();
      case FaultKind::kKillMidway:
        if (part) part();
        kill_this_process();
      case FaultKind::kKillAfter:
        whole();
        kill_this_process();
      case FaultKind::kDelay:
        std::this_thread::sleep_for(fault_.delay);
        return whole();
    }
    throw IoError("injected fault: " + std::string(to_text(fault_.kind)) + " in " + text);
  }

  ObjectStore& inner_;
  const Fault fault_;
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
};

}  // namespace lockstep::storage

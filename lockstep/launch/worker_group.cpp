#include "lockstep/launch/worker_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <optional>

#include "lockstep/base/env_var.h"
#include "lockstep/base/error.h"
#include "lockstep/base/io_error.h"
#include "lockstep/launch/store_socket.h"
#include "lockstep/launch/worker_env.h"
#include "lockstep/launch/worker_log.h"

namespace lockstep::launch {
namespace {

// Where rank 0 finds them.
constexpr int kEventFd = 3, kStoreFd = 4;

struct EventPipe {
  FileDescriptor reader, writer;
};

EventPipe make_event_pipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) {
    throw CommandError(fmt::format("launch: cannot make a pipe for events: {}", errno_words(errno)));
  }
  EventPipe result{FileDescriptor(fds[0]), FileDescriptor(fds[1])};
  // The reader alone: rank 0 waits when it is ahead of us, and never loses an event.
  ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
  return result;
}

int available_cores() {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

// What changes against our own environment. Descriptors that an outer launcher gave us are not for
// our workers.
std::map<std::string, std::optional<std::string>> environment_of(const WorkerEnv& env) {
  std::map<std::string, std::optional<std::string>> changes = {{"LOCKSTEP_CONTINUE_FROM", std::nullopt},
                                                               {"LOCKSTEP_EVENT_FD", std::nullopt},
                                                               {"LOCKSTEP_STORE_FD", std::nullopt}};
  for (const auto& [name, value] : env.to_environment()) changes[name] = value;
  if (!env_var("OMP_NUM_THREADS")) {
    changes["OMP_NUM_THREADS"] = std::to_string(std::max(1, available_cores() / env.local_world_size));
  }
  return changes;
}

bool has_ended(const Process& process) {
  pollfd ended{process.pid_fd(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

}  // namespace

WorkerGroup::WorkerGroup(const LaunchOptions& options) {
  const int num_workers = static_cast<int>(options.log_paths.size());
  for (int rank = 0; rank < num_workers; ++rank) {
    begin_worker_log(options.log_paths[rank],
                     fmt::format("lockstep: rank {} of {}, generation {}: {}", rank, num_workers,
                                 options.generation, fmt::join(options.argv, " ")));
  }
  const StoreSocket store = StoreSocket::listen();
  EventPipe events = make_event_pipe();
  event_reader_ = std::move(events.reader);

  for (int rank = 0; rank < num_workers; ++rank) {
    WorkerEnv env;
    env.rank = env.local_rank = rank;
    env.world_size = env.local_world_size = num_workers;
    env.master_port = store.port;
    env.run_dir = options.run_dir;
    env.generation = options.generation;
    env.continue_from = options.continue_from;

    ProcessOptions process{.argv = options.argv,
                           .standard_output = Output::file(options.log_paths[rank]),
                           .standard_error = Output::with_stdout(),
                           .new_group = true};
    if (rank == 0) {
      env.event_fd = kEventFd;
      env.store_fd = kStoreFd;
      process.fds = {{kEventFd, events.writer.get()}, {kStoreFd, store.fd.get()}};
    }
    process.environment = environment_of(env);
    workers_.push_back(Process::start(process));
    running_.push_back(true);
  }
}

WorkerGroup::~WorkerGroup() { send(SIGKILL); }

std::vector<int> WorkerGroup::exit_fds() const {
  std::vector<int> fds;
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    if (running_[rank]) fds.push_back(workers_[rank].pid_fd());
  }
  return fds;
}

int WorkerGroup::num_running() const { return static_cast<int>(exit_fds().size()); }

void WorkerGroup::send(int signal) {
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    if (running_[rank]) ::kill(-workers_[rank].pid(), signal);
  }
}

void WorkerGroup::stop(int signal) {
  reap();  // who has ended by now did so before being told
  told_to_stop_ = true;
  send(signal);
}

std::vector<WorkerExit> WorkerGroup::reap() {
  const size_t known = exits_.size();
  for (size_t rank = 0; rank < workers_.size(); ++rank) {
    Process& worker = workers_[rank];
    if (!running_[rank] || !has_ended(worker)) continue;
    // What it started ends with it. Before `wait`: until then the group's number is its own.
    ::kill(-worker.pid(), SIGKILL);
    running_[rank] = false;
    exits_.push_back({static_cast<int>(rank), worker.pid(), worker.wait(), told_to_stop_});
  }
  return {exits_.begin() + static_cast<long>(known), exits_.end()};
}

}  // namespace lockstep::launch

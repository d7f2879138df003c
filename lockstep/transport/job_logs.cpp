#include "lockstep/transport/job_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "lockstep/transport/read_log.h"

namespace lockstep::transport {
namespace {

// A communicator as the logs name it, and who says to hold which of its ranks.
using CommunicatorKey = std::tuple<uint64_t, uint32_t, std::string>;  // commId, ranks, NCCL version
using Holder = std::tuple<std::string, uint32_t, uint64_t>;           // host, process, address
using Holders = std::map<uint32_t, Holder>;                           // by rank

std::map<CommunicatorKey, Holders> holders_in(const LogEvidence& evidence) {
  std::map<CommunicatorKey, Holders> holders;
  const NameTable& names = evidence.names();
  for (const ProcessLog& process : evidence.processes()) {
    for (const Member& member : process.members) {
      if (member.comm_ids.empty()) continue;
      const CommunicatorKey key{member.comm_ids.front().first, member.line.num_ranks,
                                names.name(process.versions[static_cast<size_t>(Library::kNccl)])};
      holders[key][member.line.rank] = {names.name(process.host), process.pid, member.line.pointer};
    }
  }
  return holders;
}

// For each communicator that no log holds whole: the logs that together do, if no two of them say
// different things about one rank.
std::vector<std::set<size_t>> pieces_of_one(const std::vector<JobLogs>& jobs) {
  struct Shared {
    Holders holders;
    std::set<size_t> jobs;
    bool contradictory = false;
  };
  std::map<CommunicatorKey, Shared> communicators;
  for (size_t i = 0; i < jobs.size(); ++i) {
    for (const auto& [key, holders] : holders_in(jobs[i].evidence)) {
      if (holders.size() == std::get<1>(key)) continue;
      Shared& shared = communicators[key];
      shared.jobs.insert(i);
      for (const auto& [rank, holder] : holders) {
        const auto [known, is_new] = shared.holders.try_emplace(rank, holder);
        if (!is_new && known->second != holder) shared.contradictory = true;
      }
    }
  }
  std::vector<std::set<size_t>> pieces;
  for (const auto& [key, shared] : communicators) {
    if (!shared.contradictory && shared.jobs.size() > 1 && shared.holders.size() == std::get<1>(key))
      pieces.push_back(shared.jobs);
  }
  return pieces;
}

// Brings the jobs at `parts` together in the first of them; the others are left empty.
void bring_together(std::vector<JobLogs>& jobs, const std::set<size_t>& parts) {
  JobLogs& first = jobs[*parts.begin()];
  for (const size_t part : parts) {
    if (part == *parts.begin() || jobs[part].arguments.empty()) continue;
    first.arguments.insert(first.arguments.end(), jobs[part].arguments.begin(), jobs[part].arguments.end());
    first.evidence.absorb(std::move(jobs[part].evidence));
    jobs[part].arguments.clear();
  }
}

}  // namespace

std::string JobLogs::name() const {
  return arguments.size() == 1 ? arguments.front()
                               : fmt::format("{} and {} more", arguments.front(), arguments.size() - 1);
}

std::vector<JobLogs> read_job_logs(const std::vector<std::string>& paths) {
  std::vector<JobLogs> jobs;
  for (const std::string& path : paths) jobs.push_back({{path}, read_log(path)});
  // A log can hold pieces of several communicators, so sets may overlap: the largest first.
  std::vector<std::set<size_t>> pieces = pieces_of_one(jobs);
  std::sort(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::set<size_t> placed;
  for (const std::set<size_t>& parts : pieces) {
    if (std::any_of(parts.begin(), parts.end(), [&](size_t part) { return placed.contains(part); })) continue;
    placed.insert(parts.begin(), parts.end());
    bring_together(jobs, parts);
  }
  std::erase_if(jobs, [](const JobLogs& job) { return job.arguments.empty(); });
  return jobs;
}

}  // namespace lockstep::transport

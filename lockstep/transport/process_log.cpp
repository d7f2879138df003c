#include "lockstep/transport/process_log.h"

#include <algorithm>

namespace lockstep::transport {
namespace {

constexpr size_t kMaxCommIds = 4;

void count_id(Member& member, uint64_t comm_id) {
  const auto found = std::find_if(member.comm_ids.begin(), member.comm_ids.end(),
                                  [&](const auto& seen) { return seen.first == comm_id; });
  if (found != member.comm_ids.end()) {
    ++found->second;
  } else if (member.comm_ids.size() < kMaxCommIds) {
    member.comm_ids.push_back({comm_id, 1});
  }
}

// Whether `line` opens another communicator at the address of `member`.
bool begins_again(const CommLine& line, const Member& member) {
  if (line.event == CommLine::Event::kStart) return true;
  // Before 2.18.3 no line says that it starts.
  const bool other_id =
      line.comm_id && !member.comm_ids.empty() && member.comm_ids.front().first != *line.comm_id;
  return line.event == CommLine::Event::kComplete && member.complete_epoch != UINT32_MAX && other_id;
}

}  // namespace

Member* ProcessLog::find(const CommLine& line) {
  const auto last = std::find_if(members.rbegin(), members.rend(),
                                 [&](const Member& member) { return member.line.pointer == line.pointer; });
  if (last == members.rend()) return nullptr;
  const bool is_same = last->line.rank == line.rank && last->line.num_ranks == line.num_ranks &&
                       last->end_epoch == UINT32_MAX && !begins_again(line, *last);
  return is_same ? &*last : nullptr;
}

Member& ProcessLog::begin(const CommLine& line) {
  Member& member = members.emplace_back();
  member.line = line;
  member.begin_epoch = epoch;
  return member;
}

size_t ProcessLog::add(const CommLine& line, Member& member, uint32_t tid) {
  size_t taken = 0;
  ++member.num_lines;
  if (line.event != CommLine::Event::kEnd && !member.selection) {
    if (const auto named = pending.find(tid); named != pending.end()) {
      member.selection = named->second;
      pending.erase(named);
      taken = 1;
    }
  }
  if (line.comm_id) count_id(member, *line.comm_id);
  CommLine& known = member.line;
  if (!known.nvml_device) known.nvml_device = line.nvml_device;
  if (!known.bus_id) known.bus_id = line.bus_id;
  if (!known.parent && line.parent) {
    known.parent = line.parent;
    known.split_count = line.split_count;
    known.color = line.color;
  }
  if (line.event == CommLine::Event::kShape) {
    known.num_nodes = line.num_nodes;
    known.is_mnnvl = line.is_mnnvl;
    return taken;
  }
  ++epoch;
  if (line.event == CommLine::Event::kComplete) member.complete_epoch = epoch;
  if (line.event == CommLine::Event::kEnd) member.end_epoch = epoch;
  return taken;
}

}  // namespace lockstep::transport

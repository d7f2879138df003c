// Which commits belong to a run.
//
// Before it trains, each generation (start of the group of workers) writes a claim,
//
//   generations/<number>-<token>.json     sealed JSON: number, token, and what it continues
//
// Readers follow the chain from the newest claim: its own commits, those of the generation that it
// continues up to the checkpoint that it continues, and so on. So what an older group that still
// lives commits late is never read, whatever its step. Works on stores without rename or locks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lockstep/checkpoint/names.h"
#include "lockstep/storage/object_store.h"

namespace lockstep::checkpoint {

struct Claim {
  int generation = 0;
  std::string token;  // tells two groups with one number apart
  // The checkpoint that it went on from, and the token of the group that wrote it; nothing when
  // it began anew.
  std::optional<CheckpointId> continues;
  std::string continues_token;
};

// 16 hex digits that no other group has.
std::string make_token();

// Oldest first. One that was cut off while it was written is left out: who writes it has not trained
// yet. Throws DamagedError for one that is not whole though its generation has committed.
std::vector<Claim> read_claims(storage::ObjectStore& store);

// 0 when there is none.
int newest_generation(storage::ObjectStore& store);

// Writes the claim. Throws GuardError, leaving nothing, when another group has the number or a higher one.
void write_claim(storage::ObjectStore& store, const Claim& claim);

// Throws GuardError when a later group has claimed the run: this one was given up.
void check_not_superseded(storage::ObjectStore& store, const Claim& claim);

class Lineage {
 public:
  // Of the newest generation; no generations, no commits.
  static Lineage read(storage::ObjectStore& store);

  // Whether a commit with this id and token is the run's.
  bool has(const CheckpointId& id, const std::string& token) const;
  // The same by the id alone, before its manifest is read.
  bool may_have(const CheckpointId& id) const;

 private:
  struct Part {
    int generation;
    std::string token;
    int64_t last_step;  // commits after it belong to nobody
  };
  std::vector<Part> parts_;  // newest first
};

}  // namespace lockstep::checkpoint

#include "lockstep/checkpoint/lineage.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <random>

#include "lockstep/base/clock.h"
#include "lockstep/base/error.h"
#include "lockstep/checkpoint/damaged.h"
#include "lockstep/checkpoint/sealed_json.h"

namespace lockstep::checkpoint {
namespace {

storage::Key claim_key(const Claim& claim) {
  return fmt::format("{}{}-{}.json", kGenerationsPrefix, claim.generation, claim.token);
}

// The number in "generations/2-3f09....json"; nothing for any other name.
std::optional<int> generation_of_key(const storage::Key& key) {
  const std::string_view name = std::string_view(key).substr(kGenerationsPrefix.size());
  int number = 0;
  size_t digits = 0;
  for (; digits < name.size() && digits < 9 && name[digits] >= '0' && name[digits] <= '9'; ++digits) {
    number = number * 10 + (name[digits] - '0');
  }
  if (digits == 0 || digits >= name.size() || name[digits] != '-' || !name.ends_with(".json"))
    return std::nullopt;
  return number;
}

Claim parse_claim(const storage::Bytes& bytes, const storage::Key& key) {
  const Json body = unseal(bytes, key);
  Claim claim;
  try {
    claim.generation = body.at("generation").get<int>();
    claim.token = body.at("token").get<std::string>();
    if (const Json& continues = body.at("continues"); !continues.is_null()) {
      claim.continues = {continues.at("step").get<int64_t>(), continues.at("generation").get<int>()};
      claim.continues_token = continues.at("token").get<std::string>();
    }
  } catch (const Json::exception& error) {
    throw DamagedError(fmt::format("{} lacks what a generation's claim has: {}", key, error.what()));
  }
  if (claim_key(claim) != key)
    throw DamagedError(fmt::format("{} holds the claim of {}", key, claim_key(claim)));
  return claim;
}

Json to_json(const Claim& claim) {
  Json continues;
  if (claim.continues) {
    continues = {{"step", claim.continues->step},
                 {"generation", claim.continues->generation},
                 {"token", claim.continues_token}};
  }
  return {{"version", 1},
          {"generation", claim.generation},
          {"token", claim.token},
          {"continues", continues},
          {"time", utc_now()}};
}

// What a generation has committed, under whatever token.
std::vector<storage::Key> manifest_keys(storage::ObjectStore& store, int generation) {
  std::vector<storage::Key> keys = store.list(std::string(kCheckpointsPrefix));
  std::erase_if(keys, [&](const storage::Key& key) {
    const auto id = id_of_key(key);
    return !id || id->generation != generation || key != manifest_key(*id);
  });
  return keys;
}

// Keys of other claims with this number or a higher one.
std::vector<storage::Key> rivals_of(storage::ObjectStore& store, const Claim& claim) {
  std::vector<storage::Key> rivals = store.list(std::string(kGenerationsPrefix));
  std::erase_if(rivals, [&](const storage::Key& key) {
    const auto number = generation_of_key(key);
    return !number || *number < claim.generation || key == claim_key(claim);
  });
  return rivals;
}

}  // namespace

std::string make_token() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::vector<Claim> read_claims(storage::ObjectStore& store) {
  std::vector<Claim> claims;
  for (const storage::Key& key : store.list(std::string(kGenerationsPrefix))) {
    const auto generation = generation_of_key(key);
    const auto bytes = generation ? store.get(key) : std::nullopt;
    if (!bytes) continue;  // it was taken back meanwhile
    try {
      claims.push_back(parse_claim(*bytes, key));
    } catch (const DamagedError&) {
      if (!manifest_keys(store, *generation).empty()) throw;
    }
  }
  std::sort(claims.begin(), claims.end(), [](const Claim& a, const Claim& b) {
    return std::tie(a.generation, a.token) < std::tie(b.generation, b.token);
  });
  return claims;
}

int newest_generation(storage::ObjectStore& store) {
  int newest = 0;
  for (const storage::Key& key : store.list(std::string(kGenerationsPrefix))) {
    newest = std::max(newest, generation_of_key(key).value_or(0));
  }
  return newest;
}

void write_claim(storage::ObjectStore& store, const Claim& claim) {
  store.put(claim_key(claim), storage::as_bytes(seal(to_json(claim))));
  // Of two groups that start at once, at least the later one to look sees the other; both may.
  if (const auto rivals = rivals_of(store, claim); !rivals.empty()) {
    store.remove(claim_key(claim));
    throw GuardError(
        fmt::format("checkpoint: another group of workers trains this run ({}): this one, generation "
                    "{}, stops. Wait until the other has ended, or choose another run.dir",
                    rivals.back(), claim.generation));
  }
}

void check_not_superseded(storage::ObjectStore& store, const Claim& claim) {
  if (const auto rivals = rivals_of(store, claim); !rivals.empty()) {
    throw GuardError(
        fmt::format("checkpoint: a later group of workers has taken this run over ({}): this one, "
                    "generation {}, saves nothing more and stops",
                    rivals.back(), claim.generation));
  }
}

Lineage Lineage::read(storage::ObjectStore& store) {
  const std::vector<Claim> claims = read_claims(store);
  Lineage lineage;
  if (claims.empty()) return lineage;
  // Two claims of one number are left when both groups died before they saw each other. At most
  // one of them trained.
  const Claim* claim = &claims.back();
  for (const Claim& other : claims) {
    if (other.generation != claim->generation || other.token == claim->token) continue;
    for (const storage::Key& key : manifest_keys(store, other.generation)) {
      const auto bytes = store.get(key);
      if (bytes && storage::as_text(*bytes).find(other.token) != std::string_view::npos) claim = &other;
    }
  }
  int64_t last_step = std::numeric_limits<int64_t>::max();
  while (claim != nullptr) {
    lineage.parts_.push_back({claim->generation, claim->token, last_step});
    if (!claim->continues) break;
    last_step = claim->continues->step;
    const auto before = std::find_if(claims.begin(), claims.end(), [&](const Claim& other) {
      return other.generation == claim->continues->generation && other.token == claim->continues_token;
    });
    if (before == claims.end() || before->generation >= claim->generation) {
      throw DamagedError(fmt::format("{}: the generation that it continues, {}-{}, has no claim",
                                     claim_key(*claim), claim->continues->generation,
                                     claim->continues_token));
    }
    claim = &*before;
  }
  return lineage;
}

bool Lineage::has(const CheckpointId& id, const std::string& token) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.generation == id.generation && part.token == token && id.step <= part.last_step;
  });
}

bool Lineage::may_have(const CheckpointId& id) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) {
    return part.generation == id.generation && id.step <= part.last_step;
  });
}

}  // namespace lockstep::checkpoint

// What a server asks for with status 401: the WWW-Authenticate header (RFC 9110, 11.6.1).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace lockstep::cluster {

struct AuthChallenge {
  std::string scheme;                             // in lower case: "bearer", "basic"
  std::map<std::string, std::string> parameters;  // names in lower case: "realm", "service", "scope"

  std::string parameter(const std::string& name) const;  // empty when it is not there
};

// All challenges of a header, in their order; what cannot be read ends the list.
std::vector<AuthChallenge> parse_challenges(const std::string& header);

}  // namespace lockstep::cluster

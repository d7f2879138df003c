// Where a Ray cluster's dashboard listens: the Jobs API is one of its paths.
#pragma once

#include <string>

namespace lockstep::cluster {

// "http://HOST:PORT" without a slash at the end, from what was asked for on the command line; when that is
// empty from RAY_ADDRESS, if it is an http or https address (inside a head's container it often is the
// cluster's own "HOST:6379"), else "http://127.0.0.1:8265". Throws ConfigError for an address of another
// kind.
std::string ray_address(const std::string& asked);

}  // namespace lockstep::cluster

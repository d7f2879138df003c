// A verdict as JSON; its fields are documented in docs/transport.md.
#pragma once

#include "lockstep/base/json.h"
#include "lockstep/transport/verdict.h"

namespace lockstep::transport {

// Quotes may hold any bytes that the log holds: dump with error_handler_t::replace.
Json verdict_json(const JobVerdict& verdict);

}  // namespace lockstep::transport

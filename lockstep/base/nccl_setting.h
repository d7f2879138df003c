// NCCL's settings as NCCL itself finds them.
//
// Source: initEnv in src/misc/param.cc of NCCL: the environment, then the file of NCCL_CONF_FILE or else
// ~/.nccl.conf, then /etc/nccl.conf, NAME=value a line; what comes first counts.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace lockstep {

using ReadText = std::function<std::optional<std::string>(const std::string& name)>;

// Nothing where it is set nowhere. `variable` reads the environment, `file` a whole file by its path.
std::optional<std::string> nccl_setting(const std::string& name, const ReadText& variable,
                                        const ReadText& file);

}  // namespace lockstep

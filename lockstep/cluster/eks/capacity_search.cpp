#include "lockstep/cluster/eks/capacity_search.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <regex>
#include <set>

#include "lockstep/cluster/eks/answer.h"
#include "lockstep/cluster/eks/step.h"

namespace lockstep::cluster::eks {
namespace {

// "… You can currently get g6.12xlarge capacity by not specifying an Availability Zone in your request or
// choosing us-east-2b, us-east-2c.": the zones after "choosing".
std::vector<std::string> zones_named_in(const std::string& message) {
  const size_t choosing = message.find("choosing ");
  std::vector<std::string> zones;
  if (choosing == message.npos) return zones;
  static const std::regex zone("[a-z]{2}(-[a-z]+)+-[0-9][a-z]");
  for (std::sregex_iterator it(message.begin() + static_cast<ptrdiff_t>(choosing), message.end(), zone), end;
       it != end; ++it)
    zones.push_back(it->str());
  return zones;
}

bool is_capacity_word(const std::string& code) {
  return code == "InsufficientInstanceCapacity" || code == "InsufficientCapacity" ||
         code == "ReservationCapacityExceeded";
}

bool fits(const Reservation& reservation, const Deployment& deployment,
          const std::vector<std::string>& zones) {
  const GpuNodes& nodes = deployment.settings.gpu_nodes;
  return reservation.type == nodes.type && reservation.available >= nodes.count &&
         std::find(zones.begin(), zones.end(), reservation.zone) != zones.end();
}

// One of ours that fits; the others, of former settings, are cancelled.
std::optional<Reservation> adopt(Aws& aws, const Deployment& deployment,
                                 const std::vector<std::string>& zones) {
  std::optional<Reservation> adopted;
  for (const Reservation& reservation : our_reservations(aws, deployment.settings.name)) {
    if (!adopted && fits(reservation, deployment, zones))
      adopted = reservation;
    else
      aws.call({"ec2", "cancel-capacity-reservation", "--capacity-reservation-id", reservation.id});
  }
  return adopted;
}

}  // namespace

Reservation find_capacity(Aws& aws, const Deployment& deployment, const std::vector<std::string>& zones,
                          const std::string& end) {
  if (const auto adopted = adopt(aws, deployment, zones)) return *adopted;
  std::vector<std::string> answers, waiting = zones;
  std::set<std::string> tried;
  while (!waiting.empty()) {
    const std::string zone = waiting.front();
    waiting.erase(waiting.begin());
    if (!tried.insert(zone).second) continue;
    try {
      const Json answer = aws.call(reserve(deployment, zone, end).command);
      const Reservation made = Reservation::from(part_of(answer, "CapacityReservation"));
      if (made.id.empty())
        throw CommandError("aws ec2 create-capacity-reservation: its answer names no reservation");
      return made;
    } catch (const AwsError& error) {
      if (!is_capacity_word(error.code())) throw;
      answers.push_back(fmt::format("{}: {}", zone, error.code()));
      // First those that EC2 itself says have room, where we may go.
      for (const std::string& named : zones_named_in(error.what())) {
        const auto found = std::find(waiting.begin(), waiting.end(), named);
        if (found != waiting.end()) std::rotate(waiting.begin(), found, found + 1);
      }
    }
  }
  const GpuNodes& nodes = deployment.settings.gpu_nodes;
  throw NoCapacityError(
      fmt::format("cluster: no capacity for {} x {} ({}). Nothing was made; try again later, another "
                  "region or gpu_nodes.type, or give a reservation of yours as gpu_nodes.reservation",
                  nodes.count, nodes.type, fmt::join(answers, ", ")));
}

void cancel_our_reservations(Aws& aws, const std::string& cluster) {
  std::vector<std::string> failed;
  for (const Reservation& reservation : our_reservations(aws, cluster)) {
    try {
      aws.call({"ec2", "cancel-capacity-reservation", "--capacity-reservation-id", reservation.id});
    } catch (const CommandError& error) {
      failed.push_back(fmt::format("{} ({})", reservation.id, error.what()));
    }
  }
  if (!failed.empty())
    throw CommandError(fmt::format("cluster: reservations that still bill, and could not be cancelled: {}",
                                   fmt::join(failed, "; ")));
}

}  // namespace lockstep::cluster::eks

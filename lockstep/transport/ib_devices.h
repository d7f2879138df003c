// The devices that NET/IB found, with their link layers: what tells InfiniBand from RoCE.
//
//   NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.11<0>
//   NET/IB : Using [0]={[0] mlx5_0:1/IB, [1] mlx5_1:1/IB} [1]mlx5_2:1/IB [RO]; ...   merged, 2.20 to 2.24
//   NET/IB : Using [0]mlx5_0:1:2:0/IB ...                                           rail and plane, 2.30
//   NET/IB : Using [0]mlx5_0:1/IB/SHARP ...                                         HPC-X
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lockstep/transport/net_name.h"

namespace lockstep::transport {

class IbDevices {
 public:
  // Nothing for other text. Empty for "NET/IB : Using [RO]; OOB ...", which 2.24 and newer print
  // when there is no device at all. A device whose entry is cut is left out.
  static std::optional<IbDevices> parse(std::string_view text);

  bool empty() const { return links_.empty(); }
  LinkLayers all() const;
  // Of the device with this index in path lines; of an index that the list lacks (devices merged
  // later, since 2.25), of all devices.
  LinkLayers of(uint32_t device) const;

 private:
  struct Entry {
    uint32_t device;
    LinkLayers links;
  };
  std::vector<Entry> links_;
};

}  // namespace lockstep::transport

#include "lockstep/cluster/image/acceptance.h"

namespace lockstep::cluster {

Json ImageMeasurement::to_json() const {
  Json json = {{"image", image},
               {"measured", measured},
               {"doctor", {{"ok", doctor.ok}, {"faults", doctor.faults}, {"unknown", doctor.unknown}}},
               {"transport", Json()},
               {"all_reduce", Json()},
               {"training", Json()}};
  if (ranks > 0)
    json["all_reduce"] = {
        {"ranks", ranks}, {"bytes", all_reduce_bytes}, {"bus_bandwidth_gb_per_s", bus_bandwidth}};
  if (!losses.empty()) {
    json["transport"] = {{"network", transport}, {"evidence", evidence}};
    json["training"] = {{"step_ms", step_ms}, {"tokens_per_s", tokens_per_s}, {"losses", losses}};
  }
  return json;
}

ImageMeasurement ImageMeasurement::from_json(const Json& json) {
  const Json &doctor = json.at("doctor"), &transport = json.at("transport"),
             &all_reduce = json.at("all_reduce"), &training = json.at("training");
  return {.image = json.at("image").get<std::string>(),
          .measured = json.at("measured").get<std::string>(),
          .doctor = {.ok = doctor.at("ok").get<int64_t>(),
                     .faults = doctor.at("faults").get<std::vector<std::string>>(),
                     .unknown = doctor.at("unknown").get<std::vector<std::string>>()},
          .transport = transport.at("network").get<std::string>(),
          .evidence = transport.at("evidence").get<std::string>(),
          .ranks = all_reduce.at("ranks").get<int64_t>(),
          .all_reduce_bytes = all_reduce.at("bytes").get<int64_t>(),
          .bus_bandwidth = all_reduce.at("bus_bandwidth_gb_per_s").get<double>(),
          .step_ms = training.at("step_ms").get<double>(),
          .tokens_per_s = training.at("tokens_per_s").get<double>(),
          .losses = training.at("losses").get<std::vector<double>>()};
}

Json Acceptance::to_json() const {
  return {{"slower_percent", allowance.slower_percent},
          {"loss_percent", allowance.loss_percent},
          {"before", before.to_json()},
          {"after", after.to_json()}};
}

Acceptance Acceptance::from_json(const Json& json) {
  return {.allowance = {.slower_percent = json.at("slower_percent").get<double>(),
                        .loss_percent = json.at("loss_percent").get<double>()},
          .before = ImageMeasurement::from_json(json.at("before")),
          .after = ImageMeasurement::from_json(json.at("after"))};
}

}  // namespace lockstep::cluster

#pragma once

#include <string>

#include "server/storage/store.h"
#include "telemetry/v1/ingest.pb.h"

namespace telemetry::ingest {

// Returns the opening of a producer in the dataset with this id, by the sender with the name `sender` (empty: none).
inline storage::ProducerOpening ProducerOpening(const v1::Open& open, const std::string& sender,
                                                const std::string& dataset_id) {
  return {.producer_id = open.producer_id(),
          .epoch = open.epoch(),
          .client = open.client(),
          .sender = sender,
          .acked_seq = open.acked_dataset_id() == dataset_id ? open.acked_seq() : 0};
}

}  // namespace telemetry::ingest

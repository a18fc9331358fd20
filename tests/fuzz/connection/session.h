#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "telemetry/v1/ingest.pb.h"
#include "tests/http2/frames.h"

namespace telemetry::fuzz {

using http2::Frame;

using Random = std::mt19937_64;

// From 0 up to, and without, `end`.
inline uint64_t Below(Random& random, uint64_t end) { return random() % end; }

// What a client says on one connection, frame by frame, behind the preface.
using Session = std::vector<Frame>;

// Right in every respect: opens a connection and makes calls on it as clients do: streams of batches, unary calls,
// questions, exports, health, reflection. `producer`: 16 bytes; the log is sent from 1.
Session ValidSession(Random& random, const std::string& producer);

// What a stream sends: Open, and `batches` batches of rows of one attempt. Rows are those of the producer's own run.
std::vector<v1::StreamRequest> ValidStream(Random& random, const std::string& producer, int batches);

// Well-framed, but what the messages say is wrong: order, numbers, checksums, sizes, bytes.
Session WrongMessages(Random& random, const std::string& producer);

// One to a few changes to frames: fields, payloads, order, repetitions, frames of other kinds between them.
void MutateFrames(Random& random, Session* session);

// One to a few changes to bytes.
void MutateBytes(Random& random, std::string* bytes);

}  // namespace telemetry::fuzz

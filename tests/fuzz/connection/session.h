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

// Returns a random number from 0 up to, but excluding, `end`.
inline uint64_t Below(Random& random, uint64_t end) { return random() % end; }

// The frames that a client sends on one connection after the preface.
using Session = std::vector<Frame>;

// Returns a valid session: calls as clients make them, which are streams of batches, unary calls, questions, exports,
// health and reflection. `producer` has 16 bytes; its log is sent from sequence number 1.
Session ValidSession(Random& random, const std::string& producer);

// Returns the messages of a stream: Open, and `batches` batches of rows of one attempt of the producer's own run.
std::vector<v1::StreamRequest> ValidStream(Random& random, const std::string& producer, int batches);

// Returns a session with valid frames but wrong messages: wrong order, numbers, checksums, sizes or bytes.
Session WrongMessages(Random& random, const std::string& producer);

// Makes one or a few changes to the frames: fields, payloads, order, repetitions, inserted frames of other types.
void MutateFrames(Random& random, Session* session);

// Makes one or a few changes to the bytes.
void MutateBytes(Random& random, std::string* bytes);

}  // namespace telemetry::fuzz

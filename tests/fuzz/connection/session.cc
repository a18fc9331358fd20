#include "tests/fuzz/connection/session.h"

#include <algorithm>

#include "proto/record/ids.h"

namespace telemetry::fuzz {

using namespace http2;  // NOLINT(google-build-using-namespace)

namespace {

constexpr char kIngest[] = "/telemetry.v1.IngestService/Ingest";
constexpr char kStream[] = "/telemetry.v1.IngestService/Stream";
constexpr const char* kQuestions[] = {"/telemetry.v1.DatasetService/ListRuns",
                                      "/telemetry.v1.DatasetService/Export",
                                      "/telemetry.v1.DatasetService/GetRun",
                                      "/grpc.health.v1.Health/Check",
                                      "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
                                      "/nobody.Knows/This"};

void AddRecord(const v1::Record& record, v1::Batch* batch) {
  batch->add_records(record.SerializeAsString());
  batch->set_crc32c(record::Crc32c(batch->crc32c(), batch->records().rbegin()[0]));
}

v1::Batch HeadBatch(const std::string& producer) {
  v1::Batch batch;
  batch.set_first_seq(1);
  v1::Record run;
  run.mutable_run()->set_run_id(record::Sha256Hex(producer));
  AddRecord(run, &batch);
  v1::Record attempt;
  attempt.mutable_attempt()->set_attempt_id(producer);
  attempt.mutable_attempt()->set_run_id(record::Sha256Hex(producer));
  attempt.mutable_attempt()->set_state(v1::Attempt::STATE_OPEN);
  AddRecord(attempt, &batch);
  return batch;
}

Frame HeadersFrame(const std::string& method, uint32_t stream) {
  return {.type = kHeaders, .flags = kEndHeaders, .stream = stream, .payload = Hpack(CallHeaders(method))};
}

void AppendCall(const std::string& method, uint32_t stream, const std::vector<std::string>& messages,
                Session* session) {
  session->push_back(HeadersFrame(method, stream));
  for (const std::string& message : messages) session->push_back({.stream = stream, .payload = GrpcMessage(message)});
  session->push_back({.flags = kEndStream, .stream = stream});
}

std::vector<std::string> Bytes(const std::vector<v1::StreamRequest>& requests) {
  std::vector<std::string> messages;
  for (const v1::StreamRequest& request : requests) messages.push_back(request.SerializeAsString());
  return messages;
}

Session Begin() { return {{.type = kSettings}, {.type = kSettings, .flags = 1}}; }

// Introduces one error into the requests of a stream.
void Spoil(Random& random, std::vector<v1::StreamRequest>* requests) {
  v1::StreamRequest& request = (*requests)[Below(random, requests->size())];
  v1::Batch& batch = *request.mutable_batch();
  switch (Below(random, 14)) {
    case 0:
      return batch.set_crc32c(static_cast<uint32_t>(random()));
    case 1:
      return batch.set_first_seq(random());
    case 2:
      return batch.set_first_seq(~uint64_t{0});
    case 3:
      return batch.clear_records();
    case 4:
      std::shuffle(requests->begin(), requests->end(), random);
      return;
    case 5:
      return request.mutable_open()->set_producer_id(std::string(Below(random, 40), 'x'));
    case 6:
      return request.mutable_open()->set_epoch(random());
    case 7:
      return request.Clear();
    case 8:
      // Many more records than a batch may contain, each as small as possible.
      for (int i = 0; i < 70000; ++i) batch.add_records("");
      return;
    case 9:
      batch.add_records(std::string(Below(random, 300000), static_cast<char>(random())));
      return;
    case 10: {
      v1::Batch noise;
      noise.set_first_seq(batch.first_seq());
      std::string record(Below(random, 200), '\0');
      for (char& c : record) c = static_cast<char>(random());
      noise.add_records(record);
      noise.set_crc32c(record::Crc32c(0, record));
      batch = noise;
      return;
    }
    case 11:
      requests->push_back(requests->front());
      return;
    case 12:
      requests->erase(requests->begin());
      if (requests->empty()) requests->emplace_back();
      return;
    default:
      request.mutable_open()->set_client(std::string(Below(random, 100000), '\n'));
  }
}

void SpoilMessage(Random& random, std::string* payload) {
  constexpr size_t kHead = 5;
  switch (Below(random, 4)) {
    case 0:  // a message that is marked as compressed
      (*payload)[0] = static_cast<char>(random());
      return;
    case 1:
      payload->replace(1, 4, BigEndian32(static_cast<uint32_t>(random())));
      return;
    default:  // another message of the same length
      if (payload->size() > kHead) {
        for (uint64_t i = 0; i <= Below(random, 8); ++i) {
          (*payload)[kHead + Below(random, payload->size() - kHead)] = static_cast<char>(random());
        }
      }
  }
}

Frame RandomFrame(Random& random) {
  std::string payload(Below(random, 40), '\0');
  for (char& c : payload) c = static_cast<char>(random());
  return {.type = static_cast<uint8_t>(Below(random, 12)),
          .flags = static_cast<uint8_t>(random()),
          .stream = static_cast<uint32_t>(Below(random, 12)),
          .payload = std::move(payload)};
}

Frame HostileHeaders(Random& random, uint32_t stream) {
  Headers headers = CallHeaders(Below(random, 2) == 0 ? kStream : kQuestions[Below(random, std::size(kQuestions))]);
  const Headers hostile = {{"x-request-id", "a\nb\": \"c"},
                           {"x-request-id", std::string(Below(random, 9000), 'x')},
                           {"authorization", "Bearer " + std::string(Below(random, 4000), 'z')},
                           {"grpc-timeout", "99999999H"},
                           {"grpc-timeout", "-1n"},
                           {"grpc-encoding", "gzip"},
                           {"grpc-accept-encoding", std::string(Below(random, 500), ',')},
                           {"Upper", "case"},
                           {"", "no name"},
                           {":path", "/twice"},
                           {"content-length", "18446744073709551615"},
                           {"x-bin", "not base64"},
                           {"binary-bin", "////"}};
  for (uint64_t i = 0; i <= Below(random, 3); ++i) headers.push_back(hostile[Below(random, hostile.size())]);
  if (Below(random, 4) == 0) std::shuffle(headers.begin(), headers.end(), random);
  if (Below(random, 4) == 0) headers.erase(headers.begin() + static_cast<int64_t>(Below(random, headers.size())));
  return {.type = kHeaders, .flags = kEndHeaders, .stream = stream, .payload = Hpack(headers)};
}

void MutateFrame(Random& random, Session* session) {
  const auto at = static_cast<int64_t>(Below(random, session->size()));
  Frame& frame = (*session)[static_cast<size_t>(at)];
  switch (Below(random, 12)) {
    case 0:
      frame.type = static_cast<uint8_t>(random());
      return;
    case 1:
      frame.flags = static_cast<uint8_t>(random());
      return;
    case 2:
      frame.stream = static_cast<uint32_t>(Below(random, 2) == 0 ? random() : Below(random, 8));
      return;
    case 3:
      frame.claimed_length = static_cast<int64_t>(Below(random, 2) == 0 ? Below(random, 1 << 24) : Below(random, 64));
      return;
    case 4:
      MutateBytes(random, &frame.payload);
      return;
    case 5:
      session->insert(session->begin() + at, frame);
      return;
    case 6:
      if (session->size() > 1) session->erase(session->begin() + at);
      return;
    case 7:
      std::swap(frame, (*session)[Below(random, session->size())]);
      return;
    case 8:
      session->insert(session->begin() + at, {.type = kRstStream, .stream = frame.stream, .payload = BigEndian32(8)});
      return;
    case 9:
      session->insert(session->begin() + at, HostileHeaders(random, static_cast<uint32_t>(1 + 2 * Below(random, 8))));
      return;
    case 10:
      if (frame.type == kData && frame.payload.size() >= 5) SpoilMessage(random, &frame.payload);
      return;
    default:
      session->insert(session->begin() + at, Below(random, 40), RandomFrame(random));
  }
}

}  // namespace

std::vector<v1::StreamRequest> ValidStream(Random& random, const std::string& producer, int batches) {
  std::vector<v1::StreamRequest> requests(1);
  requests.front().mutable_open()->set_producer_id(producer);
  requests.front().mutable_open()->set_epoch(1);
  requests.front().mutable_open()->set_client("fuzz");
  *requests.emplace_back().mutable_batch() = HeadBatch(producer);
  uint64_t seq = 3;
  for (int i = 1; i < batches; ++i) {
    v1::Batch& batch = *requests.emplace_back().mutable_batch();
    batch.set_first_seq(seq);
    for (uint64_t k = 0; k <= Below(random, 20); ++k, ++seq) {
      v1::Record row;
      row.mutable_measurement()->set_attempt_id(producer);
      row.mutable_measurement()->set_seq(seq - 2);
      row.mutable_measurement()->set_timestamp_s(1);
      row.mutable_measurement()->set_status("ok");
      row.mutable_measurement()->set_perf_ms(1);
      row.mutable_measurement()->set_config_id(7);
      AddRecord(row, &batch);
    }
  }
  return requests;
}

Session ValidSession(Random& random, const std::string& producer) {
  Session session = Begin();
  uint32_t stream = 1;
  AppendCall(kStream, stream, Bytes(ValidStream(random, producer, 1 + static_cast<int>(Below(random, 4)))), &session);
  for (uint64_t i = 0; i < Below(random, 4); ++i) {
    stream += 2;
    if (Below(random, 3) == 0) {
      v1::IngestRequest request;
      request.mutable_open()->set_producer_id(producer);
      request.mutable_open()->set_epoch(1);
      *request.mutable_batch() = HeadBatch(producer);
      AppendCall(kIngest, stream, {request.SerializeAsString()}, &session);
    } else {
      AppendCall(kQuestions[Below(random, std::size(kQuestions))], stream, {""}, &session);
    }
  }
  return session;
}

Session WrongMessages(Random& random, const std::string& producer) {
  Session session = Begin();
  std::vector<v1::StreamRequest> requests = ValidStream(random, producer, 1 + static_cast<int>(Below(random, 4)));
  for (uint64_t i = 0; i <= Below(random, 3); ++i) Spoil(random, &requests);
  // A frame has at most 16 KiB unless the server's SETTINGS allow more.
  constexpr size_t kFrameBytes = 16384;
  session.push_back(HeadersFrame(kStream, 1));
  for (const v1::StreamRequest& request : requests) {
    const std::string message = GrpcMessage(request.SerializeAsString());
    for (size_t at = 0; at < message.size(); at += kFrameBytes) {
      session.push_back({.stream = 1, .payload = message.substr(at, kFrameBytes)});
    }
  }
  if (Below(random, 2) == 0) session.push_back({.flags = kEndStream, .stream = 1});
  return session;
}

void MutateFrames(Random& random, Session* session) {
  for (uint64_t i = 0; i <= Below(random, 4); ++i) MutateFrame(random, session);
}

void MutateBytes(Random& random, std::string* bytes) {
  for (uint64_t i = 0; i <= Below(random, 6); ++i) {
    if (bytes->empty()) return;
    const size_t at = Below(random, bytes->size());
    switch (Below(random, 4)) {
      case 0:
        (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << Below(random, 8)));
        break;
      case 1:
        (*bytes)[at] = static_cast<char>(random());
        break;
      case 2:
        bytes->erase(at, 1 + Below(random, 8));
        break;
      default:
        bytes->insert(at, std::string(1 + Below(random, 8), static_cast<char>(random())));
    }
  }
}

}  // namespace telemetry::fuzz

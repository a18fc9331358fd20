#include "server/web/calls/call_handler.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "proto/base/status_macros.h"
#include "server/http/refusal.h"
#include "server/web/calls/csv_stream.h"

namespace telemetry::web::calls {
namespace {

http::Response NewResponse(const char* content_type) {
  return {.content_type = content_type, .headers = {{"Cache-Control", "no-store"}}};
}

// Returns the response to which a CSV is attached. The name of the file is made from the address of the call.
http::Response NewCsv(const KnownCall& call) {
  http::Response response = NewResponse("text/csv; charset=utf-8; header=present");
  const absl::string_view pattern(call.endpoint->pattern.data(), call.endpoint->pattern.size());
  const std::string name = absl::StrReplaceAll(pattern, {{"/{}", ""}, {"/", "-"}});
  response.headers.emplace_back("Content-Disposition", absl::StrCat("attachment; filename=\"", name, ".csv\""));
  return response;
}

}  // namespace

CallHandler::CallHandler(Sources sources, const ServerState& state)
    : sources_(std::move(sources)), pool_(kThreads, kMostWaiting) {
  readers_.reserve(kThreads);
  for (size_t i = 0; i < kThreads; ++i) readers_.emplace_back(sources_, state, answers_);
}

void CallHandler::Handle(http::Request request, Admit admit, const http::Handler::Respond& respond) {
  absl::StatusOr<KnownCall> call = FindCall(std::move(request.target));
  if (!call.ok()) return respond(http::ErrorResponse(call.status()));
  if (!request.is_read()) {
    http::Response refusal = http::ErrorResponse(405, "the API only reads: use GET");
    refusal.headers.emplace_back("Allow", "GET, HEAD");
    return respond(std::move(refusal));
  }
  const bool is_taken =
      pool_.Submit(request.network, [this, call = *std::move(call), network = request.network, admit = std::move(admit),
                                     respond](size_t worker) { Answer(call, network, admit, worker, respond); });
  if (!is_taken) respond(http::Overloaded());
}

void CallHandler::Answer(const KnownCall& call, const std::string& network, const Admit& admit, size_t worker,
                         const http::Handler::Respond& respond) {
  absl::StatusOr<http::Response> response =
      call.wants_all_pages() ? AnswerAllPages(call, network, admit, worker) : AnswerAtOnce(call, worker);
  respond(response.ok() ? *std::move(response) : http::ErrorResponse(response.status()));
}

absl::StatusOr<http::Response> CallHandler::AnswerAtOnce(const KnownCall& call, size_t worker) {
  Reader& reader = readers_[worker];
  ASSIGN_OR_RETURN(std::string body, call.wants_csv() ? reader.AnswerCsv(call) : reader.AnswerJson(call));
  http::Response response = call.wants_csv() ? NewCsv(call) : NewResponse("application/json");
  response.body = std::move(body);
  return response;
}

absl::StatusOr<http::Response> CallHandler::AnswerAllPages(const KnownCall& call, const std::string& network,
                                                           const Admit& admit, size_t worker) {
  std::string csv;
  std::string cursor;
  RETURN_IF_ERROR(readers_[worker].AppendCsvPage(call, &cursor, &csv));
  http::Response response = NewCsv(call);
  const auto later = [this, call, network, admit](std::function<void(const CsvStream::ReadPage&)> read) {
    return pool_.Submit(network, [this, call, admit, read = std::move(read)](size_t next_worker) {
      read([&](std::string* cursor, std::string* csv) {
        RETURN_IF_ERROR(admit());
        return readers_[next_worker].AppendCsvPage(call, cursor, csv);
      });
    });
  };
  response.stream = std::make_shared<CsvStream>(std::move(csv), std::move(cursor), later);
  return response;
}

}  // namespace telemetry::web::calls

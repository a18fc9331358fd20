#include "server/web/site/site.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "proto/base/steady.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "server/http/cookie.h"
#include "server/http/refusal.h"
#include "server/web/assets/asset.h"
#include "server/web/json/json_writer.h"

namespace telemetry::web::site {
namespace {

using http::Request;
using http::Response;

// The header that pages of other sites cannot send without the server's permission.
constexpr char kFromPage[] = "telemetry-web";

Response NewResponse(std::string content_type, std::string body) {
  return {.content_type = std::move(content_type), .headers = {{"Cache-Control", "no-store"}}, .body = std::move(body)};
}

Response Refuse(const Request& request) {
  Response response = http::ErrorResponse(405, absl::StrCat("there is nothing to ", request.method, " here: use GET"));
  response.headers.emplace_back("Allow", "GET, HEAD");
  return response;
}

Response ServeAsset(const assets::Asset& asset, const Request& request) {
  Response response = {.content_type = std::string(asset.content_type)};
  // The addresses of the files stay the same from version to version, so browsers ask each time.
  response.headers = {{"Cache-Control", "no-cache"}, {"ETag", std::string(asset.etag)}, {"Vary", "Accept-Encoding"}};
  if (!request.if_none_match.empty() && request.if_none_match.find(asset.etag) != std::string::npos) {
    response.status = 304;
    return response;
  }
  response.shared_body = request.accepts_gzip ? asset.gzip : asset.plain;
  if (request.accepts_gzip) response.headers.emplace_back("Content-Encoding", "gzip");
  return response;
}

Response ServeFile(const std::string& name, const Request& request) {
  const assets::Asset* const asset = assets::FindAsset(name);
  return asset == nullptr ? http::ErrorResponse(404, "there is no such file") : ServeAsset(*asset, request);
}

session::Credentials CredentialsOf(const Request& request) {
  return {.cookie = std::string(http::FindCookie(request.cookie, kCookie)), .authorization = request.authorization};
}

Response SessionResponse(const session::Reader* reader, bool is_required) {
  Response response = NewResponse("application/json", "");
  json::JsonWriter out(&response.body);
  out.BeginObject();
  out.Field("sign_in_required", is_required);
  out.Field("signed_in", reader != nullptr);
  const bool has_name = reader != nullptr && !reader->name.empty();
  has_name ? out.Field("name", reader->name) : out.Field("name", nullptr);
  const bool expires = reader != nullptr && reader->expires != absl::InfiniteFuture();
  expires ? out.Field("expires_unix_ms", absl::ToUnixMillis(reader->expires)) : out.Field("expires_unix_ms", nullptr);
  out.Field("version", TELEMETRY_VERSION);
  out.EndObject();
  response.body.push_back('\n');
  return response;
}

// A cookie that no script can read and that requests of other sites do not carry.
std::string CookieHeader(std::string_view value, absl::Duration lifetime, bool is_secure) {
  return absl::StrCat(
      absl::string_view(kCookie.data(), kCookie.size()), "=", absl::string_view(value.data(), value.size()),
      "; Path=/; HttpOnly; SameSite=Strict; Max-Age=", absl::ToInt64Seconds(lifetime), is_secure ? "; Secure" : "");
}

absl::StatusOr<std::string> TokenIn(const Request& request) {
  if (!absl::StartsWith(request.content_type, "application/json")) {
    return absl::InvalidArgumentError("the body must be of the type application/json");
  }
  const absl::StatusOr<record::Json> body = record::ParseJson(request.body);
  const record::Json* const token = body.ok() ? body->Find("token") : nullptr;
  const bool is_valid = token != nullptr && token->kind == record::Json::Kind::kString && body->members.size() == 1;
  if (!is_valid) return absl::InvalidArgumentError(R"(the body must be {"token": "..."})");
  return token->text;
}

}  // namespace

void Site::Handle(Request request, Respond respond) {
  const SteadyTime begin = SteadyNow();
  const Respond counting = [this, begin, respond = std::move(respond)](Response response) {
    parts_.metrics.Count(response.status, ElapsedSince(begin));
    respond(std::move(response));
  };
  const std::string& path = request.target.path;
  if (path == "/api" || absl::StartsWith(path, "/api/")) return HandleApi(std::move(request), counting);
  if (!request.is_read()) return counting(Refuse(request));
  if (path == "/healthz") return counting(NewResponse("text/plain; charset=utf-8", "ok\n"));
  if (path == "/metrics") return counting(Metrics(request));
  constexpr absl::string_view kAssets = "/assets/";
  counting(ServeFile(absl::StartsWith(path, kAssets) ? path.substr(kAssets.size()) : "index.html", request));
}

void Site::HandleApi(Request request, const Respond& respond) {
  const std::string& path = request.target.path;
  if (!absl::StartsWith(path, "/api/v1/")) return respond(http::ErrorResponse(404, "the API is below /api/v1/"));
  if (path == "/api/v1/session") return respond(HandleSession(request));
  session::Credentials credentials = CredentialsOf(request);
  const absl::Status admitted = parts_.sessions.Admit(credentials).status();
  if (!admitted.ok()) return respond(http::ErrorResponse(admitted));
  if (path == "/api/v1/events") return respond(OpenEvents(request, credentials));
  auto& sessions = parts_.sessions;
  parts_.calls.Handle(
      std::move(request), [&sessions, credentials] { return sessions.Admit(credentials).status(); }, respond);
}

Response Site::HandleSession(const Request& request) {
  if (request.is_read()) {
    const absl::StatusOr<session::Reader> reader = parts_.sessions.Admit(CredentialsOf(request));
    return SessionResponse(reader.ok() ? &*reader : nullptr, parts_.sessions.is_sign_in_required());
  }
  if (request.requested_with != kFromPage) {
    return http::ErrorResponse(403, "the request needs the header X-Requested-With: telemetry-web");
  }
  if (request.method == "POST") return SignIn(request);
  if (request.method == "DELETE") return SignOut(request);
  return http::ErrorResponse(405, "use GET, POST or DELETE");
}

Response Site::SignIn(const Request& request) {
  const absl::StatusOr<std::string> token = TokenIn(request);
  if (!token.ok()) return http::ErrorResponse(token.status());
  const absl::StatusOr<session::SessionStore::SignedIn> signed_in = parts_.sessions.SignIn(*token, request.network);
  if (!signed_in.ok()) return http::ErrorResponse(signed_in.status());
  Response response = SessionResponse(&signed_in->reader, /*is_required=*/true);
  const absl::Duration lifetime = signed_in->reader.expires - absl::Now();
  response.headers.emplace_back("Set-Cookie", CookieHeader(signed_in->cookie, lifetime, request.is_secure));
  return response;
}

Response Site::SignOut(const Request& request) {
  parts_.sessions.SignOut(http::FindCookie(request.cookie, kCookie));
  const session::Reader nobody;
  const bool is_required = parts_.sessions.is_sign_in_required();
  Response response = SessionResponse(is_required ? nullptr : &nobody, is_required);
  response.headers.emplace_back("Set-Cookie", CookieHeader("", absl::ZeroDuration(), request.is_secure));
  return response;
}

Response Site::OpenEvents(const Request& request, const session::Credentials& credentials) {
  const std::string run_id = request.target.Find("run_id").value_or("");
  if (!run_id.empty() && !(run_id.size() == 64 && record::IsRunIdPrefix(run_id))) {
    return http::ErrorResponse(400, "parameter run_id: it is not a run_id");
  }
  auto& sessions = parts_.sessions;
  std::shared_ptr<events::EventStream> stream = parts_.events.Open(
      request.network, run_id, [&sessions, credentials] { return sessions.Admit(credentials).status(); });
  if (stream == nullptr) return http::Overloaded();
  Response response = NewResponse("text/event-stream", "");
  response.stream = std::move(stream);
  return response;
}

Response Site::Metrics(const Request& request) {
  const absl::Status admitted = parts_.sessions.Admit(CredentialsOf(request)).status();
  if (!admitted.ok()) return http::ErrorResponse(admitted);
  return NewResponse("text/plain; version=0.0.4; charset=utf-8", parts_.metrics.Text());
}

}  // namespace telemetry::web::site

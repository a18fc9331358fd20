#include "server/http/connection.h"

#include <atomic>
#include <string_view>
#include <utility>

#include "proto/base/status_macros.h"
#include "server/http/refusal.h"
#include "server/http/stream_sender.h"

namespace telemetry::http {
namespace {

using Error = Transport::Error;
using boost::asio::const_buffer;

const_buffer Buffer(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

// The response that a handler owes. Thread-safe; may outlive the connection and the server.
class Connection::Answer {
 public:
  Answer(std::weak_ptr<Connection> connection, std::shared_ptr<IoQueue> queue)
      : connection_(std::move(connection)), queue_(std::move(queue)) {}
  ~Answer() { Give(ErrorResponse(500, "the server did not answer")); }
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  void Give(Response response) {
    if (is_given_.exchange(true)) return;
    queue_->Post([connection = connection_, response = std::move(response)]() mutable {
      if (const auto self = connection.lock()) self->Send(std::move(response));
    });
  }

 private:
  const std::weak_ptr<Connection> connection_;
  const std::shared_ptr<IoQueue> queue_;
  std::atomic<bool> is_given_ = false;
};

Connection::Connection(std::unique_ptr<Transport> transport, std::string network, ConnectionContext& context)
    : network_(std::move(network)),
      context_(context),
      transport_(std::move(transport)),
      parser_(context.limits.head_bytes, context.limits.body_bytes) {}

Connection::~Connection() {
  CloseStream();
  Release();
}

void Connection::Start() {
  const absl::Duration timeout = context_.limits.request_timeout;
  transport_->Handshake(SteadyAfter(timeout), [self = shared_from_this(), timeout](Error error) {
    if (!error) self->ReadRequest(timeout);
  });
}

void Connection::ReadRequest(absl::Duration wait) {
  parser_.Next();
  if (parser_.has_bytes()) return Parse(SteadyAfter(context_.limits.request_timeout));
  transport_->ReadSome(parser_.Space(), SteadyAfter(wait), [self = shared_from_this()](Error error, size_t size) {
    if (error) return;
    self->parser_.Commit(size);
    self->Parse(SteadyAfter(self->context_.limits.request_timeout));
  });
}

void Connection::ReadMore(SteadyTime deadline) {
  transport_->ReadSome(parser_.Space(), deadline, [self = shared_from_this(), deadline](Error error, size_t size) {
    if (error) return;
    self->parser_.Commit(size);
    self->Parse(deadline);
  });
}

void Connection::Parse(SteadyTime deadline) {
  switch (parser_.Parse()) {
    case RequestParser::State::kNeedsMore:
      return ReadMore(deadline);
    case RequestParser::State::kWantsContinue:
      return Continue(deadline);
    case RequestParser::State::kDone:
      return OnRequest();
    case RequestParser::State::kUnreadable:
      keep_alive_ = is_head_ = is_http_1_0_ = false;
      return Send(RefuseUnreadable(parser_.error()));
  }
}

void Connection::Continue(SteadyTime deadline) {
  const auto go_on = [self = shared_from_this(), deadline](Error error) {
    if (!error) self->ReadMore(deadline);
  };
  transport_->Write({Buffer("HTTP/1.1 100 Continue\r\n\r\n")}, context_.limits.send_timeout, go_on);
}

void Connection::OnRequest() {
  keep_alive_ = parser_.keep_alive() && context_.limits.idle_timeout > absl::ZeroDuration();
  is_head_ = parser_.is_head();
  is_http_1_0_ = parser_.is_http_1_0();
  absl::StatusOr<Request> request = parser_.Take();
  if (!request.ok()) return Send(ErrorResponse(request.status()));
  request->network = network_;
  request->is_secure = transport_->is_secure();
  if (const absl::Status status = Check(*request); !status.ok()) return Send(ErrorResponse(status));
  Pass(*std::move(request));
}

absl::Status Connection::Check(const Request& request) const {
  if (!context_.origins.has_value()) return absl::OkStatus();
  if (request.host.empty()) return absl::InvalidArgumentError("the request has no Host");
  if (const absl::Status status = context_.origins->CheckHost(request.host); !status.ok()) return WrongHost(status);
  return OriginCheck::CheckOrigin(request.origin, request.host, request.is_secure);
}

void Connection::Pass(Request request) {
  // Saves the handler's work; Send decides.
  if (context_.waiting_bytes.RoomFor(network_, 1) != call::SenderShares::Room::kYes) return Send(Overloaded());
  context_.answering.insert(shared_from_this());
  const auto answer = std::make_shared<Answer>(weak_from_this(), context_.queue);
  context_.handler->Handle(std::move(request), [answer](Response response) { answer->Give(std::move(response)); });
}

void Connection::Send(Response response) {
  context_.answering.erase(shared_from_this());
  response_ = std::move(response);
  const uint64_t size = response_.body.size();
  if (context_.waiting_bytes.TryTake(network_, size)) {
    waiting_ = size;
  } else {
    response_ = Overloaded();
  }
  Write();
}

void Connection::Write() {
  const Framing framing = FramingOf(response_, is_http_1_0_);
  const bool has_body = framing != Framing::kNone && !is_head_;
  if (response_.stream != nullptr) keep_alive_ = false;
  head_ = FormatHead(response_, framing, keep_alive_);
  transport_->Write({Buffer(head_), Buffer(has_body ? response_.content() : "")}, context_.limits.send_timeout,
                    [self = shared_from_this(), has_body](Error error) {
                      if (!error) self->OnSent(has_body);
                    });
}

void Connection::OnSent(bool has_body) {
  Release();
  if (response_.stream != nullptr && has_body) {
    return std::make_shared<StreamSender>(std::move(transport_), std::move(response_.stream), !is_http_1_0_, network_,
                                          context_)
        ->Start();
  }
  CloseStream();
  response_ = {};
  if (keep_alive_) return ReadRequest(context_.limits.idle_timeout);
  transport_->Finish(SteadyAfter(context_.limits.close_timeout), [self = shared_from_this()](Error) {});
}

void Connection::CloseStream() {
  if (const auto stream = std::exchange(response_.stream, nullptr); stream != nullptr) stream->Close();
}

void Connection::Release() {
  if (waiting_ > 0) context_.waiting_bytes.Release(network_, std::exchange(waiting_, 0));
}

}  // namespace telemetry::http

#include "server/http/stream_sender.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace telemetry::http {

using Error = Transport::Error;

StreamSender::StreamSender(std::unique_ptr<Transport> transport, std::shared_ptr<BodyStream> stream, bool is_chunked,
                           std::string network, ConnectionContext& context)
    : context_(context),
      network_(std::move(network)),
      is_chunked_(is_chunked),
      transport_(std::move(transport)),
      stream_(std::move(stream)) {}

StreamSender::~StreamSender() { Leave(); }

void StreamSender::Start() {
  Watch();
  Pump();
}

void StreamSender::Watch() {
  transport_->ReadSome(boost::asio::buffer(ignored_), kNever,
                       [self = shared_from_this()](Error, size_t) { self->OnRead(); });
}

// A client has nothing to say during a stream.
void StreamSender::OnRead() {
  if (!is_sent_) return Leave();
  transport_->Finish(SteadyAfter(context_.limits.close_timeout), [self = shared_from_this()](Error) {});
}

void StreamSender::OnWake() {
  if (!is_writing_ && stream_ != nullptr) Pump();
}

void StreamSender::Pump() {
  piece_.clear();
  const auto wake = [weak = weak_from_this(), queue = context_.queue] {
    queue->Post([weak] {
      if (const auto self = weak.lock()) self->OnWake();
    });
  };
  is_last_ = !stream_->Take(&piece_, wake);
  if (piece_.empty() && !is_last_) return;
  if (!context_.waiting_bytes.TryTake(network_, piece_.size())) return Leave();
  waiting_ = piece_.size();
  Write();
}

void StreamSender::Write() {
  is_writing_ = true;
  const bool is_chunk = is_chunked_ && !piece_.empty();
  before_ = is_chunk ? absl::StrCat(absl::Hex(piece_.size()), "\r\n") : "";
  after_ = absl::StrCat(is_chunk ? "\r\n" : "", is_chunked_ && is_last_ ? "0\r\n\r\n" : "");
  transport_->Write({boost::asio::buffer(before_), boost::asio::buffer(piece_), boost::asio::buffer(after_)},
                    context_.limits.send_timeout,
                    [self = shared_from_this()](Error error) { error ? self->Leave() : self->OnWritten(); });
}

void StreamSender::OnWritten() {
  is_writing_ = false;
  Release();
  if (stream_ == nullptr) return;
  if (!is_last_) return Pump();
  stream_ = nullptr;
  is_sent_ = true;
  transport_->Cancel();  // OnRead follows
}

void StreamSender::Leave() {
  Release();
  if (const auto stream = std::exchange(stream_, nullptr); stream != nullptr) stream->Close();
  transport_->Close();
}

void StreamSender::Release() {
  if (waiting_ > 0) context_.waiting_bytes.Release(network_, std::exchange(waiting_, 0));
}

}  // namespace telemetry::http

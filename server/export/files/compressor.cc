#include "server/export/files/compressor.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"

namespace telemetry::exporter::files {
namespace {

constexpr size_t kOutputStep = 256 << 10;

class GzipCompressor : public Compressor {
 public:
  ~GzipCompressor() override { deflateEnd(&stream_); }

  absl::Status Init() {
    constexpr int kLevel = 6;
    constexpr int kGzipWindow = MAX_WBITS + 16;  // 16: a gzip header; zlib leaves its time and name at 0
    constexpr int kMemory = 8;
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
      return absl::ResourceExhaustedError("gzip: no memory for the compressor");
    }
    return absl::OkStatus();
  }

  absl::Status Compress(std::string_view text, std::string* out) override {
    while (!text.empty()) {
      std::string_view piece = text.substr(0, std::numeric_limits<uInt>::max());
      text.remove_prefix(piece.size());
      RETURN_IF_ERROR(Deflate(piece, Z_NO_FLUSH, out));
    }
    return absl::OkStatus();
  }

  absl::Status Finish(std::string* out) override { return Deflate({}, Z_FINISH, out); }

 private:
  absl::Status Deflate(std::string_view piece, int flush, std::string* out) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));  // zlib does not write to the input
    stream_.avail_in = static_cast<uInt>(piece.size());
    do {
      size_t filled = out->size();
      out->resize(filled + kOutputStep);
      stream_.next_out = reinterpret_cast<Bytef*>(out->data() + filled);
      stream_.avail_out = kOutputStep;
      int result = deflate(&stream_, flush);
      out->resize(out->size() - stream_.avail_out);
      if (result == Z_STREAM_ERROR) return absl::InternalError("gzip: the compressor's state is inconsistent");
    } while (stream_.avail_out == 0);
    return absl::OkStatus();
  }

  z_stream stream_{};
};

class ZstdCompressor : public Compressor {
 public:
  absl::Status Init() {
    if (context_ == nullptr) return absl::ResourceExhaustedError("zstd: no memory for the compressor");
    constexpr int kLevel = 3;
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel);
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
    return absl::OkStatus();
  }

  absl::Status Compress(std::string_view text, std::string* out) override {
    ZSTD_inBuffer input{text.data(), text.size(), 0};
    while (input.pos < input.size) {
      if (absl::StatusOr<size_t> left = Step(&input, ZSTD_e_continue, out); !left.ok()) return left.status();
    }
    return absl::OkStatus();
  }

  absl::Status Finish(std::string* out) override {
    ZSTD_inBuffer nothing{nullptr, 0, 0};
    while (true) {
      ASSIGN_OR_RETURN(size_t left, Step(&nothing, ZSTD_e_end, out));
      if (left == 0) return absl::OkStatus();
    }
  }

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  absl::StatusOr<size_t> Step(ZSTD_inBuffer* input, ZSTD_EndDirective directive, std::string* out) {
    size_t filled = out->size();
    out->resize(filled + kOutputStep);
    ZSTD_outBuffer output{out->data() + filled, kOutputStep, 0};
    size_t left = ZSTD_compressStream2(context_.get(), &output, input, directive);
    out->resize(filled + output.pos);
    if (ZSTD_isError(left) != 0) return absl::InternalError(absl::StrCat("zstd: ", ZSTD_getErrorName(left)));
    return left;
  }

  std::unique_ptr<ZSTD_CCtx, Free> context_{ZSTD_createCCtx()};
};

template <typename Kind>
absl::StatusOr<std::unique_ptr<Compressor>> Make() {
  auto compressor = std::make_unique<Kind>();
  RETURN_IF_ERROR(compressor->Init());
  return compressor;
}

}  // namespace

absl::StatusOr<Compression> ParseCompression(std::string_view name) {
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    if (name == CompressionName(compression)) return compression;
  }
  return absl::InvalidArgumentError(
      absl::StrCat("unknown compression '", std::string(name), "': use none, gzip or zstd"));
}

std::string_view CompressionName(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return "gzip";
    case Compression::kZstd:
      return "zstd";
    case Compression::kNone:
      break;
  }
  return "none";
}

std::string_view CompressionSuffix(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return ".gz";
    case Compression::kZstd:
      return ".zst";
    case Compression::kNone:
      break;
  }
  return "";
}

absl::StatusOr<std::unique_ptr<Compressor>> Compressor::Create(Compression compression) {
  switch (compression) {
    case Compression::kGzip:
      return Make<GzipCompressor>();
    case Compression::kZstd:
      return Make<ZstdCompressor>();
    case Compression::kNone:
      break;
  }
  return nullptr;
}

}  // namespace telemetry::exporter::files

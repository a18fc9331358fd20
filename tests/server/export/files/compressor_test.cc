#include "server/export/files/compressor.h"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <random>
#include <string>

namespace telemetry::exporter::files {
namespace {

// Returns the text compressed in pieces of the given size.
std::string Compressed(Compression compression, std::string_view text, size_t piece) {
  auto compressor = Compressor::Create(compression);
  EXPECT_TRUE(compressor.ok()) << compressor.status();
  std::string out;
  for (size_t at = 0; at < text.size(); at += piece) {
    EXPECT_TRUE((*compressor)->Compress(text.substr(at, piece), &out).ok());
  }
  EXPECT_TRUE((*compressor)->Finish(&out).ok());
  return out;
}

std::string Gunzip(const std::string& bytes, size_t size) {
  std::string text(size + 1, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

std::string Unzstd(const std::string& bytes, size_t size) {
  std::string text(size + 1, '\0');
  size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  EXPECT_EQ(ZSTD_isError(got), 0u) << ZSTD_getErrorName(got);
  text.resize(ZSTD_isError(got) != 0 ? 0 : got);
  return text;
}

std::string RandomText(size_t size) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  std::string text(size, ' ');
  for (char& c : text) c = static_cast<char>(random() % 7 == 0 ? random() : 'a');
  return text;
}

TEST(Compressor, GzipComesBack) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{3'000'000}}) {
    const std::string text = RandomText(size);
    EXPECT_EQ(Gunzip(Compressed(Compression::kGzip, text, 100'000), size), text);
  }
}

TEST(Compressor, ZstdComesBack) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{3'000'000}}) {
    const std::string text = RandomText(size);
    EXPECT_EQ(Unzstd(Compressed(Compression::kZstd, text, 100'000), size), text);
  }
}

TEST(Compressor, AGzipHeaderHasNeitherTimeNorName) {
  const std::string bytes = Compressed(Compression::kGzip, "text", 4);
  ASSERT_GT(bytes.size(), 10u);
  EXPECT_EQ(bytes[3], 0);                            // no flags: no name
  EXPECT_EQ(bytes.substr(4, 4), std::string(4, 0));  // no time
}

TEST(Compressor, NoneIsNoCompressor) {
  auto compressor = Compressor::Create(Compression::kNone);
  ASSERT_TRUE(compressor.ok());
  EXPECT_EQ(*compressor, nullptr);
}

TEST(Compression, NamesAreReadBack) {
  for (Compression compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    EXPECT_EQ(ParseCompression(CompressionName(compression)).value(), compression);
  }
  EXPECT_EQ(ParseCompression("bzip2").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace telemetry::exporter::files

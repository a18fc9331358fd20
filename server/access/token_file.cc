#include "server/access/token_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "proto/access/bearer_token.h"
#include "proto/base/status_macros.h"
#include "proto/record/ids.h"
#include "proto/record/strings.h"
#include "server/access/secret_file.h"

namespace telemetry::access {
namespace {

using record::Cat;
using record::Json;

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr char kVersion[] = "1";
constexpr size_t kIdBytes = 4;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

absl::Status Failed(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, Cat("token file ", path, ": cannot ", what));
}

// Refuses a file that other users can access, because a user who can write it can add tokens.
absl::Status CheckMode(const std::string& path, int descriptor) {
  struct stat status = {};
  if (::fstat(descriptor, &status) != 0) return Failed(path, "stat it");
  if (!S_ISREG(status.st_mode)) return absl::InvalidArgumentError(Cat("token file ", path, ": is not a regular file"));
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) == 0) return absl::OkStatus();
  return absl::PermissionDeniedError(Cat("token file ", path, ": others can read or write it: chmod 600 ", path));
}

absl::StatusOr<std::string> ReadAll(const std::string& path, int descriptor) {
  std::string text;
  char buffer[1 << 16];
  while (true) {
    const ssize_t size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return Failed(path, "read it");
    if (size == 0) return text;
    text.append(buffer, size);
    if (text.size() > kMostBytes) return absl::InvalidArgumentError(Cat("token file ", path, ": is too large"));
  }
}

absl::StatusOr<std::vector<Token>> Parse(std::string_view text) {
  ASSIGN_OR_RETURN(Json json, record::ParseJson(text));
  const Json* version = json.Find("version");
  if (version == nullptr || version->text != kVersion) {
    return absl::InvalidArgumentError("its \"version\" is not 1; was it made by a newer telemetry-collector?");
  }
  const Json* list = json.Find("tokens");
  if (list == nullptr || list->kind != Json::Kind::kArray) return absl::InvalidArgumentError("it has no \"tokens\"");
  std::vector<Token> tokens;
  for (const Json& item : list->items) {
    ASSIGN_OR_RETURN(Token token, TokenFromJson(item));
    tokens.push_back(std::move(token));
  }
  return tokens;
}

// Writes one token per line, so that people can read the file.
std::string Format(const std::vector<Token>& tokens) {
  std::string text = Cat("{\"version\": ", kVersion, ", \"tokens\": [");
  const char* separator = "\n";
  for (const Token& token : tokens) {
    text += std::exchange(separator, ",\n");
    record::AppendJson(ToJson(token), &text);
  }
  return text + "\n]}\n";
}

absl::Status Replace(const std::string& path, std::string_view text) {
  const std::string next = path + ".new";
  ::unlink(next.c_str());  // left behind by a change that was killed
  RETURN_IF_ERROR(WriteSecretFile(next, text));
  if (std::rename(next.c_str(), path.c_str()) != 0) return Failed(path, "replace it");
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return directory.get() >= 0 && ::fsync(directory.get()) == 0 ? absl::OkStatus() : Failed(folder, "fsync it");
}

}  // namespace

absl::StatusOr<std::vector<Token>> ReadTokens(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return Failed(path, "open it (telemetry-collector token add creates it)");
  RETURN_IF_ERROR(CheckMode(path, file.get()));
  ASSIGN_OR_RETURN(std::string text, ReadAll(path, file.get()));
  absl::StatusOr<std::vector<Token>> tokens = Parse(text);
  if (tokens.ok()) return tokens;
  return absl::InvalidArgumentError(Cat("token file ", path, ": ", std::string(tokens.status().message())));
}

absl::Status ChangeTokens(const std::string& path, const std::function<absl::Status(std::vector<Token>&)>& change) {
  const std::string lock_path = path + ".lock";
  const File lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (lock.get() < 0) return Failed(lock_path, "create it");
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return Failed(lock_path, "lock it");
  }
  absl::StatusOr<std::vector<Token>> tokens = ReadTokens(path);
  if (absl::IsNotFound(tokens.status())) tokens = std::vector<Token>();
  if (!tokens.ok()) return tokens.status();
  RETURN_IF_ERROR(change(*tokens));
  return Replace(path, Format(*tokens));
}

absl::StatusOr<NewToken> MakeNewToken(Token token) {
  ASSIGN_OR_RETURN(std::string text, MakeToken());
  token.sha256 = record::Sha256(text);
  token.id = record::HexEncode(token.sha256.substr(0, kIdBytes));
  if (token.name.empty()) token.name = token.id;
  return NewToken{.text = std::move(text), .token = std::move(token)};
}

}  // namespace telemetry::access

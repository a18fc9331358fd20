#include "server/commands/tls_commands.h"

#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/access/certificate_authority.h"
#include "server/access/secret_file.h"
#include "server/commands/token_commands.h"

namespace telemetry::collector {
namespace {

constexpr int kLifetimesOfAuthority = 10;
constexpr char kAuthority[] = "ca";
constexpr char kCollector[] = "collector";

// The files to write: paths and contents.
using Files = std::vector<std::pair<std::string, std::string>>;

void Add(const std::string& folder, const std::string& name, const access::Identity& identity, Files& files) {
  const std::string base = absl::StrCat(folder, "/", name);
  files.emplace_back(base + ".pem", identity.certificate);
  files.emplace_back(base + ".key", identity.key);
}

absl::StatusOr<Files> MakeFiles(const TlsInitFlags& flags, absl::Duration lifetime) {
  ASSIGN_OR_RETURN(const auto authority,
                   access::CertificateAuthority::Create("autotune-telemetry", lifetime * kLifetimesOfAuthority));
  Files files;
  Add(flags.out, kAuthority, authority.identity(), files);
  ASSIGN_OR_RETURN(const access::Identity collector, authority.Issue(flags.hosts, lifetime));
  Add(flags.out, kCollector, collector, files);
  for (const std::string& client : flags.clients) {
    if (client == kAuthority || client == kCollector) {
      return absl::InvalidArgumentError(absl::StrCat("--client ", client, ": this name is reserved; choose another"));
    }
    ASSIGN_OR_RETURN(const access::Identity identity, authority.Issue({client}, lifetime));
    Add(flags.out, client, identity, files);
  }
  return files;
}

absl::Status Write(const Files& files) {
  for (const auto& [path, content] : files) {
    if (std::filesystem::exists(path)) {
      return absl::AlreadyExistsError(absl::StrCat(path, " exists; remove it or choose another --out"));
    }
  }
  for (const auto& [path, content] : files) {
    RETURN_IF_ERROR(access::WriteSecretFile(path, content));
  }
  return absl::OkStatus();
}

void PrintUse(const TlsInitFlags& flags) {
  const std::string& folder = flags.out;
  const bool is_mutual = !flags.clients.empty();
  std::printf("wrote %s/ca.pem, collector.pem and their keys; keep ca.key off the collector's machine\n",
              folder.c_str());
  std::printf("collector:  telemetry-collector serve --tls-cert %s/collector.pem --tls-key %s/collector.key%s\n",
              folder.c_str(), folder.c_str(),
              is_mutual ? absl::StrCat(" --tls-client-ca ", folder, "/ca.pem").c_str() : "");
  std::printf("clients:    --collector %s:4747 --tls-ca ca.pem%s\n", flags.hosts.front().c_str(),
              is_mutual ? " --tls-cert NAME.pem --tls-key NAME.key" : "");
}

}  // namespace

absl::Status InitTls(const TlsInitFlags& flags) {
  ASSIGN_OR_RETURN(const absl::Duration lifetime, ParseLifetime(flags.expires));
  ASSIGN_OR_RETURN(const Files files, MakeFiles(flags, lifetime));
  std::error_code error;
  if (std::filesystem::create_directories(flags.out, error)) {
    std::filesystem::permissions(flags.out, std::filesystem::perms::owner_all, error);
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot create the folder ", flags.out, ": ", error.message()));
  RETURN_IF_ERROR(Write(files));
  PrintUse(flags);
  return absl::OkStatus();
}

}  // namespace telemetry::collector

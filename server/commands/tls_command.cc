#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "proto/base/status_macros.h"
#include "server/access/certificate_authority.h"
#include "server/access/secret_file.h"
#include "server/commands/commands.h"
#include "server/commands/lifetime.h"

namespace telemetry::commands {
namespace {

// The flags of `tls init`.
struct TlsInitFlags {
  std::string out;                   // a folder; created if it does not exist
  std::vector<std::string> hosts;    // names and addresses under which clients reach the collector
  std::vector<std::string> clients;  // names for client certificates; empty: no mutual TLS
  std::string expires = "365d";      // lifetime of the certificates; that of the authority is ten times as long
};

constexpr int kLifetimesOfAuthority = 10;
constexpr char kAuthority[] = "ca";
constexpr char kCollector[] = "collector";

// The files to write: paths and contents.
using Files = std::vector<std::pair<std::string, std::string>>;

void AddFiles(const std::string& folder, const std::string& name, const access::Identity& identity, Files& files) {
  const std::string base = absl::StrCat(folder, "/", name);
  files.emplace_back(base + ".pem", identity.certificate);
  files.emplace_back(base + ".key", identity.key);
}

absl::StatusOr<Files> MakeFiles(const TlsInitFlags& flags, absl::Duration lifetime) {
  ASSIGN_OR_RETURN(const auto authority,
                   access::CertificateAuthority::Create("autotune-telemetry", lifetime * kLifetimesOfAuthority));
  Files files;
  AddFiles(flags.out, kAuthority, authority.identity(), files);
  ASSIGN_OR_RETURN(const access::Identity collector, authority.Issue(flags.hosts, lifetime));
  AddFiles(flags.out, kCollector, collector, files);
  for (const std::string& client : flags.clients) {
    if (client == kAuthority || client == kCollector) {
      return absl::InvalidArgumentError(absl::StrCat("--client ", client, ": this name is reserved; choose another"));
    }
    ASSIGN_OR_RETURN(const access::Identity identity, authority.Issue({client}, lifetime));
    AddFiles(flags.out, client, identity, files);
  }
  return files;
}

absl::Status WriteFiles(const Files& files) {
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

void PrintTlsUse(const TlsInitFlags& flags) {
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

// Writes a certificate authority (ca.pem, ca.key), a certificate for the collector (collector.pem, collector.key) and
// one for each client (NAME.pem, NAME.key), and prints how to use them. Overwrites no file. INVALID_ARGUMENT: a name or
// the lifetime is invalid. ALREADY_EXISTS: a file exists. Other errors are those of the system.
absl::Status InitTls(const TlsInitFlags& flags) {
  ASSIGN_OR_RETURN(const absl::Duration lifetime, ParseLifetime(flags.expires));
  ASSIGN_OR_RETURN(const Files files, MakeFiles(flags, lifetime));
  std::error_code error;
  if (std::filesystem::create_directories(flags.out, error)) {
    std::filesystem::permissions(flags.out, std::filesystem::perms::owner_all, error);
  }
  if (error) return absl::UnavailableError(absl::StrCat("cannot create the folder ", flags.out, ": ", error.message()));
  RETURN_IF_ERROR(WriteFiles(files));
  PrintTlsUse(flags);
  return absl::OkStatus();
}

class TlsInitCommand final : public cli::Command {
 public:
  TlsInitCommand()
      : Command({.name = "init",
                 .summary = "Create a certificate authority, the collector's certificate and their keys",
                 .examples = "  telemetry-collector tls init --out tls --host collector.example,10.0.0.7\n"}) {}

  void AddFlags(cli::Flags& flags) override {
    flags.Add("out", flags_.out, "Folder for the files; nothing in it is overwritten")->required()->type_name("DIR");
    flags
        .Add("host", flags_.hosts,
             "Name or address under which clients reach the collector; the first is its common name")
        ->required()
        ->delimiter(',')
        ->type_name("HOST");
    flags.Add("client", flags_.clients, "Also create a certificate for this client, for mutual TLS")
        ->delimiter(',')
        ->type_name("NAME");
    flags
        .Add("expires", flags_.expires,
             "Lifetime of the certificates, such as 365d or 12h; the authority's is ten times as long")
        ->type_name("TIME")
        ->check(LifetimeCheck());
  }

  absl::StatusOr<int> Run() override {
    RETURN_IF_ERROR(InitTls(flags_));
    return cli::kExitDone;
  }

 private:
  TlsInitFlags flags_;
};

}  // namespace

std::unique_ptr<cli::Command> NewTls() {
  return std::make_unique<cli::CommandGroup>(
      cli::Help{.name = "tls", .summary = "Create certificates for serve and its clients"},
      std::vector<cli::NewCommand>{cli::New<TlsInitCommand>});
}

}  // namespace telemetry::commands

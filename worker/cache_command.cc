#include <cstdint>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/cache_client.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/json.h"
#include "spdlog/spdlog.h"
#include "worker/cache/cache_json.h"
#include "worker/cache/stdio_session.h"
#include "worker/command_line.h"
#include "worker/commands.h"

namespace telemetry::worker {
namespace {

// A command on the cache of a collector.
class CacheCommand : public cli::Command {
 public:
  explicit CacheCommand(cli::Help help, std::string deadline = "5s")
      : Command(std::move(help)), deadline_(std::move(deadline)) {}

  void AddFlags(cli::Flags& flags) override {
    collector_ = "127.0.0.1:4747";
    flags.Add("collector", collector_, "Address of the collector")->type_name("HOST:PORT")->check(cli::NotEmpty());
    access::AddCredentialFlags(flags, credentials_);
    flags.Add("deadline", deadline_, "Time limit for connecting and an answer")->type_name("TIME");
  }

 protected:
  // Returns INVALID_ARGUMENT for a wrong flag.
  absl::StatusOr<std::unique_ptr<client::CacheClient>> OpenClient() {
    ASSIGN_OR_RETURN(const absl::Duration deadline, ParseDuration("--deadline", deadline_));
    RETURN_IF_ERROR(access::Connection::Check(credentials_, collector_));
    return std::make_unique<client::CacheClient>(
        client::CacheClientOptions{.collector = collector_, .credentials = credentials_, .deadline = deadline});
  }

 private:
  std::string collector_;
  access::Credentials credentials_;
  std::string deadline_;
};

// Adds the two arguments that name an entry.
void AddEntryName(cli::Flags& flags, std::string& name_space, std::string& key) {
  flags.command().add_option("namespace", name_space, "Namespace of the key")->required()->type_name("NAMESPACE");
  flags.command().add_option("key", key, "Key of the entry")->required()->type_name("KEY");
}

class CacheGetCommand final : public CacheCommand {
 public:
  CacheGetCommand()
      : CacheCommand({.name = "get",
                      .summary = "Print the newest value of a key, or its entry as JSON",
                      .examples = R"(  telemetry-worker cache get helion KEY --collector collector:4747 >config.json
  telemetry-worker cache get helion KEY --json --sender "token ci" --collector collector:4747
)",
                      .notes = "Exit status: 0 printed; 1 there is no such entry, or an error; 2 wrong usage."}) {}

  void AddFlags(cli::Flags& flags) override {
    CacheCommand::AddFlags(flags);
    AddEntryName(flags, *request_.mutable_namespace_(), *request_.mutable_key());
    flags.Add("hardware", *request_.mutable_hardware(), "Only an entry of this device")->type_name("NAME");
    flags.Add("sender", senders_, "Only an entry of this sender, as list prints it; may be repeated")
        ->default_str("")
        ->type_name("NAME")
        ->take_all()
        ->allow_extra_args(false);
    flags.Switch("json", json_, "Print the entry with its provenance as a line of JSON, the value in base64");
  }

  absl::StatusOr<int> Run() override {
    for (const std::string& sender : senders_) request_.add_senders(sender);
    ASSIGN_OR_RETURN(const std::unique_ptr<client::CacheClient> client, OpenClient());
    ASSIGN_OR_RETURN(const v1::CacheEntry entry, client->Get(request_));
    if (json_) {
      std::cout << record::ToJson(cache::EntryToJson(entry, /*with_value=*/true)) << "\n";
    } else {
      std::cout << entry.value();
    }
    return cli::kExitDone;
  }

 private:
  v1::GetCacheRequest request_;
  std::vector<std::string> senders_;
  bool json_ = false;
};

class CachePutCommand final : public CacheCommand {
 public:
  CachePutCommand()
      : CacheCommand(
            {.name = "put",
             .summary = "Store stdin as the value of a key",
             .examples =
                 R"(  telemetry-worker cache put helion KEY --hardware "NVIDIA H200" --collector collector:4747 <config.json
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    CacheCommand::AddFlags(flags);
    AddEntryName(flags, *entry_.mutable_namespace_(), *entry_.mutable_key());
    flags.Add("hardware", *entry_.mutable_hardware(), "Device on which the value was found")->type_name("NAME");
    flags.Add("attempt-id", attempt_id_, "Attempt that found the value, 32 hex digits")->type_name("ID");
    flags
        .Add("versions", *entry_.mutable_versions_json(), "JSON object with the versions of tuner, compiler and driver")
        ->type_name("JSON");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(*entry_.mutable_attempt_id(), cache::ParseAttemptId(attempt_id_));
    ASSIGN_OR_RETURN(const std::unique_ptr<client::CacheClient> client, OpenClient());
    entry_.mutable_value()->assign(std::istreambuf_iterator<char>(std::cin), {});
    ASSIGN_OR_RETURN(const v1::PutCacheResponse response, client->Put(entry_));
    if (response.removed() > 0) spdlog::info("{} older entries were removed to make room", response.removed());
    return cli::kExitDone;
  }

 private:
  v1::CacheEntry entry_;
  std::string attempt_id_;
};

class CacheListCommand final : public CacheCommand {
 public:
  CacheListCommand()
      : CacheCommand({.name = "list",
                      .summary = "Print entries, the newest first, as lines of JSON",
                      .examples = R"(  telemetry-worker cache list --collector collector:4747
  telemetry-worker cache list --namespace helion --key-prefix softmax --values --collector collector:4747
)"}) {}

  void AddFlags(cli::Flags& flags) override {
    CacheCommand::AddFlags(flags);
    flags.Add("namespace", *request_.mutable_namespace_(), "Only this namespace")->type_name("NAMESPACE");
    flags.Add("key-prefix", *request_.mutable_key_prefix(), "Only keys that begin with this text")->type_name("TEXT");
    flags.Add("hardware", *request_.mutable_hardware(), "Only entries of this device")->type_name("NAME");
    flags.Add("sender", *request_.mutable_sender(), "Only entries of this sender")->type_name("NAME");
    flags.Switch("values", values_, "Print the values, too, in base64");
    flags.Add("limit", limit_, "Most entries to print")->check(CLI::PositiveNumber);
  }

  absl::StatusOr<int> Run() override {
    request_.set_values(values_);
    ASSIGN_OR_RETURN(const std::unique_ptr<client::CacheClient> client, OpenClient());
    RETURN_IF_ERROR(client->ListAll(request_, limit_, [this](const v1::CacheEntry& entry) {
      std::cout << record::ToJson(cache::EntryToJson(entry, values_)) << "\n";
      return std::cout ? absl::OkStatus() : absl::CancelledError("stdout is closed");
    }));
    return cli::kExitDone;
  }

 private:
  v1::ListCacheRequest request_;
  bool values_ = false;
  uint64_t limit_ = 100;
};

class CacheServeStdioCommand final : public CacheCommand {
 public:
  CacheServeStdioCommand()
      : CacheCommand(
            {.name = "serve-stdio",
             .summary = "Answer requests on stdin, one JSON object a line, until its end",
             .examples = R"(  telemetry-worker cache serve-stdio --collector collector:4747
)",
             .notes =
                 R"(For programs in other languages: worker/cache/README.md describes the requests and answers. After a request that does
not reach the collector within --deadline, all later requests fail at once.)"},
            /*deadline=*/"1s") {}

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::CacheClient> client, OpenClient());
    std::ios::sync_with_stdio(false);
    cache::ServeLines(std::cin, std::cout, *client);
    return cli::kExitDone;
  }
};

}  // namespace

std::unique_ptr<cli::Command> NewCache() {
  return std::make_unique<cli::CommandGroup>(
      cli::Help{.name = "cache",
                .summary = "Read and write the cache of best configs that tuners share",
                .examples = R"(  telemetry-worker cache list --collector collector:4747
  telemetry-worker cache get helion KEY --collector collector:4747 >config.json
)",
                .notes = {}},
      std::vector<cli::NewCommand>{&cli::New<CacheGetCommand>, &cli::New<CachePutCommand>, &cli::New<CacheListCommand>,
                                   &cli::New<CacheServeStdioCommand>});
}

}  // namespace telemetry::worker

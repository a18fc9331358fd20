#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/model_client.h"
#include "proto/access/credential_flags.h"
#include "proto/base/status_macros.h"
#include "proto/record/counted.h"
#include "proto/record/ids.h"
#include "proto/record/json.h"
#include "proto/record/strings.h"
#include "spdlog/spdlog.h"
#include "worker/command_line.h"
#include "worker/commands.h"
#include "worker/model/cost_model.h"
#include "worker/model/run_features.h"
#include "worker/model_source.h"
#include "worker/output_file.h"

namespace telemetry::worker {
namespace {

using record::Cat;
using record::Json;

// A command on the cost models of a collector.
class ModelCommand : public cli::Command {
 public:
  using Command::Command;

  void AddFlags(cli::Flags& flags) override {
    collector_ = "127.0.0.1:4747";
    flags.Add("collector", collector_, "Address of the collector")->type_name("HOST:PORT")->check(cli::NotEmpty());
    access::AddCredentialFlags(flags, credentials_);
    flags.Add("deadline", deadline_, "Time limit for connecting and an answer")->type_name("TIME");
  }

 protected:
  // Returns INVALID_ARGUMENT for a wrong flag.
  absl::StatusOr<std::unique_ptr<client::ModelClient>> OpenClient() {
    ASSIGN_OR_RETURN(const absl::Duration deadline, ParseDuration("--deadline", deadline_));
    RETURN_IF_ERROR(access::Connection::Check(credentials_, collector_));
    return client::ModelClient::Open({.collector = collector_, .credentials = credentials_, .deadline = deadline});
  }

 private:
  std::string collector_;
  access::Credentials credentials_;
  std::string deadline_ = "10s";
};

// Returns the 32 bytes of a SHA-256 of 64 digits.
absl::StatusOr<std::string> ParseSha256(const std::string& text) {
  if (!record::IsHexId(text)) {
    return absl::InvalidArgumentError(
        Cat("'", text, "' is not a SHA-256 of 64 lower-case digits; see telemetry-worker model list"));
  }
  return record::HexDecode(text);
}

Json ToJson(const v1::StoredModel& model) {
  Json line = Json::Object();
  line.members.emplace_back("sha256", Json::String(record::HexEncode(model.sha256())));
  line.members.emplace_back("sender", Json::String(model.sender()));
  line.members.emplace_back("stored_unix_us", Json::Integer(model.stored_unix_us()));
  line.members.emplace_back("size_bytes", Json::Integer(static_cast<int64_t>(model.size_bytes())));
  line.members.emplace_back("format_version", Json::Integer(model.format_version()));
  line.members.emplace_back("feature_version", Json::Integer(model.feature_version()));
  line.members.emplace_back("is_usable", Json::Bool(model.format_version() == model::CostModel::kFormatVersion &&
                                                    model.feature_version() == model::kFeatureVersion));
  const absl::StatusOr<Json> provenance = record::ParseJson(model.provenance_json());
  line.members.emplace_back("provenance", provenance.ok() ? *provenance : Json::Null());
  return line;
}

class ModelListCommand final : public ModelCommand {
 public:
  ModelListCommand()
      : ModelCommand(
            {.name = "list",
             .summary = "Print the models, the one that was stored last first, as lines of JSON",
             .examples = "  telemetry-worker model list --collector collector:4747\n",
             .notes =
                 R"(is_usable tells if this program computes the features of the model. The provenance is a claim of the sender.)"}) {
  }

  void AddFlags(cli::Flags& flags) override {
    ModelCommand::AddFlags(flags);
    flags.Add("sender", *request_.mutable_sender(), "Only models of this sender")->type_name("NAME");
    flags.Add("limit", limit_, "Most models to print")->check(CLI::PositiveNumber);
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::ModelClient> client, OpenClient());
    RETURN_IF_ERROR(client->ListAll(request_, limit_, [](const v1::StoredModel& model) {
      std::cout << record::ToJson(ToJson(model)) << "\n";
      return std::cout ? absl::OkStatus() : absl::CancelledError("stdout is closed");
    }));
    return cli::kExitDone;
  }

 private:
  v1::ListModelsRequest request_;
  uint64_t limit_ = 100;
};

class ModelGetCommand final : public ModelCommand {
 public:
  ModelGetCommand()
      : ModelCommand(
            {.name = "get",
             .summary = "Write the newest model that this program can use, or a certain one, to a file",
             .examples = R"(  telemetry-worker model get --out model.jsonl --collector collector:4747
  telemetry-worker model get --sender "token trainer" --out model.jsonl --collector collector:4747
)",
             .notes =
                 R"(Prints the model's line of `model list`. Exit status: 0 written; 1 there is no such model, or an error; 2 wrong usage.)"}) {
  }

  void AddFlags(cli::Flags& flags) override {
    ModelCommand::AddFlags(flags);
    flags.Add("out", out_, "The new file")->type_name("FILE")->required();
    flags.Add("sender", sender_, "Only a model of this sender, as list prints it")->type_name("NAME");
    flags.Add("sha256", sha256_, "The model with this SHA-256, 64 digits, of any version")->type_name("SHA256");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<client::ModelClient> client, OpenClient());
    v1::StoredModel stored;
    std::string file;
    if (sha256_.empty()) {
      ASSIGN_OR_RETURN(FoundModel found,
                       FindModel(*client, sender_, [](const std::string& text) { spdlog::warn("{}", text); }));
      stored = std::move(found.stored);
      file = std::move(found.file);
    } else {
      ASSIGN_OR_RETURN(stored, FindCertain(*client));
      ASSIGN_OR_RETURN(file, client->Fetch(stored, model::CostModel::kMostBytes));
    }
    RETURN_IF_ERROR(WriteOutputFile(out_, file));
    std::cout << record::ToJson(ToJson(stored)) << "\n";
    return cli::kExitDone;
  }

 private:
  absl::StatusOr<v1::StoredModel> FindCertain(client::ModelClient& client) {
    ASSIGN_OR_RETURN(const std::string sha256, ParseSha256(sha256_));
    v1::ListModelsRequest request;
    request.set_sender(sender_);
    v1::StoredModel found;
    constexpr size_t kAll = 1'000'000;
    RETURN_IF_ERROR(client.ListAll(request, kAll, [&](const v1::StoredModel& model) {
      if (found.sha256().empty() && model.sha256() == sha256) found = model;
      return absl::OkStatus();
    }));
    if (found.sha256().empty()) return absl::NotFoundError("the collector has no such model");
    return found;
  }

  std::string out_;
  std::string sender_;
  std::string sha256_;
};

class ModelPutCommand final : public ModelCommand {
 public:
  ModelPutCommand()
      : ModelCommand(
            {.name = "put",
             .summary = "Store the file of a model, which becomes the newest one",
             .examples =
                 R"(  telemetry-worker model put model.jsonl --collector collector:4747 --token-file trainer-token
)",
             .notes =
                 R"(Needs a token with the role model, if the collector uses tokens. The collector checks hash, size and header of the
file, and removes this sender's oldest models above its limits.)"}) {}

  void AddFlags(cli::Flags& flags) override {
    ModelCommand::AddFlags(flags);
    flags.command()
        .add_option("file", path_, "File of python -m autotune_telemetry.train")
        ->required()
        ->type_name("FILE");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::string file, model::ReadModelFile(path_));
    ASSIGN_OR_RETURN(const std::unique_ptr<client::ModelClient> client, OpenClient());
    ASSIGN_OR_RETURN(const v1::PutModelResponse response, client->Store(file));
    std::cout << record::Sha256Hex(file) << "\n";
    if (response.removed() > 0) {
      spdlog::info("{} made room", record::Counted(response.removed(), "older model"));
    }
    return cli::kExitDone;
  }

 private:
  std::string path_;
};

class ModelRemoveCommand final : public ModelCommand {
 public:
  ModelRemoveCommand()
      : ModelCommand(
            {.name = "remove",
             .summary = "Remove a model",
             .examples = R"(  telemetry-worker model remove SHA256 --collector collector:4747 --token-file trainer-token
)",
             .notes = "A token with the role model removes models of its own name, and one with the role admin "
                      "those of any sender."}) {}

  void AddFlags(cli::Flags& flags) override {
    ModelCommand::AddFlags(flags);
    flags.command().add_option("sha256", sha256_, "SHA-256 of the file, 64 digits")->required()->type_name("SHA256");
    flags.Add("sender", sender_, "Sender of the model, as list prints it (default: the caller)")->type_name("NAME");
  }

  absl::StatusOr<int> Run() override {
    ASSIGN_OR_RETURN(const std::string sha256, ParseSha256(sha256_));
    ASSIGN_OR_RETURN(const std::unique_ptr<client::ModelClient> client, OpenClient());
    RETURN_IF_ERROR(client->Remove(sha256, sender_));
    return cli::kExitDone;
  }

 private:
  std::string sha256_;
  std::string sender_;
};

}  // namespace

std::unique_ptr<cli::Command> NewModel() {
  return std::make_unique<cli::CommandGroup>(
      cli::Help{.name = "model",
                .summary = "Store, list and get the cost models of a collector",
                .examples = R"(  telemetry-worker model list --collector collector:4747
  telemetry-worker model put model.jsonl --collector collector:4747
)",
                .notes = {}},
      std::vector<cli::NewCommand>{&cli::New<ModelListCommand>, &cli::New<ModelGetCommand>, &cli::New<ModelPutCommand>,
                                   &cli::New<ModelRemoveCommand>});
}

}  // namespace telemetry::worker

// Tests the command line of telemetry-collector: refused arguments and their messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/access/bearer_token.h"
#include "server/access/token_file.h"
#include "server/commands/lifetime.h"
#include "server/net/listener.h"
#include "tests/run_program.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::commands {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ProgramOutcome RunCollector(const std::string& arguments, const std::string& environment = "") {
  return RunProgram("telemetry-collector", arguments, environment);
}

class ProgramTest : public ::testing::Test {
 protected:
  void ExpectWrongUsage(const std::string& arguments, const std::string& words, const std::string& environment = "") {
    const ProgramOutcome outcome = RunCollector(arguments, environment);
    EXPECT_EQ(outcome.exit_status, 2) << arguments << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(words)) << arguments;
  }
  std::string ConfigFile(const std::string& content) {
    std::ofstream(folder_.File("collector.toml"), std::ios::binary) << content;
    return folder_.File("collector.toml");
  }

  TempFolder folder_;
  const std::string serve_ = "serve --db " + folder_.File("dataset.db");
};

TEST_F(ProgramTest, WhatCannotBeListenedOnIsWrongUsage) {
  for (const char* address : {"127.0.0.1:99999", "127.0.0.1", "127.0.0.1:", "''", "unix:/p"}) {
    ExpectWrongUsage(serve_ + " --listen " + address, "HOST:PORT");
  }
}

TEST_F(ProgramTest, LimitsBelowAClientsLargestRecordAreWrongUsage) {
  ExpectWrongUsage(serve_ + " --max-batch-bytes 4096", "8388608");
  ExpectWrongUsage(serve_ + " --window-bytes 8388607", "8388608");
  ExpectWrongUsage(serve_ + " --window-bytes 2000000000", "1073741824");
}

TEST_F(ProgramTest, DiskSpaceIsGivenAsASize) {
  ExpectWrongUsage(serve_ + " --keep-free much", "--keep-free");
  ExpectWrongUsage(serve_ + " --keep-free=-1", "--keep-free");
  const ProgramOutcome outcome = RunCollector(serve_ + " --keep-free 1GiB --listen 127.0.0.1:0 --tokens none");
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
}

TEST_F(ProgramTest, CommandsForFilesSayWhatElseAServerNeeds) {
  const std::string server = " --db postgresql://me:sesame@127.0.0.1:1/dataset";
  for (const char* command : {"check --reseal", "backup --to copy.db"}) {
    ExpectWrongUsage(command + server, "works on SQLite files");
  }
  for (const char* command : {"migrate", "check", "stats", "prune --keep-age 1d", "serve --keep-bytes 1GiB"}) {
    const ProgramOutcome outcome = RunCollector(command + server);
    EXPECT_EQ(outcome.exit_status, 1);
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("127.0.0.1"), Not(HasSubstr("sesame"))));
  }
}

TEST_F(ProgramTest, CheckFindsIdsThatAreNotThoseOfTheirContent) {
  storage::DatasetStory story;
  story.Send({storage::ConfigRecord(0xf3e0792e105e2bfe, "Config(n=4)")});
  ProgramOutcome outcome = RunCollector("check --identities --db " + story.path());
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("ids: 1 right, 0 wrong"));
  story.Send({storage::ConfigRecord(7, "Config(n=4)")});
  outcome = RunCollector("check --identities --db " + story.path());
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("config_id 0000000000000007 from nobody: its content has the id f3e0792e105e2bfe"));
}

TEST_F(ProgramTest, EmptyPathsAreWrongUsage) {
  ExpectWrongUsage("serve --db ''", "--db");
  ExpectWrongUsage("check --db ''", "--db");
  ExpectWrongUsage("backup --db x --to ''", "--to");
}

TEST_F(ProgramTest, AFolderOrAMissingFileIsNamedAndNothingIsMade) {
  const std::filesystem::path folder = folder_.File("datasets");
  std::filesystem::create_directory(folder);
  const std::string missing = folder / "missing.db";
  for (const std::string command : {"check --db ", "check --identities --db ", "check --reseal --db ", "stats --db ",
                                    "migrate --db ", "prune --keep-age 1d --db ", "backup --to copy.db --db ",
                                    "copy --to copy.db --from ", "restore --to copy.db --from "}) {
    const ProgramOutcome at_folder = RunCollector(command + folder.string());
    EXPECT_EQ(at_folder.exit_status, 1) << command;
    EXPECT_THAT(at_folder.output, HasSubstr("datasets is a folder: give a file in it")) << command;
    const ProgramOutcome at_missing = RunCollector(command + missing);
    EXPECT_EQ(at_missing.exit_status, 1) << command;
    EXPECT_THAT(at_missing.output, HasSubstr("there is no file " + missing)) << command;
  }
  const ProgramOutcome served = RunCollector("serve --listen 127.0.0.1:0 --db " + folder.string());
  EXPECT_EQ(served.exit_status, 1);
  EXPECT_THAT(served.output, HasSubstr("datasets is a folder: give a file in it"));
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  EXPECT_FALSE(std::filesystem::exists(folder.string() + ".lock"));
  EXPECT_FALSE(std::filesystem::exists("copy.db.lock"));
}

TEST_F(ProgramTest, APortInUseIsNamedAndNoDatasetIsMade) {
  const auto taken = net::ListenAt("127.0.0.1:0", {});
  ASSERT_TRUE(taken.ok()) << taken.status();
  const std::string address = absl::StrCat("127.0.0.1:", taken->front().port());
  for (const char* ports : {" --listen ", " --listen 127.0.0.1:0 --metrics-listen "}) {
    const ProgramOutcome outcome = RunCollector(serve_ + ports + address);
    EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr(address + ": the port is in use")) << ports;
  }
  EXPECT_FALSE(std::filesystem::exists(folder_.File("dataset.db")));
}

TEST_F(ProgramTest, PruneWantsARuleAndRemovesByIt) {
  ExpectWrongUsage("prune --db x", "--keep-age");
  ExpectWrongUsage("prune --db x --keep-age soon", "soon");
  ExpectWrongUsage("prune --db x --keep-bytes much", "--keep-bytes");
  ExpectWrongUsage("prune --db x --keep-bytes=-1", "--keep-bytes");
  storage::DatasetStory story;
  story.Send({storage::RunRecord('a')});
  for (const char attempt : {'x', 'y'}) {
    v1::Record ended = storage::AttemptRecord(attempt, 'a');
    ended.mutable_attempt()->set_state(v1::Attempt::STATE_COMPLETE);
    story.Send({ended});
  }
  const std::string prune = "prune --db " + story.path() + " --keep-bytes 1KiB";
  const ProgramOutcome served = RunCollector(prune);
  EXPECT_EQ(served.exit_status, 1);
  EXPECT_THAT(served.output, HasSubstr("pid"));
  const ProgramOutcome dry = RunCollector(prune + " --dry-run");
  EXPECT_EQ(dry.exit_status, 0) << dry.output;
  EXPECT_THAT(dry.output, HasSubstr("would remove 1 attempt, 0 rows, 0 rejects"));
  const ProgramOutcome by_age = RunCollector("prune --dry-run --keep-age 1d --db " + story.path());
  EXPECT_THAT(by_age.output, HasSubstr("0.0 days so far; --trust-clock uses the clock"));
}

TEST_F(ProgramTest, DeleteWantsADatasetANameAndAYes) {
  const std::string db = "delete --db " + folder_.File("dataset.db");
  ExpectWrongUsage("delete --origin ci/1 --yes", "--db or --collector");
  ExpectWrongUsage(db + " --collector 127.0.0.1:1 --origin ci/1 --yes", "--db or --collector");
  ExpectWrongUsage(db + " --yes", "--run, --attempt or --origin");
  ExpectWrongUsage(db + " --origin '' --yes", "--origin");
  ExpectWrongUsage(db + " --attempt 12 --yes", "'12' is not an attempt_id");
  ExpectWrongUsage(db + " --origin ci/1 </dev/null", "give --yes or --dry-run");
  ExpectWrongUsage("delete --collector nowhere --origin ci/1 --yes", "nowhere");
  ExpectWrongUsage("delete --collector 127.0.0.1:1 --tls-cert x --origin ci/1 --yes", "--tls-key");
  const ProgramOutcome none = RunCollector(db + " --origin ci/1 --yes");
  EXPECT_EQ(none.exit_status, 1) << none.output;
  EXPECT_FALSE(std::filesystem::exists(folder_.File("dataset.db"))) << "delete creates no dataset";
}

TEST_F(ProgramTest, AFlagOfDeleteCountsMoreThanTheVariableOfServe) {
  const std::string variable = "TELEMETRY_COLLECTOR_DB=" + folder_.File("dataset.db");
  const ProgramOutcome away = RunCollector("delete --collector 127.0.0.1:1 --origin ci/1 --yes", variable);
  EXPECT_EQ(away.exit_status, 1);
  EXPECT_THAT(away.output, HasSubstr("collector 127.0.0.1:1:"));
  const ProgramOutcome none = RunCollector("delete --origin ci/1 --yes", variable);
  EXPECT_EQ(none.exit_status, 1);
  EXPECT_THAT(none.output, HasSubstr("dataset.db"));
}

TEST_F(ProgramTest, DeletePrintsWhatGoesAndLeavesAFileThatIsServed) {
  std::string path;
  {
    storage::DatasetStory story;
    story.Send({storage::RunRecord('a'), storage::AttemptRecord('x', 'a'), storage::Row('x', 1, 0.5),
                storage::Row('x', 2, 0.5)});
    const std::string command = "delete --run aaaa --db " + story.path();
    const ProgramOutcome served = RunCollector(command + " --yes");
    EXPECT_EQ(served.exit_status, 1);
    EXPECT_THAT(served.output, AllOf(HasSubstr("pid"), HasSubstr("--collector HOST:PORT")));
    const ProgramOutcome dry = RunCollector(command + " --dry-run");
    EXPECT_EQ(dry.exit_status, 0) << dry.output;
    EXPECT_THAT(dry.output,
                AllOf(HasSubstr("attempt 78787878787878787878787878787878 of softmax, run aaaaaaaaaaaa..., "),
                      HasSubstr("2 rows"), HasSubstr("would delete 1 attempt with 2 rows")));
    path = folder_.File("closed.db");
    ASSERT_EQ(RunCollector("backup --db " + story.path() + " --to " + path).exit_status, 0);
  }
  const ProgramOutcome deleted = RunCollector("delete --run aaaa --yes --db " + path);
  EXPECT_EQ(deleted.exit_status, 0) << deleted.output;
  EXPECT_THAT(deleted.output, HasSubstr("deleted 1 attempt with 2 rows, and 1 run that had no other attempts"));
  EXPECT_THAT(deleted.output,
              HasSubstr("info deleted from the dataset: by=local run_ids=aaaa attempts=1 rows=2 runs=1"));
  EXPECT_EQ(RunCollector("check --db " + path).exit_status, 0);
  EXPECT_EQ(RunCollector("delete --run aaaa --yes --db " + path).exit_status, 1) << "the run was deleted before";
}

TEST_F(ProgramTest, AMistypedWordIsNamed) {
  ExpectWrongUsage("srve --db x", "srve");
  ExpectWrongUsage("check --bd x", "--bd");
  ExpectWrongUsage(serve_ + " --lisen 127.0.0.1:0", "--lisen");
  ExpectWrongUsage("", "subcommand");
}

TEST_F(ProgramTest, AMistypedKeyInTheConfigFileIsNamed) {
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("serve.lisen = \"127.0.0.1:0\"\n"), "lisen");
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("log-level = \"debug\"\n"), "log-level");
  ExpectWrongUsage(serve_ + " --config " +
                       ConfigFile(std::string("\x7f"
                                              "ELF\x02\x01\0\0\xff\xfe\n",
                                              11)),
                   "ELF");
}

TEST_F(ProgramTest, AKeyThatIsNearAFlagIsToldWhich) {
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("serve.lisen = \"127.0.0.1:0\"\n"), "is serve.listen meant?");
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("[serve]\nwindow_bytes = 9000000\n"), "serve.window-bytes");
  ExpectWrongUsage(serve_ + " --config " + ConfigFile("serve.colour = \"blue\"\n"), "the key serve.colour");
}

TEST_F(ProgramTest, TheConfigFileComesFromTheFlagOrTheEnvironment) {
  const std::string config = ConfigFile("serve.listen = \"nonsense\"\n");
  ExpectWrongUsage(serve_ + " --config " + config, "nonsense");
  ExpectWrongUsage(serve_, "nonsense", "TELEMETRY_COLLECTOR_CONFIG=" + config);
  ExpectWrongUsage(serve_, "missing.toml", "TELEMETRY_COLLECTOR_CONFIG=" + folder_.File("missing.toml"));
}

TEST_F(ProgramTest, AnEmptyVariableIsNone) {
  const ProgramOutcome outcome = RunCollector("--version", "TELEMETRY_COLLECTOR_CONFIG=");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

TEST_F(ProgramTest, OtherMachinesAreNotLetInByAccident) {
  for (const char* address : {"0.0.0.0:0", "[::]:0", "127.0.0.1.example.org:0"}) {
    ExpectWrongUsage(serve_ + " --listen " + address, "--insecure-beyond-loopback");
    ExpectWrongUsage(serve_ + " --listen " + address + " --tokens t", "there is no TLS:");
    ExpectWrongUsage(serve_ + " --listen " + address + " --tls-cert c --tls-key k", "there are no tokens:");
    ExpectWrongUsage(serve_, "--insecure-beyond-loopback", std::string("TELEMETRY_COLLECTOR_LISTEN=") + address);
  }
  // With TLS and tokens the command line is accepted, and serve itself reports the missing files.
  const ProgramOutcome outcome = RunCollector(serve_ + " --listen 0.0.0.0:0 --tls-cert c --tls-key k --tokens t");
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
}

TEST_F(ProgramTest, NeitherAreTheMetricsShownToThem) {
  ExpectWrongUsage(serve_ + " --metrics-listen 9101", "HOST:PORT");
  ExpectWrongUsage(serve_ + " --metrics-listen 0.0.0.0:0", "--insecure-beyond-loopback");
  ExpectWrongUsage(serve_ + " --metrics-listen 0.0.0.0:0 --tls-cert c --tls-key k", "--metrics-listen");
  ExpectWrongUsage(serve_ + " --metrics-listen 0.0.0.0:0 --tokens t", "there is no TLS:");
  ExpectWrongUsage(serve_, "--insecure-beyond-loopback", "TELEMETRY_COLLECTOR_METRICS_LISTEN=0.0.0.0:0");
  const ProgramOutcome outcome =
      RunCollector(serve_ + " --metrics-listen 0.0.0.0:0 --tls-cert c --tls-key k --tokens t");
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
}

TEST_F(ProgramTest, ACertificateWithoutItsKeyIsWrongUsage) {
  ExpectWrongUsage(serve_ + " --tls-cert c", "--tls-key");
  ExpectWrongUsage(serve_ + " --tls-key k", "--tls-cert");
  ExpectWrongUsage(serve_ + " --tls-client-ca a", "--tls-cert");
}

TEST_F(ProgramTest, AMissingTokenFileIsNamedAndNothingIsServed) {
  const ProgramOutcome outcome = RunCollector(serve_ + " --listen 127.0.0.1:0 --tokens " + folder_.File("none.json"));
  EXPECT_EQ(outcome.exit_status, 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("none.json"));
  EXPECT_THAT(outcome.output, HasSubstr("token add"));
}

TEST_F(ProgramTest, TokensAreAddedListedAndRevoked) {
  const std::string file = " --tokens " + folder_.File("tokens.json");
  const ProgramOutcome added = RunCollector("token add --role writer,reader --name ci-17 --expires 90d" + file);
  ASSERT_EQ(added.exit_status, 0) << added.output;
  const std::string token = added.output.substr(added.output.find("tt_"), 46);
  EXPECT_TRUE(access::IsToken(token));
  const std::string id = access::ReadTokens(folder_.File("tokens.json"))->front().id;

  const ProgramOutcome listed = RunCollector("token list" + file);
  EXPECT_THAT(listed.output, HasSubstr(id));
  EXPECT_THAT(listed.output, HasSubstr("writer,reader"));
  EXPECT_THAT(listed.output, HasSubstr("valid"));
  EXPECT_THAT(listed.output, Not(HasSubstr(token.substr(3))));

  EXPECT_EQ(RunCollector("token revoke " + id + file).exit_status, 0);
  EXPECT_THAT(RunCollector("token list" + file).output, HasSubstr("revoked"));
  EXPECT_EQ(RunCollector("token revoke 00000000" + file).exit_status, 1);
}

TEST_F(ProgramTest, ATokenGoesToANewFileOfItsOwner) {
  const std::string out = folder_.File("token");
  const std::string add = "token add --role writer --tokens " + folder_.File("tokens.json") + " --out " + out;
  const ProgramOutcome added = RunCollector(add);
  ASSERT_EQ(added.exit_status, 0) << added.output;
  EXPECT_THAT(added.output, Not(HasSubstr("tt_")));
  EXPECT_EQ(std::filesystem::status(out).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::string token;
  std::ifstream(out) >> token;
  EXPECT_TRUE(access::IsToken(token));

  const ProgramOutcome again = RunCollector(add);
  EXPECT_EQ(again.exit_status, 1);
  EXPECT_THAT(again.output, HasSubstr(out));
  EXPECT_EQ(access::ReadTokens(folder_.File("tokens.json"))->size(), 1u)
      << "a token that could not be handed out is not added";
}

TEST_F(ProgramTest, CertificatesOfTlsInitServe) {
  const std::string tls = folder_.File("tls");
  const std::string init = "tls init --host collector.example,127.0.0.1 --client runner-17 --out " + tls;
  const ProgramOutcome made = RunCollector(init);
  ASSERT_EQ(made.exit_status, 0) << made.output;
  const std::string flags =
      " --tls-cert " + tls + "/collector.pem --tls-key " + tls + "/collector.key --tls-client-ca " + tls + "/ca.pem";
  EXPECT_EQ(RunCollector(serve_ + " --validate" + flags).exit_status, 0);
  EXPECT_EQ(std::filesystem::status(tls + "/ca.key").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);

  const ProgramOutcome again = RunCollector(init);
  EXPECT_EQ(again.exit_status, 1);
  EXPECT_THAT(again.output, HasSubstr("exists; remove it"));
  EXPECT_EQ(RunCollector("tls init --host 'a b' --out " + folder_.File("other")).exit_status, 1);
  EXPECT_FALSE(std::filesystem::exists(folder_.File("other")));
  ExpectWrongUsage("tls init --out " + tls, "--host");
}

TEST_F(ProgramTest, ATokenThatMakesNoSenseIsWrongUsage) {
  const std::string add = "token add --tokens " + folder_.File("tokens.json");
  ExpectWrongUsage(add, "--role");
  ExpectWrongUsage(add + " --role owner", "owner");
  ExpectWrongUsage(add + " --role writer --expires soon", "soon");
  ExpectWrongUsage(add + " --role writer --expires 0d", "0d");
  ExpectWrongUsage(add + " --role writer --producer 12", "32");
  ExpectWrongUsage("token", "subcommand");
  ExpectWrongUsage("token add --role writer", "--tokens");
  EXPECT_EQ(access::ReadTokens(folder_.File("tokens.json")).status().code(), absl::StatusCode::kNotFound);
}

TEST(TokenCommands, LifetimesAreDaysOrDurations) {
  EXPECT_EQ(*ParseLifetime("90d"), absl::Hours(24 * 90));
  EXPECT_EQ(*ParseLifetime("1h30m"), absl::Minutes(90));
  for (const char* text : {"", "d", "-1d", "0s", "-5m", "90", "1.5d", "999999d", "inf", "1d2h"}) {
    EXPECT_FALSE(ParseLifetime(text).ok()) << text;
  }
}

}  // namespace
}  // namespace telemetry::commands

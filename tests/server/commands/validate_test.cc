// Tests serve --validate: it reports every problem that serve would have, and changes nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/run_program.h"
#include "tests/server/access/test_authority.h"
#include "tests/server/collector/token_folder.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::commands {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class ValidateTest : public ::testing::Test {
 protected:
  ProgramOutcome Validate(const std::string& flags, const std::string& environment = "") {
    return RunProgram("telemetry-collector", "serve --validate " + flags, environment);
  }
  void ExpectProblem(const std::string& flags, const std::string& words) {
    const ProgramOutcome outcome = Validate(flags);
    EXPECT_EQ(outcome.exit_status, 1) << flags << "\n" << outcome.output;
    EXPECT_THAT(outcome.output, AllOf(HasSubstr("PROBLEM"), HasSubstr(words))) << flags;
  }
  std::string Write(const std::string& name, const std::string& content) {
    std::ofstream(folder_.File(name), std::ios::binary) << content;
    return folder_.File(name);
  }
  // Writes a certificate and its key and returns the flags for them.
  std::string TlsFlags(const std::string& name, const access::Identity& identity) {
    return " --tls-cert " + Write(name + ".pem", identity.certificate) + " --tls-key " +
           Write(name + ".key", identity.key);
  }
  std::set<std::string> Files() const {
    std::set<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.File("")))
      files.insert(entry.path().filename());
    return files;
  }

  TempFolder folder_;
  const std::string db_ = folder_.File("dataset.db");
  const std::string flags_ = "--db " + db_;
  access::TestAuthority authority_{"authority"};
};

TEST_F(ValidateTest, TheDefaultOfTheExportTimeoutIsAValueOfItsFlag) {
  const ProgramOutcome outcome = Validate(flags_ + " --export-timeout 7200");
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
}

TEST_F(ValidateTest, SaysWhatWouldBeServedAndMakesNothing) {
  collector::TokenFolder tokens;
  tokens.Add({.name = "ci", .roles = {access::Role::kWriter}});
  tokens.Add({.name = "old", .roles = {access::Role::kReader}, .expires = absl::Now() - absl::Hours(1)});
  const std::string flags =
      flags_ + " --listen 0.0.0.0:4747 --metrics-listen 127.0.0.1:4749 --web-listen 0.0.0.0:4748 --tokens " +
      tokens.path() + TlsFlags("collector", authority_.Issue("collector"));
  const std::set<std::string> before = Files();
  const ProgramOutcome outcome = Validate(flags);
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("would be created"), HasSubstr("0.0.0.0:4747: TLS, certificate valid until"),
                    HasSubstr("2 tokens, 1 of them valid"), HasSubstr("127.0.0.1:4749"),
                    HasSubstr("pages    0.0.0.0:4748: TLS"), Not(HasSubstr("PROBLEM")), Not(HasSubstr("listening"))));
  EXPECT_EQ(Files(), before);
}

TEST_F(ValidateTest, SaysHowManyConnectionsThereMayBe) {
  EXPECT_THAT(Validate(flags_ + " --max-connections 100").output,
              HasSubstr("connect  100 connections at a time, 50 from one address"));
  EXPECT_THAT(Validate(flags_ + " --max-connections 100 --max-connections-per-address 200").output,
              HasSubstr("connect  100 connections at a time, 200 from one address"));
}

TEST_F(ValidateTest, SaysWhatIsKept) {
  EXPECT_THAT(Validate(flags_).output, HasSubstr("keep     everything"));
  EXPECT_THAT(
      Validate(flags_ + " --keep-age 180d --keep-bytes 1GiB").output,
      HasSubstr("for less than 4320h, at most 1073741824 bytes, and each run's newest attempt; of each sender's "
                "rejects at most 67108864 bytes"));
  EXPECT_THAT(Validate(flags_ + " --keep-rejects-bytes 0").output, HasSubstr("keep     everything\n"));
}

TEST_F(ValidateTest, ADatasetIsLookedAtAlsoWhileItIsServed) {
  storage::DatasetStory story;
  story.Send({storage::RunRecord('a')});
  const ProgramOutcome outcome = Validate("--db " + story.path());
  EXPECT_EQ(outcome.exit_status, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("schema"));
}

TEST_F(ValidateTest, ADatasetThatCannotBeServedIsAProblem) {
  ExpectProblem("--db " + folder_.File("no/such/folder.db"), "no/such");
  ExpectProblem("--db " + folder_.File(""), "is a folder");
  ExpectProblem("--db " + Write("text.db", std::string(5000, 'x')), "text.db");
  ASSERT_EQ(std::system(("sqlite3 " + db_ + " 'CREATE TABLE t (x)'").c_str()), 0);
  ExpectProblem(flags_, "not one of telemetry-collector");
}

TEST_F(ValidateTest, ANewerDatasetIsAProblem) {
  ASSERT_EQ(std::system(("sqlite3 " + db_ +
                         " 'PRAGMA application_id = 0x54454c45; PRAGMA user_version = 999;"
                         " CREATE TABLE t (x)'")
                            .c_str()),
            0);
  ExpectProblem(flags_, "use a newer telemetry-collector");
}

TEST_F(ValidateTest, AllProblemsOfTheFilesAreTold) {
  const std::string good = TlsFlags("good", authority_.Issue("collector"));
  EXPECT_EQ(Validate(flags_ + good).exit_status, 0);
  ExpectProblem(flags_ + TlsFlags("expired", authority_.Issue("collector", absl::Seconds(-60))), "expired");
  ExpectProblem(flags_ + " --tls-cert " + folder_.File("good.pem") + " --tls-key " + folder_.File("expired.key"),
                "is not the key");
  ExpectProblem(flags_ + " --tls-cert nowhere.pem --tls-key nowhere.key", "nowhere.pem: cannot be read");
  ExpectProblem(flags_ + good + " --tls-client-ca " + Write("ca.pem", "no certificate"), "ca.pem");
  ExpectProblem(flags_ + " --tokens " + folder_.File("none.json"), "none.json");
  const std::string open = Write("open.json", "{}");
  ASSERT_EQ(::chmod(open.c_str(), 0644), 0);
  ExpectProblem(flags_ + " --tokens " + open, "chmod 600");
  const ProgramOutcome both = Validate(flags_ + " --tls-cert n --tls-key n --tokens " + open);
  EXPECT_THAT(both.output, AllOf(HasSubstr("n: cannot be read"), HasSubstr("chmod 600"), HasSubstr("2 problems")));
}

TEST_F(ValidateTest, WrongUsageIsWrongUsage) {
  EXPECT_EQ(Validate(flags_ + " --listen 0.0.0.0:0").exit_status, 2);
  EXPECT_EQ(Validate(flags_ + " --listen nonsense").exit_status, 2);
  EXPECT_EQ(Validate(flags_, "TELEMETRY_COLLECTOR_WINDOW_BYTES=1").exit_status, 2);
  EXPECT_EQ(Validate("--config " + Write("c.toml", "[serve]\ndb = \"x\"\nlog-fromat = \"json\"\n")).exit_status, 2);
  EXPECT_EQ(
      Validate("--config " + Write("good.toml", "[serve]\ndb = \"" + db_ + "\"\nlog-format = \"json\"\n")).exit_status,
      0);
}

}  // namespace
}  // namespace telemetry::commands

// Tests the stored cost models: parts, validation, the models of several senders, budgets, damage and lists.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/storage/model_change.h"
#include "server/storage/sqlite/migrator.h"
#include "server/storage/sqlite/sqlite_database.h"
#include "server/storage/tables/model_header.h"
#include "server/storage/tables/model_table.h"
#include "tests/server/storage/dataset_story.h"
#include "tests/server/storage/model_files.h"

namespace telemetry::storage::tables {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kModelMiB = uint64_t{1} << 20;

class ModelTest : public ::testing::Test {
 protected:
  ModelOutcome Change(const ModelChange& change) {
    const auto outcome = story_.writer().ChangeModels(change, budget_);
    EXPECT_TRUE(outcome.ok()) << outcome.status();
    return *outcome;
  }
  ModelOutcome Put(const std::string& sender, const v1::PutModelRequest& part) {
    return Change(ModelPut{.sender = sender, .request = part});
  }
  // Stores a file in all its parts and returns the last outcome.
  ModelOutcome Store(const std::string& sender, const std::string& file) {
    ModelOutcome outcome;
    for (uint32_t part = 0; part < ModelParts(file.size()); ++part) outcome = Put(sender, ModelPart(file, part));
    return outcome;
  }
  ModelOutcome Remove(const std::string& sender, const std::string& file) {
    return Change(ModelRemoval{.sender = sender, .sha256 = record::Sha256(file)});
  }
  // Returns "sender:created" of all listed models, over all pages.
  std::vector<std::string> List(v1::ListModelsRequest request = {}) {
    std::vector<std::string> names;
    do {
      const auto page = story_.OpenReader()->ListModels(request);
      EXPECT_TRUE(page.ok()) << page.status();
      if (!page.ok()) break;
      for (const v1::StoredModel& model : page->models()) {
        names.push_back(absl::StrCat(model.sender(), ":", model.provenance_json()));
      }
      request.set_page_token(page->next_page_token());
    } while (!request.page_token().empty());
    return names;
  }
  // Returns the stored bytes of a complete model; empty: it is not complete.
  std::string Read(const std::string& sender, const std::string& file) {
    std::string bytes;
    v1::ReadModelRequest request;
    request.set_sha256(record::Sha256(file));
    request.set_sender(sender);
    for (uint32_t part = 0;; ++part) {
      request.set_part(part);
      const auto response = story_.OpenReader()->ReadModel(request);
      if (!response.ok()) return bytes;
      bytes += response->data();
    }
  }
  // Returns a file of about `kib` KiB whose provenance is {"created": NAME}.
  static std::string Named(const std::string& name, size_t kib = 1, int feature_version = 1) {
    return ModelFile(std::string(kib << 10, 't'), feature_version, absl::StrCat("{\"created\": \"", name, "\"}"));
  }
  static std::string Line(const std::string& sender, const std::string& name) {
    return absl::StrCat(sender, ":{\"created\": \"", name, "\"}");
  }
  // Returns the number of rows.
  std::string Rows(const std::string& table) { return story_.Query("SELECT count(*) FROM " + table); }

  DatasetStory story_;
  ModelBudget budget_;
};

TEST_F(ModelTest, AModelIsListedWhenItsLastPartHasArrived) {
  const std::string file = Named("m", 2500);
  EXPECT_FALSE(Put("token a", ModelPart(file, 0)).response.is_stored());
  EXPECT_EQ(Put("token a", ModelPart(file, 1)).response.received_parts(), 2u);
  EXPECT_THAT(List(), IsEmpty());
  EXPECT_EQ(Read("token a", file), "");
  const ModelOutcome outcome = Put("token a", ModelPart(file, 2));
  EXPECT_TRUE(outcome.status.ok()) << outcome.status;
  EXPECT_TRUE(outcome.response.is_stored());
  EXPECT_THAT(List(), ElementsAre(Line("token a", "m")));
  EXPECT_EQ(Read("token a", file), file);
  const auto page = story_.OpenReader()->ListModels({});
  EXPECT_EQ(page->models(0).size_bytes(), file.size());
  EXPECT_EQ(page->models(0).sha256(), record::Sha256(file));
  EXPECT_GT(page->models(0).stored_unix_us(), 0);
}

TEST_F(ModelTest, APartThatIsSentAgainOrTooEarlyChangesNothing) {
  const std::string file = Named("m", 2500);
  EXPECT_EQ(Put("token a", ModelPart(file, 1)).response.received_parts(), 0u);
  EXPECT_EQ(Rows("models"), "0");
  EXPECT_EQ(Put("token a", ModelPart(file, 0)).response.received_parts(), 1u);
  EXPECT_EQ(Put("token a", ModelPart(file, 0)).response.received_parts(), 1u);
  EXPECT_EQ(Put("token a", ModelPart(file, 2)).response.received_parts(), 1u);
  EXPECT_EQ(Rows("model_parts"), "1");
  story_.Restart();
  EXPECT_EQ(Put("token a", ModelPart(file, 1)).response.received_parts(), 2u);
  EXPECT_TRUE(Put("token a", ModelPart(file, 2)).response.is_stored());
  EXPECT_TRUE(Put("token a", ModelPart(file, 2)).response.is_stored());
  EXPECT_EQ(Read("token a", file), file);
}

TEST_F(ModelTest, FilesThatAreNoModelAreRefusedAndRemoved) {
  const std::string good = Named("m");
  std::string other_bytes = good;
  other_bytes.back() = 'x';
  v1::PutModelRequest wrong_hash = ModelPart(other_bytes);
  wrong_hash.set_sha256(record::Sha256(good));
  const ModelOutcome refused = Put("token a", wrong_hash);
  EXPECT_TRUE(absl::IsInvalidArgument(refused.status)) << refused.status;
  EXPECT_THAT(std::string(refused.status.message()), HasSubstr("SHA-256"));

  const std::vector<std::pair<std::string, std::string>> wrong = {
      {other_bytes, "its trees do not have the hash"},
      {"no line end", "no complete line"},
      {"\n", "no header"},
      {"{}\n", "no header"},
      {std::string("\0\xff\n", 3), "no header"},
      {ModelFile("t", 0), "no version"},
      {ModelFile("t", -3), "no version"},
      {ModelFile("t", 1, "[" + std::string(2000, '[') + "]"), "no header"},
      {ModelFile("t", 1, absl::StrCat("{\"scores\": \"", std::string(kMaxProvenanceBytes, 's'), "\"}")), "16 KiB"},
      {std::string(kMaxModelHeaderBytes + 1, ' ') + "\n", "1 MiB"},
      {"[" + std::string(kMaxModelHeaderValues, ',') + "\n", "values"},
  };
  for (const auto& [file, message] : wrong) {
    const ModelOutcome outcome = Store("token a", file);
    EXPECT_TRUE(absl::IsInvalidArgument(outcome.status)) << outcome.status;
    EXPECT_THAT(std::string(outcome.status.message()), HasSubstr(message));
  }
  EXPECT_EQ(Rows("models"), "0");
  EXPECT_EQ(Rows("model_parts"), "0");
  EXPECT_TRUE(Store("token a", good).response.is_stored());
}

TEST_F(ModelTest, LongListsOfRunsAndKernelsAreLeftOutOfTheProvenance) {
  std::string names;
  for (int i = 0; i < 2000; ++i) absl::StrAppend(&names, i == 0 ? "" : ", ", "\"kernel number ", i, "\"");
  const ModelOutcome outcome =
      Store("token a", ModelFile("t", 1,
                                 absl::StrCat(R"({"run_ids": [)", names, R"(], "kernels": [)", names,
                                              R"(], "dataset": {"sha256": "d"}, "scores": {"runs": 0}})")));
  EXPECT_TRUE(outcome.response.is_stored()) << outcome.status;
  EXPECT_THAT(List(), ElementsAre(R"(token a:{"dataset": {"sha256": "d"}, "scores": {"runs": 0}})"));
}

TEST_F(ModelTest, WhatOneSenderStoresChangesNothingOfAnother) {
  budget_.versions = 2;
  const std::string file = Named("shared");
  Store("token a", file);
  for (const char* name : {"1", "2", "3"}) Store("token b", Named(name));
  EXPECT_THAT(List(), ElementsAre(Line("token b", "3"), Line("token b", "2"), Line("token a", "shared")));
  // The same file of another sender is another model.
  EXPECT_TRUE(absl::IsNotFound(Remove("token b", file).status));
  Store("token b", file);
  EXPECT_TRUE(Remove("token b", file).status.ok());
  EXPECT_EQ(Read("token a", file), file);
  // An incomplete upload removes the sender's own incomplete one.
  const std::string large = Named("large", 1500);
  Put("token a", ModelPart(large, 0));
  Put("token b", ModelPart(Named("other", 1500), 0));
  Put("token b", ModelPart(Named("next", 1500), 0));
  EXPECT_EQ(story_.Query("SELECT count(*) FROM models WHERE stored_order IS NULL"), "2");
  EXPECT_TRUE(Put("token a", ModelPart(large, 1)).response.is_stored());
}

TEST_F(ModelTest, TheOldestVersionsOfASenderMakeRoom) {
  budget_.versions = 3;
  for (const char* name : {"1", "2", "3", "4"}) Store("token a", Named(name));
  EXPECT_THAT(List(), ElementsAre(Line("token a", "4"), Line("token a", "3"), Line("token a", "2")));
  // A model that is stored again is the newest one, and is not stored twice.
  EXPECT_TRUE(Store("token a", Named("2")).response.is_stored());
  EXPECT_EQ(Store("token a", Named("5")).response.removed(), 1u);
  EXPECT_THAT(List(), ElementsAre(Line("token a", "5"), Line("token a", "2"), Line("token a", "4")));
  EXPECT_EQ(Rows("model_parts"), "3");
}

TEST_F(ModelTest, TheBytesOfASenderAreLimited) {
  budget_.sender_bytes = kModelMiB;
  for (const char* name : {"1", "2", "3"}) Store("token a", Named(name, 400));
  EXPECT_THAT(List(), ElementsAre(Line("token a", "3"), Line("token a", "2")));
  const ModelOutcome outcome = Put("token a", ModelPart(Named("huge", 1100), 0));
  EXPECT_TRUE(absl::IsResourceExhausted(outcome.status)) << outcome.status;
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr("--model-bytes"));
  EXPECT_EQ(List().size(), 2u);
  budget_.total_bytes = 0;
  EXPECT_TRUE(absl::IsResourceExhausted(Store("token b", Named("none")).status));
}

TEST_F(ModelTest, TheSenderThatHoldsMostMakesRoomForOthers) {
  budget_ = {.total_bytes = 2 * kModelMiB, .sender_bytes = 2 * kModelMiB};
  Store("token small", Named("s", 100));
  for (int i = 0; i < 20; ++i) Store("token flood", Named(absl::StrCat(i), 400));
  EXPECT_EQ(List().size(), 5u);
  EXPECT_EQ(List().back(), Line("token small", "s"));
  // A new sender displaces the oldest model of the one that holds most.
  Store("token new", Named("n", 400));
  EXPECT_THAT(List(), ElementsAre(Line("token new", "n"), Line("token flood", "19"), Line("token flood", "18"),
                                  Line("token flood", "17"), Line("token small", "s")));
}

TEST_F(ModelTest, AListIsFilteredAndPaged) {
  budget_.versions = 1000;
  for (int i = 0; i < 70; ++i) Store(i % 2 == 0 ? "token a" : "token b", Named(absl::StrCat(i), 1, 1 + i % 3));
  v1::ListModelsRequest request;
  request.set_page_size(33);
  const std::vector<std::string> all = List(request);
  ASSERT_EQ(all.size(), 70u);
  EXPECT_EQ(all.front(), Line("token b", "69"));
  EXPECT_EQ(all.back(), Line("token a", "0"));
  request.set_feature_version(3);
  request.set_sender("token b");
  EXPECT_EQ(List(request).size(), 11u);
  EXPECT_EQ(List(request).front(), Line("token b", "65"));
  request.set_page_token("x");
  EXPECT_TRUE(absl::IsInvalidArgument(story_.OpenReader()->ListModels(request).status()));
}

TEST(ModelTableTest, StoringAModelAgainRepairsDamagedBytes) {
  absl::StatusOr<sqlite::SqliteDatabase> database = sqlite::SqliteDatabase::Open(":memory:", {.vfs = {}});
  ASSERT_TRUE(database.ok()) << database.status();
  ASSERT_TRUE(sqlite::Migrate(*database).ok());
  ModelTable table(*database);
  const std::string file = ModelFile(std::string(1'500'000, 't'));
  const auto put = [&](uint32_t part) {
    return table.Change(ModelPut{.sender = "token a", .request = ModelPart(file, part)}, {}, /*now_unix_us=*/1)
        ->response;
  };
  put(0);
  ASSERT_TRUE(put(1).is_stored());
  EXPECT_TRUE(put(0).is_stored());
  for (const char* damage :
       {"UPDATE model_parts SET data = substr(data, 2) WHERE part = 1", "DELETE FROM model_parts WHERE part = 0"}) {
    ASSERT_TRUE(database->Execute(damage).ok());
    EXPECT_EQ(put(0).received_parts(), 1u);
    EXPECT_TRUE(put(1).is_stored());
    EXPECT_EQ(*database->QueryInt("SELECT sum(length(data)) FROM model_parts"), static_cast<int64_t>(file.size()));
  }
  EXPECT_EQ(*database->QueryInt("SELECT count(*) FROM models"), 1);
}

}  // namespace
}  // namespace telemetry::storage::tables

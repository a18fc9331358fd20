#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "server/access/token_file.h"
#include "tests/server/storage/dataset_story.h"

namespace telemetry::collector {

// A token file in a temporary folder.
class TokenFolder {
 public:
  const std::string& path() const { return path_; }

  // Adds a token and returns its text.
  std::string Add(access::Token token) {
    token.created = absl::Now();
    const absl::StatusOr<access::NewToken> added = access::MakeNewToken(std::move(token));
    Change([&](std::vector<access::Token>& tokens) { tokens.push_back(added->token); });
    return added->text;
  }

  void Revoke(const std::string& name) {
    Change([&](std::vector<access::Token>& tokens) {
      for (access::Token& token : tokens) {
        if (token.name == name) token.revoked = absl::Now();
      }
    });
  }

 private:
  template <typename Function>
  void Change(const Function& function) {
    const absl::Status status = access::ChangeTokens(path_, [&](std::vector<access::Token>& tokens) {
      function(tokens);
      return absl::OkStatus();
    });
    EXPECT_TRUE(status.ok()) << status;
  }

  TempFolder folder_;
  const std::string path_ = folder_.File("tokens.json");
};

}  // namespace telemetry::collector

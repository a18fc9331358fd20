#include "server/commands/validate.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "proto/access/address.h"
#include "proto/record/counted.h"
#include "server/access/server_credentials.h"
#include "server/access/token_file.h"
#include "server/collector/connection_limits.h"
#include "server/net/file_limit.h"
#include "server/storage/any/any_store.h"

namespace telemetry::commands {
namespace {

// The lines about what would be served, and the problems.
struct Findings {
  std::vector<std::string> served;
  std::vector<std::string> problems;

  void Problem(const absl::Status& status) { problems.emplace_back(status.message()); }
};

void LookAtDataset(const ServeFlags& flags, Findings& findings) {
  const absl::StatusOr<storage::upkeep::DatasetState> state = storage::any::Inspect(flags.db);
  if (!state.ok()) return findings.Problem(state.status());
  std::string text = absl::StrCat("dataset  ", storage::any::WithoutPasswords(flags.db), ": ");
  if (!state->exists) {
    absl::StrAppend(&text, "would be created");
  } else if (state->schema_version == state->newest_version) {
    absl::StrAppend(&text, "schema ", state->schema_version);
  } else {
    absl::StrAppend(&text, "schema ", state->schema_version, ", would be migrated to ", state->newest_version);
  }
  findings.served.push_back(text);
}

std::string LookAtTls(const ServeFlags& flags, Findings& findings) {
  if (flags.security.tls.cert.empty()) return "plaintext";
  const absl::StatusOr<absl::Time> end = access::CheckTlsFiles(flags.security.tls);
  if (!end.ok()) {
    findings.Problem(end.status());
    return "TLS";
  }
  return absl::StrCat(flags.security.tls.client_ca.empty() ? "TLS" : "mutual TLS", ", certificate valid until ",
                      access::TimeText(*end));
}

std::string LookAtTokens(const ServeFlags& flags, Findings& findings) {
  if (flags.security.tokens.empty()) return "no tokens";
  const absl::StatusOr<std::vector<access::Token>> tokens = access::ReadTokens(flags.security.tokens);
  if (!tokens.ok()) {
    findings.Problem(tokens.status());
    return "tokens";
  }
  const absl::Time now = absl::Now();
  const auto valid = std::count_if(tokens->begin(), tokens->end(),
                                   [now](const access::Token& token) { return CheckValid(token, now).ok(); });
  return absl::StrCat(record::Counted(tokens->size(), "token"), ", ", valid, " of them valid");
}

void LookAtConnections(const ServeFlags& flags, Findings& findings) {
  const uint64_t files = net::RaiseFileLimit();
  const absl::StatusOr<call::Limits> limits = collector::FitConnections(flags.limits, files);
  if (!limits.ok()) return findings.Problem(limits.status());
  findings.served.push_back(absl::StrCat("connect  ", limits->max_connections, " connections at a time, ",
                                         limits->max_connections_per_address, " from one address (", files,
                                         " files may be open, ", net::kReservedFiles, " of them are reserved)"));
}

std::string MetricsText(const ServeFlags& flags, const std::string& transport, const std::string& tokens) {
  if (flags.metrics_listen.empty()) return "nowhere";
  if (access::StaysOnThisMachine(flags.metrics_listen)) return flags.metrics_listen + ": plaintext; no tokens";
  return absl::StrCat(flags.metrics_listen, ": ", transport, "; ", tokens);
}

std::string WhatIsKept(const storage::PruneRules& rules) {
  std::string text;
  if (rules.keep_age != absl::InfiniteDuration()) {
    absl::StrAppend(&text, "data served for less than ", absl::FormatDuration(rules.keep_age), ", ");
  }
  if (rules.keep_bytes != INT64_MAX) absl::StrAppend(&text, "at most ", rules.keep_bytes, " bytes, ");
  text = text.empty() ? "everything" : text + "and each run's newest attempt";
  if (rules.keep_rejects_bytes == 0) return text;
  return absl::StrCat(text, "; of each sender's rejects at most ", rules.keep_rejects_bytes, " bytes");
}

}  // namespace

absl::Status ValidateServe(const ServeFlags& flags) {
  Findings findings;
  LookAtDataset(flags, findings);
  const std::string transport = LookAtTls(flags, findings);
  const std::string tokens = LookAtTokens(flags, findings);
  findings.served.push_back(absl::StrCat("listen   ", flags.listen, ": ", transport, "; ", tokens));
  LookAtConnections(flags, findings);
  findings.served.push_back(absl::StrCat("metrics  ", MetricsText(flags, transport, tokens)));
  const std::string pages =
      flags.web_listen.empty() ? "nowhere" : absl::StrCat(flags.web_listen, ": ", transport, "; ", tokens);
  findings.served.push_back(absl::StrCat("pages    ", pages));
  findings.served.push_back(absl::StrCat("keep     ", WhatIsKept(flags.keep)));
  findings.served.push_back(absl::StrCat("logs     ", flags.log.format, ", from ", flags.log.level));
  for (const std::string& served : findings.served) std::printf("%s\n", served.c_str());
  for (const std::string& problem : findings.problems) std::printf("PROBLEM: %s\n", problem.c_str());
  if (findings.problems.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      "serve would refuse to start: ", record::Counted(findings.problems.size(), "problem"), ", see above"));
}

}  // namespace telemetry::commands

#include "server/commands/command_flags.h"
#include "server/commands/flag.h"

namespace telemetry::collector {

void AddTls(CLI::App& app, TlsInitFlags& flags) {
  CLI::App* tls = app.add_subcommand("tls", "Create certificates for serve and its clients");
  tls->require_subcommand(1);
  tls->fallthrough();
  CLI::App* init =
      tls->add_subcommand("init", "Create a certificate authority, the collector's certificate and their keys");
  init->fallthrough();
  Flag(init, "out", flags.out, "Folder for the files; nothing in it is overwritten")->required()->type_name("DIR");
  Flag(init, "host", flags.hosts,
       "Name or address under which clients reach the collector; the first is its common name")
      ->required()
      ->delimiter(',')
      ->type_name("HOST");
  Flag(init, "client", flags.clients, "Also create a certificate for this client, for mutual TLS")
      ->delimiter(',')
      ->type_name("NAME");
  Flag(init, "expires", flags.expires,
       "Lifetime of the certificates, such as 365d or 12h; the authority's is ten times as long")
      ->type_name("TIME")
      ->check(LifetimeCheck());
}

}  // namespace telemetry::collector

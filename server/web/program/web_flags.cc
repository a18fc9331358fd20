#include "server/web/program/web_flags.h"

#include "proto/access/address.h"
#include "proto/base/status_macros.h"

namespace telemetry::web::program {

void WebFlags::AddTo(cli::Flags& flags) {
  flags.File("db", db,
             "The dataset: a SQLite file, also while a collector serves it, or postgresql://USER@HOST/DATABASE");
  access::AddListenFlag(flags, "listen", listen, "Address to serve on; port 0 selects a free port");
  flags
      .Add("host-name", names,
           "Further name under which browsers reach the pages, such as telemetry.example.org; can be given several "
           "times")
      ->delimiter(',')
      ->type_name("NAME");
  security.AddTo(flags);
  flags
      .Add("scratch-dir", scratch_dir,
           "Folder for the file of summaries, about 2 KB per attempt; default: $TMPDIR or /tmp")
      ->type_name("FOLDER");
  flags.Add("collector", collectors, "Collector whose health the overview shows; can be given several times")
      ->delimiter(',')
      ->type_name("HOST:PORT");
  flags.Add("collector-tls-ca", collector_ca, "Verify the collectors' certificates with these authorities (PEM)")
      ->type_name("FILE");
  log.AddTo(flags);
}

absl::Status WebFlags::Check() const {
  for (const std::string& collector : collectors) RETURN_IF_ERROR(access::CheckAddress(collector));
  return security.Check("--listen", listen, "everyone on the network may read the dataset");
}

}  // namespace telemetry::web::program

"""Tests connections to a PostgreSQL server: with TLS, with passwords from libpq's files, and to a standby.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin) on tests/testdata, with its own servers.
"""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

from certificates import Authority
from pipeline import BIN, ROOT, SAMPLES, TIMEOUT_S, Pipeline, environment_with, free_ports, run

LAYOUT = "helion"
PASSWORD = "right-and-secret"


class Server:
    """A PostgreSQL server in FOLDER."""

    def __init__(self, folder):
        self.folder = folder
        self.data = folder / "data"
        self.port = 5432

    def tell(self, *command):
        subprocess.run([ROOT / "tests/postgresql/server", *command], check=True, timeout=TIMEOUT_S)

    def start(self):
        self.tell("start", self.folder)

    def follow(self, primary):
        self.tell("standby", self.folder, primary.folder)

    def back_up(self, target):
        self.tell("backup", self.folder, target)

    def restore(self, backup, *archive):
        self.tell("restore", self.folder, backup, *archive)

    def stop(self):
        self.tell("stop", self.folder)

    def configure(self, settings, access=None):
        """Adds settings, replaces the access rules, and restarts the server."""
        self.port = settings.get("port", self.port)
        with open(self.data / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())
        if access is not None:
            (self.data / "pg_hba.conf").write_text("\n".join(["local all all trust", *access]) + "\n")
        self.tell("kill", self.folder)
        self.tell("resume", self.folder)

    def query(self, sql, database="postgres"):
        done = subprocess.run(
            ["psql", "-qXtA", "-h", self.folder, "-p", str(self.port), "-U", "postgres", "-c", sql, database],
            check=True, capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        return done.stdout.strip()

    def url(self, database="postgres"):
        return f"postgresql://postgres@/{database}?host={self.folder}"


class PostgresqlTest(unittest.TestCase):
    def setUp(self):
        # A short path, because it contains PostgreSQL's socket. Accessible to the user that runs PostgreSQL.
        folder = tempfile.TemporaryDirectory(prefix="pg.", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o755)
        self.server = Server(self.folder / "server")
        self.server.start()
        self.addCleanup(self.server.stop)

    def export_of_a_file(self, samples=SAMPLES[:1], name="file"):
        """Returns the export of the same rows from a SQLite file."""
        pipeline = Pipeline(self.folder / name, database=self.folder / f"{name}.db")
        self.forward_to(pipeline, samples)
        return pipeline.export(LAYOUT)

    def forward_to(self, pipeline, samples=SAMPLES[:1]):
        with pipeline.serving():
            for sample in samples:
                pipeline.forward(sample.path(), flags=sample.flags)


class Access(PostgresqlTest):
    def setUp(self):
        super().setUp()
        self.port = free_ports(1)
        authority, other = Authority(self.folder, "ca"), Authority(self.folder, "other-ca")
        authority.issue("server")
        self.authority, self.other = authority.certificate, other.certificate
        self.server.query(f"CREATE ROLE telemetry LOGIN PASSWORD '{PASSWORD}'")
        self.server.query("CREATE DATABASE telemetry OWNER telemetry")
        self.server.configure({"listen_addresses": "127.0.0.1", "port": self.port} | self.tls_settings(),
                              ["hostssl telemetry telemetry 127.0.0.1/32 scram-sha-256"])  # fmt: skip

    def tls_settings(self):
        """Returns the TLS settings of the server. Copies the certificate and the key for it, because the server must
        own them.
        """
        for name in ("server.pem", "server.key"):
            copy = self.server.data / name
            copy.write_bytes((self.folder / name).read_bytes())
            copy.chmod(0o600)
            owner = self.server.data.stat()
            os.chown(copy, owner.st_uid, owner.st_gid)
        return {"ssl": "on", "ssl_cert_file": "server.pem", "ssl_key_file": "server.key"}

    def url(self, authority=None, password=""):
        return (f"postgresql://telemetry{password}@127.0.0.1:{self.port}/telemetry"
                f"?sslmode=verify-full&sslrootcert={authority or self.authority}")  # fmt: skip

    def password_file(self, password=PASSWORD):
        path = self.folder / f"pgpass-{len(password)}"
        path.write_text(f"127.0.0.1:*:telemetry:telemetry:{password}\n")
        path.chmod(0o600)
        return {"PGPASSFILE": str(path)}

    def refusal(self, url, environment):
        """Returns the errors of programs that must be refused. Checks that no error contains a password."""
        said = ""
        for program in (
            ["telemetry-collector", "serve", "--listen=127.0.0.1:0", f"--db={url}"],
            ["telemetry-export", f"--out={self.folder / 'none'}", f"--db={url}"],
        ):
            done = subprocess.run(
                [BIN / program[0], *program[1:]],
                capture_output=True, text=True, timeout=TIMEOUT_S, env=environment_with(environment),
            )  # fmt: skip
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            said += done.stderr
        self.assertNotIn(PASSWORD, said)
        return said

    def test_over_tls_with_a_password_file_the_dataset_is_the_same(self):
        pipeline = Pipeline(self.folder / "tls", database=self.url(), serve_environment=self.password_file())
        with pipeline.serving():
            pipeline.forward(SAMPLES[0].path(), flags=SAMPLES[0].flags)
            sessions = "FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'telemetry'"
            self.assertNotEqual(self.server.query(f"SELECT count(*) {sessions} AND ssl"), "0")
            self.assertEqual(self.server.query(f"SELECT count(*) {sessions} AND NOT ssl"), "0")
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file())
        self.assertNotIn(PASSWORD, (pipeline.folder / "collector.log").read_text())

    def test_a_service_file_will_do(self):
        services = self.folder / "services"
        services.write_text(
            f"[dataset]\nhost=127.0.0.1\nport={self.port}\ndbname=telemetry\nuser=telemetry\n"
            f"sslmode=verify-full\nsslrootcert={self.authority}\n"
        )
        environment = self.password_file() | {"PGSERVICEFILE": str(services)}
        database = "postgresql:///?service=dataset"
        pipeline = Pipeline(self.folder / "service", database=database, serve_environment=environment)
        self.forward_to(pipeline)
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file())

    def test_who_is_not_let_in_is_told_why(self):
        run("telemetry-collector", "migrate", f"--db={self.url()}", environment=self.password_file())
        right, wrong = self.password_file(), self.password_file("wrong-and-secret")
        for url, environment, why in (
            (self.url(), wrong, "password authentication failed"),
            (self.url(password=":wrong-and-secret"), {}, "password authentication failed"),
            (self.url(), {"PGPASSFILE": "/dev/null"}, "no password supplied"),
            (self.url(self.other), right, "certificate verify failed"),
            (self.url().replace("verify-full", "disable"), right, "no encryption"),
        ):
            said = self.refusal(url, environment)
            self.assertIn(why, said)
            self.assertNotIn("wrong-and-secret", said)

    def test_a_server_without_tls_gets_no_password(self):
        self.server.configure({"ssl": "off"}, ["host telemetry telemetry 127.0.0.1/32 password"])
        self.assertIn("does not support SSL", self.refusal(self.url(), self.password_file()))


class Standby(PostgresqlTest):
    def setUp(self):
        super().setUp()
        self.standby = Server(self.folder / "standby")
        self.standby.follow(self.server)
        self.addCleanup(self.standby.stop)

    def await_standby(self):
        """Waits until the standby has replayed everything that the primary has written."""
        position = self.server.query("SELECT pg_current_wal_lsn()")
        until = time.monotonic() + TIMEOUT_S
        while self.standby.query(f"SELECT pg_last_wal_replay_lsn() >= '{position}'") != "t":
            self.assertLess(time.monotonic(), until, "the standby did not catch up")

    def test_exports_come_from_it_and_nothing_is_written_there(self):
        pipeline = Pipeline(self.folder / "primary", database=self.server.url())
        self.forward_to(pipeline)
        self.await_standby()
        replica = Pipeline(self.folder / "replica", database=self.standby.url())
        self.assertEqual(replica.export(LAYOUT), pipeline.export(LAYOUT))
        self.assertEqual(replica.export(LAYOUT), self.export_of_a_file())
        with self.assertRaisesRegex(AssertionError, "read-only|recovery"):
            run("telemetry-collector", "serve", "--listen=127.0.0.1:0", f"--db={self.standby.url()}")

    def test_a_collector_goes_on_with_the_one_that_takes_over(self):
        either = f"postgresql://postgres@/postgres?host={self.standby.folder},{self.server.folder}"
        pipeline = Pipeline(self.folder / "either", database=either)
        with pipeline.serving():
            pipeline.forward(SAMPLES[0].path(), flags=SAMPLES[0].flags)
            self.await_standby()
            self.server.tell("kill", self.server.folder)
            self.standby.query("SELECT pg_promote()")
            pipeline.forward(SAMPLES[1].path(), flags=SAMPLES[1].flags)
            self.assertEqual(pipeline.export(LAYOUT, live=True), self.export_of_a_file(SAMPLES[:2]))


class Backup(PostgresqlTest):
    """The backup and the restore of deploy/OPERATING.md."""

    def setUp(self):
        super().setUp()
        self.archive = self.folder / "archive"
        self.archive.mkdir()
        self.archive.chmod(0o777)
        self.backup = self.folder / "backups" / "base"
        self.backup.parent.mkdir()
        self.backup.parent.chmod(0o777)
        self.server.configure({"archive_mode": "on", "archive_command": f'cp "%p" "{self.archive}/%f"'})

    def await_archive(self):
        """Waits until everything that the server has written is in the archive."""
        segment = self.server.query("SELECT pg_walfile_name(pg_switch_wal())")
        until = time.monotonic() + TIMEOUT_S
        while not (self.archive / segment).exists():
            self.assertLess(time.monotonic(), until, "the log was not archived")
            time.sleep(0.05)

    def forward_all(self, pipeline, samples, state="state"):
        for sample in samples:
            pipeline.forward(sample.path(), flags=sample.flags, state=state)

    def test_a_backup_and_the_archived_log_contain_everything(self):
        pipeline = Pipeline(self.folder / "primary", database=self.server.url())
        with pipeline.serving():
            self.forward_all(pipeline, SAMPLES[:1])
            self.server.back_up(self.backup)
            self.forward_all(pipeline, SAMPLES[1:2])
        self.await_archive()
        self.server.tell("kill", self.server.folder)
        restored = Server(self.folder / "restored")
        self.addCleanup(restored.stop)
        restored.restore(self.backup, self.archive)
        pipeline.database = restored.url()
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file(SAMPLES[:2]))
        self.assertIn("no damage found", run("telemetry-collector", "check", f"--db={restored.url()}"))
        # The producers continue after their last acknowledged record.
        with pipeline.serving():
            self.forward_all(pipeline, SAMPLES[:3])
        self.assertNotIn("lost acknowledged records", (pipeline.folder / "collector.log").read_text())
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file(SAMPLES[:3], "larger-file"))

    def test_a_collector_reports_what_a_restore_has_lost(self):
        pipeline = Pipeline(self.folder / "primary", database=self.server.url())
        with pipeline.serving():
            self.forward_all(pipeline, SAMPLES[:1])
            self.server.back_up(self.backup)
            self.forward_all(pipeline, SAMPLES[1:2])
            self.server.tell("kill", self.server.folder)
            self.server.restore(self.backup)
            # The same producer sends more. A new one sends the lost rows again.
            self.forward_all(pipeline, SAMPLES[2:3])
            self.assertIn("lost acknowledged records", (pipeline.folder / "collector.log").read_text())
            self.forward_all(pipeline, SAMPLES[:3], state="again")
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file(SAMPLES[:3]))

    def test_a_collector_that_starts_after_a_restore_reports_what_was_lost(self):
        pipeline = Pipeline(self.folder / "primary", database=self.server.url())
        with pipeline.serving():
            self.forward_all(pipeline, SAMPLES[:1])
            self.server.back_up(self.backup)
            self.forward_all(pipeline, SAMPLES[1:2])
        self.server.tell("kill", self.server.folder)
        self.server.restore(self.backup)
        with pipeline.serving():
            self.assertNotIn("lost acknowledged records", (pipeline.folder / "collector.log").read_text())
            # The producer opens its log with the number of its last acknowledged record.
            self.forward_all(pipeline, SAMPLES[2:3])
            self.assertIn("lost acknowledged records", (pipeline.folder / "collector.log").read_text())
            self.forward_all(pipeline, SAMPLES[:3], state="again")
        self.assertEqual(pipeline.export(LAYOUT), self.export_of_a_file(SAMPLES[:3]))


if __name__ == "__main__":
    unittest.main()

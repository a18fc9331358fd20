"""Tests Helion's remote cache over a running collector, without Helion itself: a stand-in has the names that it uses.

Runs the built programs (TELEMETRY_BIN_DIR; default build/release/bin).
"""

import abc
import contextlib
import json
import logging
import os
import pathlib
import socket
import sys
import tempfile
import time
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/integration"), str(ROOT / "client/python")]

from autotune_telemetry import helion_cache
from autotune_telemetry._settings import Settings
from pipeline import BIN, Pipeline, run


class RemoteCacheBackend(abc.ABC):
    """The base class of Helion 1.5."""

    @abc.abstractmethod
    def get(self, key): ...

    @abc.abstractmethod
    def put(self, key, data): ...

    def list(self, max_results=None):
        return ()


def parse_cache_entry(raw):
    data = json.loads(raw)
    try:
        return data["key"]["fields"], data["config"]
    except (KeyError, TypeError) as error:
        raise ValueError(f"malformed cache entry: {error}") from error


def stand_in(hardware="H"):
    """Makes a stand-in for Helion importable."""
    modules = {name: types.ModuleType(name) for name in ("helion", "helion.autotuner", "helion._compat")}
    modules["helion.autotuner.remote_cache"] = types.ModuleType("helion.autotuner.remote_cache")
    modules["helion.autotuner.remote_cache"].RemoteCacheBackend = RemoteCacheBackend
    modules["helion.autotuner.local_cache"] = types.ModuleType("helion.autotuner.local_cache")
    modules["helion.autotuner.local_cache"].parse_cache_entry = parse_cache_entry
    modules["helion._compat"].get_device_name = lambda: hardware
    sys.modules.update(modules)


def entry(hardware="H", warps=4):
    return json.dumps({"config": json.dumps({"num_warps": warps}), "key": {"fields": {"hardware": hardware}}})


class HelionCacheTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="helion_cache_test.")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        stand_in()
        helion_cache.CacheStore._process = None
        self.processes = []
        self.addCleanup(self.end_processes)
        logging.getLogger("autotune_telemetry").addHandler(logging.NullHandler())

    def use(self, address, token=None):
        """Lets this process use the cache of a collector."""
        settings = Settings(collector=address, worker=str(BIN / "telemetry-worker"), token_file=token)
        process = helion_cache._CacheProcess(settings)
        helion_cache.CacheStore._process = process
        self.processes.append(process)
        return helion_cache.RemoteCache()

    @contextlib.contextmanager
    def collector(self, *serve_flags):
        """Serves a cache, and ends this process's connections before the collector."""
        pipeline = Pipeline(self.folder / "pipeline", database=self.folder / "dataset.db", serve_flags=serve_flags)
        with pipeline.serving():
            yield pipeline.address
            self.end_processes()

    def end_processes(self):
        for process in self.processes:
            if process._process is not None:
                process._process.stdin.close()
                process._process.wait(60)
                process._process.stdout.close()
                process._process = None

    def test_a_config_of_one_process_is_found_by_another(self):
        with self.collector() as address:
            first = self.use(address)
            self.assertIsInstance(first, RemoteCacheBackend)
            self.assertIsNone(first.get("a" * 64))
            self.assertEqual(list(first.list(10)), [])
            first.put("a" * 64, entry())
            second = self.use(address)
            self.assertEqual(second.get("a" * 64), entry())

    def test_entries_of_this_device_are_listed_the_newest_first(self):
        with self.collector() as address:
            cache = self.use(address)
            for i in range(5):
                cache.put(f"{i}", entry(warps=i))
            cache.put("other", entry(hardware="other"))
            self.assertEqual(list(cache.list(max_results=3)), [entry(warps=i) for i in (4, 3, 2)])
            self.assertEqual(len(list(cache.list())), 5)

    def test_a_value_that_helion_cannot_parse_is_no_config(self):
        with self.collector() as address:
            cache = self.use(address)
            for bad in ("", "[", "[]", "{}", '{"config": 1}'):
                cache.put("k", bad)
                self.assertIsNone(cache.get("k"), bad)

    def test_only_trusted_senders_are_used(self):
        tokens = self.folder / "tokens.json"
        for name in ("team", "other"):
            flags = (f"--name={name}", "--role=reader,cache-writer", f"--out={self.folder / name}")
            run("telemetry-collector", "token", "add", "--tokens", tokens, *flags)
        with self.collector(f"--tokens={tokens}") as address:
            team = self.use(address, token=str(self.folder / "team"))
            team.put("k", entry(warps=1))
            other = self.use(address, token=str(self.folder / "other"))
            other.put("k", entry(warps=2))
            self.assertEqual(other.get("k"), entry(warps=2))
            os.environ["AUTOTUNE_TELEMETRY_CACHE_SENDERS"] = "token team, token nightly"
            self.addCleanup(os.environ.pop, "AUTOTUNE_TELEMETRY_CACHE_SENDERS", None)
            self.assertEqual(other.get("k"), entry(warps=1))
            self.assertEqual(list(other.list(10)), [entry(warps=1)])

    def test_a_silent_collector_costs_one_deadline_and_nothing_is_raised(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            cache = self.use(f"127.0.0.1:{silent.getsockname()[1]}")
            begin = time.monotonic()
            for _ in range(100):
                self.assertIsNone(cache.get("k"))
                self.assertEqual(list(cache.list(1)), [])
                cache.put("k", entry())
            self.assertLess(time.monotonic() - begin, 20)

    def test_a_worker_that_is_missing_or_dies_is_no_error(self):
        for worker in (self.folder / "nothing", "/bin/false"):
            helion_cache.CacheStore._process = helion_cache._CacheProcess(Settings(worker=str(worker)))
            cache = helion_cache.RemoteCache()
            self.assertIsNone(cache.get("k"))
            cache.put("k", entry())

    def test_a_forked_child_asks_by_a_process_of_its_own(self):
        with self.collector() as address:
            cache = self.use(address)
            cache.put("k", entry())
            child = os.fork()
            if child == 0:
                os._exit(0 if cache.get("k") == entry() else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            self.assertEqual(cache.get("k"), entry())


if __name__ == "__main__":
    unittest.main()

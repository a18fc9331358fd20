#!/usr/bin/env python3
"""Loads the IR graph of every kernel of the library, as `telemetry-worker show-code KERNEL --ir` prints it, with
networkx.
"""

import json
import os
import pathlib
import subprocess
import unittest

from packages import need

need("networkx")

import networkx
WORKER = pathlib.Path(os.environ.get("TELEMETRY_BIN_DIR", "build/release/bin")) / "telemetry-worker"
PLANS = pathlib.Path(__file__).resolve().parents[1] / "worker/wrapper/program/golden"
KERNELS = (
    "add exp sum long_sum softmax softmax_two_pass layer_norm rms_norm cross_entropy matmul bmm attention geglu"
).split()
POINTWISE = ("add", "exp", "geglu")
WITH_LOOPS = ("matmul", "bmm", "attention")


def record_of(kernel):
    shown = subprocess.run([WORKER, "show-code", kernel, "--ir"], capture_output=True, text=True, check=False)
    if shown.returncode != 0:
        raise AssertionError(f"show-code {kernel} --ir: {shown.stderr}")
    return json.loads(shown.stdout)


def kinds_of(record, edge_kind):
    return [link for link in record["links"] if link["edge_kind"] == edge_kind]


class WrapperGraphs(unittest.TestCase):
    """Tests the graphs of the sample plans in their golden file."""

    def test_every_plan_loads_whole_and_data_flows_from_its_inputs_to_its_output(self):
        lines = (PLANS / "five_plans.wrapper.jsonl").read_text().splitlines()
        self.assertEqual(len(lines), 5)
        for record in map(json.loads, lines):
            with self.subTest(record["graph"]["kernel_name"]):
                graph = networkx.node_link_graph(record, edges="links")
                self.assertEqual(graph.number_of_nodes(), len(record["nodes"]))
                self.assertEqual(graph.number_of_edges(), len(record["links"]))
                self.assertTrue(networkx.is_directed_acyclic_graph(graph))
                data = networkx.subgraph_view(
                    graph, filter_edge=lambda *edge, graph=graph: graph.edges[edge]["edge_kind"] == "data"
                )
                inputs = [node for node, features in graph.nodes(data=True) if features["op_kind"] == "placeholder"]
                for node in inputs:
                    self.assertTrue(networkx.has_path(data, node, "g0:output"), node)


class IrGraphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.records = {kernel: record_of(kernel) for kernel in KERNELS}

    def test_every_record_loads_whole(self):
        for kernel, record in self.records.items():
            with self.subTest(kernel):
                graph = networkx.node_link_graph(record, edges="links")
                self.assertTrue(graph.is_directed())
                self.assertFalse(graph.is_multigraph())
                # An edge to a node that is not listed would add a node.
                self.assertEqual(graph.number_of_nodes(), len(record["nodes"]))
                self.assertEqual(graph.number_of_edges(), len(record["links"]))
                self.assertTrue(all("target" in features for _, features in graph.nodes(data=True)))
                self.assertTrue(networkx.is_directed_acyclic_graph(graph))
                self.assertEqual(graph.graph["kernel_name"], kernel)
                self.assertEqual(graph.graph["num_graphs"], len(graph.graph["graphs"]))

    def test_region_edges_lead_to_placeholders_of_another_graph(self):
        for kernel, record in self.records.items():
            nodes = {node["id"]: node for node in record["nodes"]}
            for link in record["links"]:
                source, target = nodes[link["source"]], nodes[link["target"]]
                with self.subTest(kernel, edge=(link["source"], link["target"])):
                    if link["edge_kind"] == "region":
                        self.assertEqual(target["op_kind"], "placeholder")
                        self.assertNotEqual(source["graph_id"], target["graph_id"])
                        self.assertNotEqual(target["region_kind"], "ReductionLoopGraphInfo")
                    else:
                        self.assertEqual(source["graph_id"], target["graph_id"])

    def test_structure_of_the_library(self):
        for kernel in POINTWISE:
            self.assertEqual(kinds_of(self.records[kernel], "region"), [], kernel)
            self.assertEqual(self.records[kernel]["graph"]["rolled_reductions"], [], kernel)
        for kernel in ("softmax", "layer_norm"):
            self.assertEqual(kinds_of(self.records[kernel], "region"), [], kernel)
            self.assertNotEqual(self.records[kernel]["graph"]["rolled_reductions"], [], kernel)
        for kernel in WITH_LOOPS:
            self.assertNotEqual(kinds_of(self.records[kernel], "region"), [], kernel)


if __name__ == "__main__":
    unittest.main()

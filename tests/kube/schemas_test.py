"""Every file that `lockstep cluster plan --out` makes, against the schemas of the programs that read them.

    LOCKSTEP_KUBE_TOOLS=FOLDER python -m unittest schemas_test

The files are those in tests/data/cluster, which test_eks holds to be what is made. eksctl's ClusterConfig has
a JSON schema. A RayCluster's is in KubeRay's resource definition, here of two releases; as on an API server
that validates strictly, a field that it does not list is an error. Helm's values and Kubernetes' own kinds are
not looked at here: the former have no schema, the latter test_kube gives to an API server.
"""

import json
import os
import unittest
from pathlib import Path

import jsonschema
import yaml

DATA = Path(__file__).resolve().parents[1] / "data/cluster"
TOOLS = Path(os.environ["LOCKSTEP_KUBE_TOOLS"])
KUBERAY = {"1.5.0": TOOLS / "crds/ray.io_rayclusters.yaml", "1.6.2": TOOLS / "schemas/rayclusters-1.6.2.yaml"}


def closed(schema):
    """The schema with every object that lists its fields taking no others."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {key: closed(part) for key, part in schema.items()}
    if isinstance(schema.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
        schema.setdefault("additionalProperties", False)
    return schema


def ray_cluster_schema(definition: Path) -> dict:
    (version,) = (v for v in yaml.safe_load(definition.read_text())["spec"]["versions"] if v["name"] == "v1")
    return closed(version["schema"]["openAPIV3Schema"])


EKSCTL = json.loads((TOOLS / "schemas/eksctl.json").read_text())
RAY_CLUSTER = {version: ray_cluster_schema(path) for version, path in KUBERAY.items()}


def errors(schema: dict, document: dict) -> list[str]:
    validator = jsonschema.validators.validator_for(schema, default=jsonschema.Draft4Validator)(schema)
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in validator.iter_errors(document)]


def documents(kind: str) -> list[tuple[str, dict]]:
    found = []
    for path in sorted(DATA.glob("*.files/*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document.get("kind") == kind:
                found.append((str(path.relative_to(DATA)), document))
    return found


class SchemasTest(unittest.TestCase):
    def test_eksctl_takes_every_cluster_config(self):
        found = documents("ClusterConfig")
        self.assertEqual(len(found), 10)
        for name, document in found:
            self.assertEqual(errors(EKSCTL, document), [], name)

    def test_eksctl_would_refuse_the_key_that_it_drops_when_it_runs(self):
        ((_, config),) = (d for d in documents("ClusterConfig") if d[0] == "full.yaml.files/eksctl-gpu-nodes.yaml")
        target = config["managedNodeGroups"][0]["capacityReservation"]["capacityReservationTarget"]
        target["capacityReservationId"] = target.pop("capacityReservationID")
        self.assertIn("'capacityReservationId' was unexpected", " ".join(errors(EKSCTL, config)))

    def test_kuberay_takes_every_ray_cluster(self):
        found = documents("RayCluster")
        self.assertEqual(len(found), 5)
        for name, document in found:
            self.assertEqual(errors(RAY_CLUSTER["1.6.2"], document), [], name)
            # 1.5.0 knows all but the one thing that came with 1.5.1, which is left out for it.
            document["spec"].pop("authOptions", None)
            self.assertEqual(errors(RAY_CLUSTER["1.5.0"], document), [], name)

    def test_an_older_kuberay_refuses_what_is_left_out_for_it(self):
        ((_, cluster),) = (d for d in documents("RayCluster") if d[0].startswith("default"))
        (error,) = errors(RAY_CLUSTER["1.5.0"], cluster)
        self.assertIn("'authOptions' was unexpected", error)

    def test_a_misspelt_field_and_a_wrong_type_are_errors(self):
        ((_, cluster),) = (d for d in documents("RayCluster") if d[0].startswith("default"))
        worker = cluster["spec"]["workerGroupSpecs"][0]
        worker["rayStartParams"]["num-gpus"] = 4
        worker["template"]["spec"]["toleration"] = worker["template"]["spec"].pop("tolerations")
        self.assertEqual(len(errors(RAY_CLUSTER["1.6.2"], cluster)), 2)

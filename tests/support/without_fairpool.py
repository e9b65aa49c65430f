"""Exported models used in a process that has no fairpool, neither on its path nor installed."""

import json
import subprocess
import sys
import sysconfig
from pathlib import Path

START = f"""
import importlib.util, json, sys
sys.path.append({sysconfig.get_paths()["purelib"]!r})
assert importlib.util.find_spec("fairpool") is None
import numpy as np
"""

ASK_ONNX = """
import onnxruntime
KINDS = {"tensor(double)": np.float64, "tensor(string)": object}
path, given = sys.argv[1], json.load(sys.stdin)
session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
fed = {one.name: np.array(given[one.name], dtype=KINDS[one.type]) for one in session.get_inputs()}
names = [one.name for one in session.get_outputs()]
found = dict(zip(names, session.run(names, fed)))
meta = session.get_modelmeta()
answer = {name: value.tolist() for name, value in found.items()}
answer["about"], answer["facts"] = meta.description, meta.custom_metadata_map
print(json.dumps(answer))
"""

ASK_COEFFICIENTS = """
model, given = json.load(open(sys.argv[1], encoding="utf-8")), json.load(sys.stdin)
phi = []
for column in model["columns"]:
    values = given[column["name"]]
    if "levels" in column:
        phi += [[float(v == level) for v in values] for level in column["levels"]]
    else:
        phi.append([(v - column["mean"]) / column["scale"] for v in values])
phi = np.array(phi + [[1.0] * len(values)]).T
assert phi.shape[1] == len(model["features"])
mean = phi @ model["coefficients"]
variance = np.einsum("ti,ij,tj->t", phi, model["covariance"], phi) + model["noise_variance"]
scale, shift = model["target_scale"], model["target_mean"]
mean, variance = shift + scale * mean, scale**2 * variance
print(json.dumps({"mean": mean.tolist(), "variance": variance.tolist()}))
"""


def answer_of(program: str, file: Path, given: dict) -> dict:
    """What a program makes of a file and of some columns.

    Python starts without its site, whose .pth file would lead to the checkout.
    """
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", START + program, str(file)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

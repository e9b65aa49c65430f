"""Run every row, each in its own process and environment, and write docs/performance.md.

Quick results, of single repeats, go to .bench/quick/performance.md instead.

    python -m bench.run [--quick] [--only NAME ...] [--render]

`--only` runs some rows anew and keeps the others' last results; `--render` runs none. Exits with 1
where a row failed: a number that differs from the peer's is a failure, a peer that could not be
installed is not.
"""

import json
import os
import subprocess
import sys
from argparse import ArgumentParser
from dataclasses import dataclass
from datetime import date
from time import perf_counter

import fairpool
from bench import environments, truth
from bench.measure import FOLDER
from bench.render import write_document
from bench.rows import statistics

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")}


@dataclass(frozen=True)
class Job:
    """A module of `bench.rows`, and the peer that it measures against in the peer's environment."""

    module: str
    peer: str = ""

    @property
    def name(self) -> str:
        """For files and for `--only`."""
        return "-".join(filter(None, (self.module, self.peer)))


JOBS = (
    Job("kernel_values"),
    Job("weight_values"),
    Job("classes"),
    Job("evidence"),
    *(Job("exact_shapley", peer) for peer in ("shapiq", "shap", "pydvl")),
    Job("noise"),
    Job("one_likelihood"),
    *(Job("likelihood", peer) for peer in ("sklearn", "gpytorch")),
    Job("chain"),
    *(Job("sampled", peer) for peer in ("fairpool", "shapiq", "shap")),
    Job("statistics"),
    Job("reading"),
    Job("near_copies"),
    Job("keyed_noise"),
    Job("only_what_changed"),
    Job("memory"),
    Job("scaling"),
)


def run(job: Job, quick: bool) -> list[dict]:
    """The lines that a job prints; or one that says why there are none."""
    python = environments.python_of(job.peer)
    if python is None:
        text = environments.reason(job.peer)
        return [
            {
                "kind": "left out",
                "job": job.module,
                "peer": job.peer,
                "why": f"not installed: {text}",
            }
        ]
    command = [
        str(python),
        "-m",
        f"bench.rows.{job.module}",
        *filter(None, [job.peer]),
        *["--quick"] * quick,
    ]
    done = subprocess.run(
        command, cwd=FOLDER.parent, env=os.environ | ONE_THREAD, capture_output=True, text=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"kind"')]
    if done.returncode:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        lines.append({"kind": "failed", "job": job.module, "peer": job.peer, "why": why})
        print(done.stderr, file=sys.stderr)
    return lines


def with_what(job: Job) -> dict:
    """The version and the day of a measurement: results of some rows are kept for long."""
    return {
        "kind": "measured",
        "job": job.name,
        "fairpool": fairpool.__version__,
        "day": date.today().isoformat(),
    }


def main() -> None:
    """Everything, in order."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="*", default=[job.name for job in JOBS])
    parser.add_argument("--render", action="store_true")
    options = parser.parse_args()
    results = FOLDER / "results" / ("quick" if options.quick else "full")
    results.mkdir(parents=True, exist_ok=True)
    if not options.render:
        environments.main()
        truth.main()
        statistics.write()
        for job in JOBS:
            if job.name in options.only:
                start = perf_counter()
                lines = [*run(job, options.quick), with_what(job)]
                (results / f"{job.name}.json").write_text(json.dumps(lines, indent=1))
                print(f"{job.name}: {perf_counter() - start:.0f} s", flush=True)
    paths = [results / f"{job.name}.json" for job in JOBS]
    lines = [line for path in paths if path.exists() for line in json.loads(path.read_text())]
    print(f"Written: {write_document(lines, quick=options.quick)}")
    sys.exit(any(line["kind"] == "failed" for line in lines))


if __name__ == "__main__":
    main()

"""Kill a release before each change it makes to the disk, and run again each time.

Run as a program, `python -m tests.support.round_kills FOLDER BEFORE EVERY`: a fork must not inherit
the test runner's threads. FOLDER is made to hold what BEFORE holds, a child is forked that releases
and kills itself before a change; then the next run goes through, as an operator would start it.
What is there then is one line of JSON, for every change with one of the numbers that EVERY divides,
and for those of the ledger and of whole folders.
"""

import json
import sys
from pathlib import Path

from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import LEDGER_FILE, MAC, SECRET_FILE, STATE_FOLDER
from fairpool.consortium.rounds.inspecting import verify_folder
from fairpool.consortium.rounds.releasing import one_at_a_time, refuse_place, release, settle
from fairpool.consortium.run import run
from fairpool.keyed_noise.secret import Secret
from fairpool.ledger import Ledger
from fairpool.realisation.reward_file import decode_reward
from tests.support.kill_points import changes_of, killed_at, reset
from tests.support.pictures import without_pictures

IMPORTANT = ("open ledger", "os.rename .000", "open secret", "os.remove")


def next_round(folder):
    """What the command does."""
    with one_at_a_time(folder):
        settle(folder)
        refuse_place(folder)
        release(run(RunRequest(configuration=folder)))


def state(folder):
    """What the ledger tells, whether it and the files agree, and every model."""
    secret = Secret.read(folder / STATE_FOLDER / SECRET_FILE)
    ledger = Ledger.open(folder / LEDGER_FILE, secret.subkey(MAC))
    models = {}
    for path in sorted(folder.glob("rounds/*/parties/*/reward.safetensors")):
        reward = decode_reward(path.read_bytes(), str(path))
        heads = {record.hash: record.kind for record in ledger.records}
        models[str(path.relative_to(folder))] = {
            "weights": reward.posterior.weights.tolist(),
            "head": heads.get(reward.ledger.head),
        }
    rounds = [record.body["round"] for record in ledger.records if record.kind == "release"]
    folders = sorted(path.name for path in (folder / "rounds").iterdir())
    return {
        "ok": verify_folder(folder).ok,
        "rounds": rounds,
        "folders": folders,
        "latest": (folder / "latest").read_text(),
        "kinds": [record.kind for record in ledger.records],
        "models": models,
        "fingerprint": secret.fingerprint,
    }


def main(folder, before, every):
    folder, before = Path(folder), Path(before)
    without_pictures()
    reset(folder, before)
    done = run(RunRequest(configuration=folder))

    def work():
        with one_at_a_time(folder):
            release(done)

    names = changes_of(work)
    for point, name in enumerate([*names, ""]):
        if name and point % int(every) and not name.startswith(IMPORTANT):
            continue
        reset(folder, before)
        if bool(killed_at(point, work)) != bool(name):
            raise RuntimeError(f"there were {len(names)} changes, and now there are others")
        next_round(folder)
        print(json.dumps({"change": name, **state(folder)}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""`fairpool receipts`: acknowledge the contributions that arrived."""

from fairpool.cli.options import Folder, Json, Quiet
from fairpool.cli.screen import screen


def receipts(folder: Folder, quiet: Quiet = False, as_json: Json = False) -> None:
    """Check every contribution that arrived, and write a signed receipt for each that is right.

    Send each party its receipt, from the folder receipts/: it shows that you have what it signed.
    Contributions that are not right are refused with the reason, and keep nobody else from a
    receipt. A contribution has one receipt; asking again writes nothing new.

    Example: `fairpool receipts my-project`
    """
    with screen(quiet, as_json) as show:
        from fairpool.consortium.receipts import give_receipts
        from fairpool.errors import ContributionError
        from fairpool.ledger.record import now
        from fairpool.parties.rough_counts import roughly

        found = give_receipts(folder, received=now())
        plain = []
        for one in found.given:
            said = one.receipt
            plain.append(
                {
                    "party": one.party,
                    "rows": said.rows,
                    "contribution": said.contribution,
                    "received": said.received,
                    "file": str(one.path),
                    "new": one.is_new,
                }
            )
            how = "Wrote" if one.is_new else "There is"
            rows = f"{roughly(one.is_noisy)}{said.rows} rows"
            show.say_unbroken(f"{how} {one.path}: {rows} of {one.party}")
        for name in found.lacking:
            show.say(f"Nothing of {name} yet: there is no data for it in collaboration.toml")
        if not found.given and not found.problems:
            show.say("No contribution has arrived.")
        done = {"receipts": plain, "lacking": list(found.lacking)}
        if found.problems:
            show.refuse(ContributionError(*found.problems), done)
        show.give(done)

"""The whole run: a request in; values, contributions, rewards, models, scores and notes out."""

from fairpool.compute.workers import Workers
from fairpool.consortium.learning import learn
from fairpool.consortium.preparation import prepare
from fairpool.consortium.request import RunRequest
from fairpool.consortium.rounds.context import open_context
from fairpool.consortium.scrutiny import Run, scrutinise
from fairpool.consortium.valuation import value

__all__ = ["Run", "run"]


def run(request: RunRequest, workers: Workers | None = None) -> Run:
    """Prepare, learn, value and scrutinise; nothing is written, and nothing released.

    It is the collaboration's next round: what was released before counts
    (`fairpool.consortium.rounds`), and `release` releases it.

    Args:
        request: What is asked for.
        workers: Who values coalitions and reads tables, who is told about it, and where values are
            kept meanwhile.
    """
    workers = workers or Workers()
    context = open_context(request.configuration, learn_anew=request.learn_anew)
    preparation = prepare(request, workers, context)
    learning = learn(preparation, workers)
    valuation = value(learning, workers)
    return scrutinise(valuation, workers)

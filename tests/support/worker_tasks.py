"""Tasks for other processes; in a module of its own, so that these can import it."""

import os
import signal

import numpy as np
from threadpoolctl import threadpool_info


def blas_threads(_, __):
    np.linalg.cholesky(np.eye(3))
    return max(
        library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"
    )


def die_unless_in(process, task):
    if task == 3 and os.getpid() != process:
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task

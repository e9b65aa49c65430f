"""Kernel expressions that were unexpected errors, or that no reader of a reward file took."""

import pytest

from fairpool.errors import KernelError
from fairpool.model_kinds.kernel_codec import decode_kernel, encode_kernel
from fairpool.model_kinds.kernel_expression import MOST_OPERATORS, parse_kernel
from tests.support.projects import fairpool, project

ZEROS = "1" + "0" * 400


@pytest.mark.parametrize(
    ("expression", "what"),
    [
        (ZEROS, "the number 1000.*is outside 1e-12 .. 1e.12"),
        (f"{ZEROS} * rbf", "the number 1000.*is outside"),
        (f"rbf({ZEROS})", "the number 1000.*is outside"),
        ("rbf(0)", "the number 0 is outside"),
        ("rbf(1e-13)", "the number 1e-13 is outside"),
        ("1e10 * 1e10 * rbf", r"the number 1e\+20 is outside"),
        ("1e-10 * 1e-10 * rbf", r"the number 1.0+1e-20 is outside"),
        ("rbf * 1e999", "the number inf is outside"),
        (" + ".join(["rbf"] * 2000), "it has 11997 characters, more than 2000"),
        (" + ".join(["rbf"] * 60), r"it has 59 signs \+ and \*, more than 30"),
        ("a" + ".a" * 900, r"it cannot use 'a\.a\.a.*\.a\.a'"),
        ("-" * 900 + "1", "it cannot use '----"),
        ("rbf[0]", r"it cannot use 'rbf\[0\]'"),
        ("rbf ** 2", r"it cannot use 'rbf \*\* 2'"),
    ],
)
def test_what_cannot_be_a_kernel_is_refused(expression, what):
    with pytest.raises(KernelError, match=what) as caught:
        parse_kernel(expression, 2)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("sign", ["+", "*"])
def test_the_longest_kernel_can_be_put_into_a_file(sign):
    """One of 60 terms was computed with, and then no reward could be opened."""
    kernel = parse_kernel(f" {sign} ".join(["rbf(2)"] * (MOST_OPERATORS + 1)), 2)
    assert decode_kernel(encode_kernel(kernel)) == kernel


def test_the_command_says_so(tmp_path):
    folder = project(tmp_path, model=f'kind = "sparse_gp"\nkernel = "{ZEROS} * rbf"')
    done = fairpool("check", folder)
    assert done.returncode == 2
    assert "model, kernel: kernel" in done.stderr
    assert "unexpected" not in done.stderr

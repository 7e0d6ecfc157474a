"""Errors people see: one form, and a code each."""

import pytest

from replayproxy.core import errors


def test_text_is_what_then_a_hint() -> None:
    """What is wrong, an empty line, what to do."""
    assert str(errors.UsageError("it is wrong", hint="mend it")) == "it is wrong\n\nhint: mend it"
    assert str(errors.ReplayproxyError("it is wrong")) == "it is wrong"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.ReplayproxyError, 3),
        (errors.UsageError, 2),
        (errors.SettingsError, 2),
        (errors.CassetteError, 2),
        (errors.RightsError, 2),
        (errors.OperationError, 3),
        (errors.IntegrityError, 1),
    ],
)
def test_exit_codes(kind: type[errors.ReplayproxyError], code: int) -> None:
    """Each kind has the exit code that the contract gives it."""
    assert kind("x").exit_code == code
    assert issubclass(kind, errors.ReplayproxyError)

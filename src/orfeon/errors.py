"""User errors: their messages say what is wrong and what to do."""

from __future__ import annotations


class UserError(ValueError):
    """Invalid input; the message says what is wrong and what to do.

    Commands print the message without a traceback.

    Examples
    --------
    >>> from orfeon.errors import UserError
    >>> raise UserError("--target must name a column of data.csv: there is no column 'clas'.")
    Traceback (most recent call last):
    ...
    orfeon.errors.UserError: --target must name a column of data.csv: there is no column 'clas'.
    """


class ArgumentError(UserError):
    """An invalid argument.

    Commands name the option instead of the argument.

    Parameters
    ----------
    argument : str
        Name of the argument in Python.
    problem : str
        What is wrong with it, as a sentence.

    Examples
    --------
    >>> from orfeon.errors import ArgumentError
    >>> error = ArgumentError("drop", "'clas' is not a column.")
    >>> str(error), error.argument
    ("drop: 'clas' is not a column.", 'drop')
    """

    def __init__(self, argument: str, problem: str) -> None:
        super().__init__(argument, problem)
        self.argument = argument
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.argument}: {self.problem}"

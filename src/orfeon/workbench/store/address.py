"""Addresses of stores as they may be shown to others."""

from __future__ import annotations

import os

from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError


def shown_address(where: str | os.PathLike[str]) -> str:
    """An address without its password.

    Parameters
    ----------
    where : str or path
        A path, or a URL of a database.

    Returns
    -------
    str
        The same, with stars in place of a password.

    Examples
    --------
    >>> from orfeon.workbench.store import shown_address
    >>> shown_address("postgresql://ada:secret@host/results")
    'postgresql://ada:***@host/results'
    >>> shown_address("postgresql://host/results?password=secret")
    'postgresql://host/results?password=%2A%2A%2A'
    >>> shown_address("results.db")
    'results.db'
    """
    text = os.fspath(where)
    if "://" not in text:
        return text
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        return text.split("://")[0] + "://***"  # not to be read, and so not to be shown
    secret = {name: "***" for name in url.query if "password" in name.lower()}
    return url.update_query_dict(secret).render_as_string(hide_password=True)

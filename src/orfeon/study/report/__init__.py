"""Reports of studies: what they say, and the page that shows it."""

from __future__ import annotations

"""Published tables, the protocols behind them, and their reproduction."""

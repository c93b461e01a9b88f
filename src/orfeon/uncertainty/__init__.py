"""How far predictions can be trusted: intervals, sets, quantiles, standard errors, abstention."""

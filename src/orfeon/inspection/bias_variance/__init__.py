"""Bias and variance: the published definitions, and repeated trainings to measure them."""

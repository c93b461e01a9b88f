"""Bias and variance: a file for each published definition, and repeated trainings to measure."""

"""Numba kernels: arrays in, arrays out, independent of scikit-learn."""

"""Array kernels compiled by Numba: arrays in, arrays out, nothing here knows scikit-learn."""

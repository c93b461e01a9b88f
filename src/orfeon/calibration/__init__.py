"""From the class shares of an ensemble to probabilities: smoothing, and calibrators.

A calibrator is learnt from shares of members that did not see the samples, and has no knowledge of
the ensemble. All of them take and give arrays of shares, one row per sample.
"""

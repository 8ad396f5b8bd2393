"""Pure statistics on numpy arrays: no files, no frames, no state.

Sampling units: an *attempt* is one row, a *task* is the unit of every claim beyond "these tasks".
Null is NaN inside arrays and None for a single figure; 0 is never a stand-in for "not measured".
"""

"""The adapter for sktime passes its own checks of forecasters."""

from __future__ import annotations

import warnings

import pytest

pytest.importorskip("sktime", reason="sktime is installed by ./check-cluster")


def test_sktimes_own_checks():
    from sktime.utils.estimator_checks import check_estimator

    from negmm.sktime import NEGMMForecaster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(NEGMMForecaster, raise_exceptions=True, verbose=False)

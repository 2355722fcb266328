"""The sktime adapter passes sktime's checks of forecasters."""

from __future__ import annotations

import warnings

import external


def test_sktimes_own_checks():
    external.module("sktime")
    from sktime.utils.estimator_checks import check_estimator

    from negmm.sktime import NEGMMForecaster

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(NEGMMForecaster, raise_exceptions=True, verbose=False)

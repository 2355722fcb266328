"""The published interface of ScoringBench's wrappers of several targets, as far as ours uses it. Written for tests."""


class MultivariateWrapper:
    """The base class."""

    def predict(self, X):
        return self.predict_ensemble(X).mean

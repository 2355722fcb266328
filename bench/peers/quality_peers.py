"""The peers of quality.py: each a function that fits and returns a function from inputs to distributions."""

import math

import numpy as np
import pandas as pd
from quality_distributions import NormalMixture, Quantiles, WeightedPoints

CATBOOST = {
    "loss_function": "RMSEWithUncertainty",
    "thread_count": 1,
    "verbose": False,
    "allow_writing_files": False,
}
# Rounds or epochs without a better score before early stopping.
PATIENCE = 50

# The levels of lightgbm-quantiles.
LEVELS = np.linspace(0.025, 0.975, 21)

# Each peer fits on the training rows and returns a function from test inputs to a distribution. x: a frame whose
# columns are numbers or categories, or an array for those that want numbers.


def categories(x):
    return [name for name in x.columns if x[name].dtype == "category"]


def python_ngboost(x, y, seed):
    from ngboost import NGBRegressor

    model = NGBRegressor(verbose=False, random_state=seed).fit(x, y)

    def predict(x):
        distribution = model.pred_dist(x)
        return NormalMixture(distribution.loc, distribution.scale)

    return predict


def held_out(y, seed):
    """Training rows, and a tenth for early stopping."""
    rows = np.random.default_rng(seed).permutation(len(y))
    return rows[len(y) // 10 :], rows[: len(y) // 10]


def as_text(x):
    """Categories as the text that CatBoost wants, a missing one as a category of its own."""
    return x.assign(**{name: x[name].astype(object).fillna("(missing)").astype(str) for name in categories(x)})


def catboost(x, y, seed):
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(posterior_sampling=True, random_seed=seed, cat_features=categories(x), **CATBOOST)
    model.fit(as_text(x), y)

    def predict(x):
        x = as_text(x)
        # Columns: mean, knowledge uncertainty (variance of the means), data uncertainty (mean of the variances).
        mean, knowledge, data = model.virtual_ensembles_predict(
            x, prediction_type="TotalUncertainty", virtual_ensembles_count=10, thread_count=1
        ).T
        return NormalMixture(mean, np.sqrt(knowledge + data))

    return predict


def catboost_stopped(x, y, seed):
    from catboost import CatBoostRegressor

    train, stop = held_out(y, seed)
    model = CatBoostRegressor(random_seed=seed, early_stopping_rounds=PATIENCE, cat_features=categories(x), **CATBOOST)
    x = as_text(x)
    model.fit(x.iloc[train], y[train], eval_set=(x.iloc[stop], y[stop]))

    def predict(x):
        mean, variance = model.predict(as_text(x)).T
        return NormalMixture(mean, np.sqrt(variance))

    return predict


def lightgbmlss(x, y, seed):
    import lightgbm
    from lightgbmlss.distributions.Gaussian import Gaussian
    from lightgbmlss.model import LightGBMLSS

    model = LightGBMLSS(Gaussian(initialize=True))
    model.train({"num_threads": 1, "seed": seed}, lightgbm.Dataset(x, label=y), num_boost_round=100)
    return lightgbmlss_predict(model)


def lightgbmlss_stopped(x, y, seed):
    import lightgbm
    from lightgbmlss.distributions.Gaussian import Gaussian
    from lightgbmlss.model import LightGBMLSS

    rows, stop = held_out(y, seed)
    train = lightgbm.Dataset(x[rows], label=y[rows])
    model = LightGBMLSS(Gaussian(initialize=True))
    model.train(
        {"num_threads": 1, "seed": seed},
        train,
        num_boost_round=1000,
        valid_sets=[lightgbm.Dataset(x[stop], label=y[stop], reference=train)],
        valid_names=["validation"],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return lightgbmlss_predict(model)


def lightgbmlss_predict(model):
    def predict(x):
        parameters = model.predict(x, pred_type="parameters")
        return NormalMixture(parameters["loc"].to_numpy(), parameters["scale"].to_numpy())

    return predict


def lightgbm_quantiles(x, y, seed):
    import lightgbm

    # The trees ask categories by their codes: a category of the test rows that training lacks is missing there.
    known = {name: x[name].cat.remove_unused_categories().dtype for name in categories(x)}
    train = lightgbm.Dataset(x.astype(known).set_axis(range(x.shape[1]), axis=1), label=y, free_raw_data=False)
    parameters = {"objective": "quantile", "num_threads": 1, "seed": seed, "verbose": -1}
    models = [lightgbm.train(parameters | {"alpha": level}, train, num_boost_round=100) for level in LEVELS]

    def predict(x):
        x = x.assign(**{name: x[name].astype(object).astype(kind) for name, kind in known.items()})
        x = x.set_axis(range(x.shape[1]), axis=1)
        return Quantiles(LEVELS, np.stack([model.predict(x, num_threads=1) for model in models], axis=1))

    return predict


def quantile_forest(x, y, seed):
    from quantile_forest import RandomForestQuantileRegressor
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import TargetEncoder

    # Fitted and transformed at once, the mean of a training row's level is that of the other folds.
    text = categories(x)
    means = TargetEncoder(target_type="continuous", random_state=seed)
    medians = SimpleImputer(strategy="median", add_indicator=True)
    numbers = x.columns.difference(text, sort=False)
    encoder = ColumnTransformer([("means", means, text), ("medians", medians, numbers)])
    model = RandomForestQuantileRegressor(random_state=seed, n_jobs=1).fit(encoder.fit_transform(as_text(x), y), y)

    def predict(x):
        x = encoder.transform(as_text(x))
        # With its default of one training row kept for each leaf, a row's weight is the fraction of trees that lead to
        # it.
        points, weights = [], []
        for counts in model.proximity_counts(x, return_sorted=False):
            rows, count = np.array(list(counts)).T
            points.append(y[rows])
            weights.append(count / count.sum())
        interval = model.predict(x, quantiles=[0.025, 0.975])
        return WeightedPoints(points, weights, (interval[:, 0], interval[:, 1]))

    return predict


# The levels of pytabkit's networks.
MANY_LEVELS = np.linspace(0.01, 0.99, 50)


def pytabkit_network(name):
    def fit(x, y, seed):
        import pytabkit

        known = {column: x[column].cat.remove_unused_categories().dtype for column in categories(x)}
        numbers = x.columns.difference(list(known), sort=False)
        gaps = [column for column in numbers if x[column].isna().any()]
        medians = x[numbers].median()

        def filled(x):
            flags = x[gaps].isna().astype(float).add_suffix(" (missing)")
            kept = {column: x[column].astype(object).astype(kind) for column, kind in known.items()}
            return pd.concat([x.assign(**kept, **x[numbers].fillna(medians)), flags], axis=1).set_axis(
                [f"c{column}" for column in range(x.shape[1] + len(gaps))], axis=1
            )

        loss = f"multi_pinball({','.join(f'{level:g}' for level in MANY_LEVELS)})"
        model = getattr(pytabkit, name)(
            device="cpu", n_threads=1, random_state=seed, train_metric_name=loss, val_metric_name=loss
        )
        model.fit(filled(x), y)
        return lambda x: Quantiles(MANY_LEVELS, model.predict(filled(x)))

    return fit


def torch_ensemble(x, y, seed):
    import torch
    from torch import nn

    torch.set_num_threads(1)
    members, batch, most_epochs, least_variance = 5, 64, 500, 1e-6
    x_mean, x_sd = x.mean(axis=0), x.std(axis=0)
    x_sd[x_sd == 0] = 1
    y_mean, y_sd = y.mean(), y.std()

    def to_tensor(numbers):
        return torch.tensor(numbers, dtype=torch.float32)

    def outputs(network, x):
        mean, raw = network(x).T
        return mean, nn.functional.softplus(raw) + least_variance

    x, y = to_tensor((x - x_mean) / x_sd), to_tensor((y - y_mean) / y_sd)
    loss = nn.GaussianNLLLoss()

    def train(seed):
        torch.manual_seed(seed)
        training, validation = map(torch.from_numpy, held_out(y, seed))
        network = nn.Sequential(nn.Linear(x.shape[1], 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
        adam = torch.optim.Adam(network.parameters(), lr=1e-3)
        best, best_weights, since_best = math.inf, None, 0
        for _ in range(most_epochs):
            for rows in training[torch.randperm(len(training))].split(batch):
                adam.zero_grad()
                mean, variance = outputs(network, x[rows])
                loss(mean, y[rows], variance).backward()
                adam.step()
            with torch.no_grad():
                mean, variance = outputs(network, x[validation])
                score = loss(mean, y[validation], variance).item()
            since_best += 1
            if score < best:
                best, since_best = score, 0
                best_weights = {name: weight.clone() for name, weight in network.state_dict().items()}
            if since_best >= PATIENCE:
                break
        network.load_state_dict(best_weights)
        return network

    networks = [train(seed * members + member) for member in range(members)]

    def predict(x):
        with torch.no_grad():
            pairs = [outputs(network, to_tensor((x - x_mean) / x_sd)) for network in networks]
        means = np.stack([mean.double().numpy() for mean, _ in pairs], axis=1)
        variances = np.stack([variance.double().numpy() for _, variance in pairs], axis=1)
        return NormalMixture(means * y_sd + y_mean, np.sqrt(variances) * y_sd)

    return predict


# Fit function, modules to import before any fit (not timed), and whether it accepts categories.
PEERS = {
    "python-ngboost": (python_ngboost, ["ngboost"], False),
    "catboost": (catboost, ["catboost"], True),
    "catboost-stopped": (catboost_stopped, ["catboost"], True),
    "lightgbmlss": (lightgbmlss, ["lightgbm", "lightgbmlss.model", "lightgbmlss.distributions.Gaussian"], False),
    "lightgbmlss-stopped": (
        lightgbmlss_stopped,
        ["lightgbm", "lightgbmlss.model", "lightgbmlss.distributions.Gaussian"],
        False,
    ),
    "lightgbm-quantiles": (lightgbm_quantiles, ["lightgbm"], True),
    "quantile-forest": (
        quantile_forest,
        ["quantile_forest", "sklearn.compose", "sklearn.impute", "sklearn.preprocessing"],
        True,
    ),
    "realmlp": (pytabkit_network("RealMLP_TD_Regressor"), ["pytabkit"], True),
    "tabm": (pytabkit_network("TabM_D_Regressor"), ["pytabkit"], True),
    "torch-ensemble": (torch_ensemble, ["torch"], False),
}

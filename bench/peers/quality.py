"""Scores peers on the sets and splits that `quality --export FOLDER` wrote: one JSON line for each set, peer and split.

    quality.py FOLDER RESULTS [--sets a,b] [--peers a,b] [--splits N] [--jobs N] [--limit SECONDS]

A line is added to the file RESULTS as soon as it is known; what the file has already is not run again. Each fit is a
process of its own with one thread; one that takes longer than --limit is ended, and the other splits of that set and
peer are skipped, which their lines say. `quality --table RESULTS,...` makes the tables.
Needs: pip install -r quality-requirements.txt (or the lines of it that the chosen peers import; lightgbmlss alone)

The peers, near their defaults; the seed of split s is s:

    python-ngboost       NGBRegressor()
    catboost             RMSEWithUncertainty with posterior sampling, 1000 rounds; mean and total variance of a virtual
                         ensemble of 10
    catboost-stopped     RMSEWithUncertainty, stopped early by its score on a tenth of the training rows
    lightgbmlss          Gaussian, 100 rounds, started at the mean and sd of the training targets
    lightgbmlss-stopped  the same, at most 1000 rounds, stopped early by its score on a tenth of the training rows
    lightgbm-quantiles   LightGBM with 100 rounds for each of 21 levels from 0.025 to 0.975, predictions sorted;
                         between the levels linear, beyond them constant. It has no density
    quantile-forest      RandomForestQuantileRegressor(): its weights on the training targets are the distribution.
                         They have no density: nll and mass_nll are null. The 95 % interval is its predicted quantiles
    realmlp, tabm        RealMLP_TD_Regressor and TabM_D_Regressor of pytabkit at their defaults, trained and stopped
                         by the pinball loss of 50 levels from 0.01 to 0.99; missing numbers are the median, with a
                         flag
    torch-ensemble       five networks, 2 x 64 ReLU, mean and variance, Adam 1e-3, batch 64, at most 500 epochs, stopped
                         early by a tenth of the training rows; a mixture of five normals

The boosters are there twice because at their defaults they are sharp but too sure of themselves (better CRPS, bad NLL),
and stopped early it is the other way round. Early stopping waits for 50 rounds or epochs.

Sets with text are for catboost (its own categories), lightgbm-quantiles, realmlp and tabm (pandas categories) and
quantile-forest (target means of the levels, cross-fitted; missing numbers are the median, with a flag); the others want
numbers alone and leave them out. All get dates as parts: seconds since 1970, year, month, day, day of the week, hour,
minute, and the seconds between two dates.

Seconds are CPU time of the fit and of predicting the test rows.
"""

import argparse
import importlib
import itertools
import json
import math
import multiprocessing
import os
import time
import traceback
import warnings
from multiprocessing.connection import wait

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, logsumexp, ndtr, ndtri


class NormalMixture:
    """For each row equally likely normals. means, sds: rows x normals."""

    def __init__(self, means, sds):
        self.means, self.sds = np.asarray(means, dtype=float), np.asarray(sds, dtype=float)
        if self.means.ndim == 1:
            self.means, self.sds = self.means[:, None], self.sds[:, None]

    def mean(self):
        return self.means.mean(axis=1)

    def cdf(self, y):
        return ndtr((y[:, None] - self.means) / self.sds).mean(axis=1)

    def quantile(self, level):
        """By bisection between the smallest and the largest quantile of the normals."""
        quantiles = self.means + self.sds * ndtri(level)
        low, high = quantiles.min(axis=1), quantiles.max(axis=1)
        for _ in range(100):
            middle = 0.5 * (low + high)
            below = self.cdf(middle) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return 0.5 * (low + high)

    def interval(self):
        return self.quantile(0.025), self.quantile(0.975)

    def nll(self, y):
        z = (y[:, None] - self.means) / self.sds
        log_densities = -0.5 * z * z - np.log(self.sds) - 0.5 * math.log(2 * math.pi)
        return math.log(self.means.shape[1]) - logsumexp(log_densities, axis=1)

    def mass_nll(self, y, step):
        """-log of the probability within half a step of y, each normal from the side where nothing cancels."""
        above = (y[:, None] + 0.5 * step - self.means) / self.sds
        below = (y[:, None] - 0.5 * step - self.means) / self.sds
        upper = above + below > 0
        more, less = np.where(upper, -below, above), np.where(upper, -above, below)
        log_masses = log_ndtr(more) + np.log1p(-np.exp(log_ndtr(less) - log_ndtr(more)))
        return math.log(self.means.shape[1]) - logsumexp(log_masses, axis=1)

    def crps(self, y):
        """E|Y - y| - E|Y - Y'| / 2 in closed form (Grimit et al. 2006)."""
        to_y = expected_distance(y[:, None] - self.means, self.sds).mean(axis=1)
        differences = self.means[:, :, None] - self.means[:, None, :]
        sds = np.hypot(self.sds[:, :, None], self.sds[:, None, :])
        return to_y - 0.5 * expected_distance(differences, sds).mean(axis=(1, 2))


def expected_distance(mean, sd):
    """E|Z| of a normal Z."""
    z = mean / sd
    return mean * (2 * ndtr(z) - 1) + 2 * sd * np.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)


class WeightedPoints:
    """For each row points and their weights; the interval is given."""

    def __init__(self, points, weights, interval):
        self.points, self.weights, self.given_interval = points, weights, interval

    def mean(self):
        return np.array([weights @ points for points, weights in zip(self.points, self.weights)])

    def interval(self):
        return self.given_interval

    def nll(self, y):
        return None

    def mass_nll(self, y, step):
        return None

    def crps(self, y):
        scores = np.empty(len(y))
        for row, (points, weights) in enumerate(zip(self.points, self.weights)):
            order = np.argsort(points)
            points, weights = points[order], weights[order]
            below = np.cumsum(weights) - weights
            # Half of E|Y - Y'| is the sum over sorted points of weight x point x (weight below - weight above).
            spread = np.sum(weights * points * (2 * below + weights - 1))
            scores[row] = weights @ np.abs(points - y[row]) - spread
        return scores


class Quantiles:
    """For each row quantiles at increasing levels: linear between them, constant beyond. quantiles: rows x levels."""

    def __init__(self, levels, quantiles):
        self.levels = np.concatenate([[0.0], levels, [1.0]])
        quantiles = np.sort(quantiles, axis=1)
        self.quantiles = np.concatenate([quantiles[:, :1], quantiles, quantiles[:, -1:]], axis=1)

    def mean(self):
        return np.trapezoid(self.quantiles, self.levels, axis=1)

    def interval(self):
        return self.quantiles[:, 1], self.quantiles[:, -2]

    def nll(self, y):
        return None

    def mass_nll(self, y, step):
        return None

    def crps(self, y):
        """Twice the integral over the levels t of (1{y < q(t)} - t)(q(t) - y), piece by piece, each cut where q passes
        y."""
        low, high = self.levels[:-1], self.levels[1:]
        from_y, to_y = self.quantiles[:, :-1] - y[:, None], self.quantiles[:, 1:] - y[:, None]
        passes = (from_y < 0) & (to_y > 0)
        with np.errstate(divide="ignore", invalid="ignore"):
            cut = np.where(passes, low + (high - low) * -from_y / (to_y - from_y), np.where(from_y < 0, high, low))
        zero = np.where(passes, 0.0, np.where(from_y < 0, to_y, from_y))

        def integral(low, high, start, end, above):
            """Of (above - t) times what is linear from start to end: Simpson's rule is exact for it."""
            middle, centre = 0.5 * (low + high), 0.5 * (start + end)
            return (high - low) / 6 * ((above - low) * start + 4 * (above - middle) * centre + (above - high) * end)

        pieces = integral(low, cut, from_y, zero, 0.0) + integral(cut, high, zero, to_y, 1.0)
        return 2 * pieces.sum(axis=1)


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


def scores(distribution, y, step, new):
    """Means over all test rows and, under "new", over those with new inputs."""
    lower, upper = distribution.interval()
    rows = {
        "nll": distribution.nll(y),
        "mass_nll": distribution.mass_nll(y, step) if step else None,
        "crps": distribution.crps(y),
        "rmse": (distribution.mean() - y) ** 2,
        "coverage95": (lower <= y) & (y <= upper),
        "width95": upper - lower,
    }

    def means(chosen):
        result = {name: None if numbers is None else float(np.mean(numbers[chosen])) for name, numbers in rows.items()}
        if bad := [name for name, mean in result.items() if mean is not None and not math.isfinite(mean)]:
            raise ArithmeticError(f"{', '.join(bad)} not finite")
        return {"rows": int(chosen.sum())} | result | {"rmse": math.sqrt(result["rmse"])}

    return means(np.full(len(y), True)) | {"new": means(new) if new.any() else None}


class Set:
    """Rows and splits of one set, as exported."""

    def __init__(self, folder, name):
        with open(os.path.join(folder, name + ".json")) as file:
            described = json.load(file)
        self.step, self.splits, self.text = described["step"], described["splits"], described["text"]
        x = pd.read_csv(
            os.path.join(folder, name + ".csv"),
            dtype=dict.fromkeys(self.text, str),
            keep_default_na=False,
            na_values=[""],
        )
        self.y = x.pop(x.columns[-1]).to_numpy(dtype=float)
        dates = {date: pd.to_datetime(x.pop(date), format=form) for date, form in described["dates"].items()}
        for text in x.columns.intersection(self.text):
            x[text] = x[text].astype("category")
        numbers = x.columns.difference(self.text)
        x = x.astype(dict.fromkeys(numbers, float))
        self.x = pd.concat([x, *(parts(date, times) for date, times in dates.items())], axis=1)
        for first, second in itertools.combinations(dates, 2):
            self.x[f"{second} - {first}"] = (dates[second] - dates[first]).dt.total_seconds()


def parts(name, times):
    """The parts of dates that vary, as numbers."""
    fields = ["year", "month", "day", "day_of_week", "hour", "minute"]
    parts = {f"{name} {field}": getattr(times.dt, field).astype(float) for field in fields}
    parts[f"{name} seconds"] = (times - pd.Timestamp(0)).dt.total_seconds()
    return pd.DataFrame({part: numbers for part, numbers in parts.items() if numbers.nunique() > 1})


def run(data, task, results):
    """One fit: adds its line to the results."""
    _, peer, split = task
    warnings.simplefilter("ignore")
    test, new = np.array(data.splits[split]["test"]), np.array(data.splits[split]["new"])
    train = np.setdiff1d(np.arange(len(data.y)), test)
    fit, _, takes_text = PEERS[peer]
    x_train, x_test = data.x.iloc[train], data.x.iloc[test]
    if not takes_text:
        x_train, x_test = x_train.to_numpy(), x_test.to_numpy()
    try:
        start = time.process_time()
        predict = fit(x_train, data.y[train], split)
        fitted = time.process_time()
        distribution = predict(x_test)
        predicted = time.process_time()
        outcome = scores(distribution, data.y[test], data.step, new)
    except Exception as error:
        traceback.print_exc()
        outcome = {"skipped": f"failed: {error!r}"[:200]}
    else:
        outcome |= {"seconds": fitted - start, "seconds_predict": predicted - fitted}
    append(results, task, outcome)


def append(results, task, outcome):
    line = dict(zip(("set", "method", "split"), task)) | outcome
    with open(results, "a") as file:
        file.write(json.dumps(line, allow_nan=False) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("results")
    parser.add_argument("--sets", help="default: all in the folder")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--splits", type=int, default=20, help="at most this number")
    parser.add_argument("--jobs", type=int, default=1, help="fits at once")
    parser.add_argument("--limit", type=float, default=1200, help="seconds that one fit may take")
    arguments = parser.parse_args()
    if unknown := set(arguments.peers.split(",")) - set(PEERS):
        parser.error(f"there is no peer {', '.join(unknown)}; the peers are {', '.join(PEERS)}")
    for module in {module for peer in arguments.peers.split(",") for module in PEERS[peer][1]}:
        importlib.import_module(module)
    names = sorted(name[:-5] for name in os.listdir(arguments.folder) if name.endswith(".json"))
    names = arguments.sets.split(",") if arguments.sets else names

    done = set()
    if os.path.exists(arguments.results):
        with open(arguments.results) as file:
            done = {(line["set"], line["method"], line["split"]) for line in map(json.loads, file)}
    # Worker processes fork from this one before it has computed anything.
    context = multiprocessing.get_context("fork")
    too_slow = set()
    for name in names:
        data = Set(arguments.folder, name)
        splits = range(min(arguments.splits, len(data.splits)))
        tasks = [(name, peer, split) for split in splits for peer in arguments.peers.split(",")]
        tasks = [task for task in tasks if task not in done and (PEERS[task[1]][2] or not data.text)]
        running = {}
        while tasks or running:
            while tasks and len(running) < arguments.jobs:
                task = tasks.pop(0)
                if task[:2] in too_slow:
                    append(arguments.results, task, {"skipped": f"a fit takes more than {arguments.limit:g} s"})
                    continue
                process = context.Process(target=run, args=(data, task, arguments.results))
                process.start()
                running[process] = (task, time.monotonic() + arguments.limit)
            wait([process.sentinel for process in running], timeout=1)
            for process, (task, deadline) in list(running.items()):
                if not process.is_alive():
                    process.join()
                    if process.exitcode != 0:
                        append(arguments.results, task, {"skipped": f"ended with exit code {process.exitcode}"})
                elif time.monotonic() > deadline:
                    process.kill()
                    process.join()
                    too_slow.add(task[:2])
                    append(arguments.results, task, {"skipped": f"a fit takes more than {arguments.limit:g} s"})
                else:
                    continue
                del running[process]


if __name__ == "__main__":
    main()

"""Responsible for what parameters mean: one sentence for each, in the docstring of every estimator that has it."""

from __future__ import annotations

import inspect

#: What each parameter means: the type and the sentence of its line in the docstrings.
MEANINGS: dict[str, tuple[str, str]] = {
    "preset": ("{'fast', 'medium', 'best'}", "How many networks: 5 folds with 1 each, 10 with 1, 10 with 2."),
    "folds": (
        "int",
        "Parts of the rows, each held out once: it chooses the weights of the networks that learn from the others.",
    ),
    "steps": ("int", "Steps of each network; given, it takes the place of epochs."),
    "check_every": ("int", "Steps between looks at the validation rows; None: once an epoch."),
    "embedding": ("float", "Numbers also go through waves: the sd of their frequencies at the start; None: off."),
    "soft_clip": ("float", "Numbers are bent so as to stay within so many sds; None: off."),
    "eta": ("float, 0 to 1", "Share of the logarithmic score; 1 is an MDN, 0 trains with the energy score alone."),
    "beta": (
        "float, 0 to 1",
        "Power of the variance: 0 is the plain logarithmic score, 1 learns the mean as squared error does.",
    ),
    "components": ("int", "Components of each mixture."),
    "samples": ("int", "Samples that are predicted for each row."),
    "sinkhorn": ("float", "Weight of the pull of the samples' shape towards the prior; 0: off."),
    "prior": ("{'uniform', 'normal'}", "What the samples' shape is drawn towards."),
    "members": ("int", "Networks to train; of AutoRegressor for each fold."),
    "member": ("{'ne-gmm', 'mdn', 'beta-nll', 'sample-net'}", "What each member is."),
    "pool": (
        "{'mixture', 'gaussian'}",
        "Predict the exact mixture of the members, or the Gaussian with its mean and variance.",
    ),
    "rounds": ("int", "Rounds at most: two trees each."),
    "depth": ("int, 1 to 12", "Levels of splits in a tree."),
    "loss": ("{'log', 'crps', 'crps-original'}", "What boosting lowers."),
    "rows_share": ("float", "Part of the rows that a round learns from."),
    "columns_share": ("float", "Part of the features that a round may use."),
    "min_leaf": ("int", "Rows in a leaf at least."),
    "splits": ("{'auto', 'exact', 'histogram'}", "Which splits are tried."),
    "refit": ("bool", "Boost all rows again, as many rounds as were best on the validation rows."),
    "sigma_max": ("float", "Largest sd of a component, in sds of the target; None: no limit."),
    "mean_bound": ("float", "Largest distance of a component's mean from the target's, in its sds; None: no limit."),
    "hidden": ("int or tuple of int", "Units of each hidden layer; (): none."),
    "activation": ("{'relu', 'tanh', 'silu'}", "What a hidden unit does to its sum."),
    "sigma_min": ("float", "Smallest sd, in sds of the target."),
    "epochs": ("int", "Passes over the training rows, at most."),
    "batch": ("int", "Rows of one step."),
    "learning_rate": ("float", "Size of a step: Adam's at its highest, or the part of a boosting step that is taken."),
    "schedule": ("{'constant', 'cosine'}", "How the learning rate moves."),
    "patience": (
        "int",
        "Epochs, looks or rounds without a better validation score before it stops; 0: never stops early.",
    ),
    "validation": ("float", "Share of the rows set aside to choose the weights or the rounds that are kept."),
    "select": ("{'nll', 'crps', 'calibrated'}", "The validation score that chooses."),
    "averaging": ("float", "Decay of the running average of the weights that predicts; 0: the weights themselves."),
    "dropout": ("float", "Share of hidden units switched off in each step."),
    "weight_decay": ("float", "Each step also shrinks weights by rate times this."),
    "adversarial": ("float", "Half of the loss is that of inputs moved by this share of their range; 0: off."),
    "random_state": (
        "int, RandomState, Generator or None",
        "Starts all random choices; the same number gives the same bits.",
    ),
    "n_jobs": ("int or None", "Threads of fit and predict; None: 1, -1: all cores. It changes no result."),
}


def described(cls: type) -> str:
    """The docstring of an estimator with the table of its parameters and its attributes before the examples."""
    table = ["Parameters", "----------"]
    for name, parameter in inspect.signature(cls).parameters.items():
        kind, meaning = MEANINGS[name]
        table += [f"{name} : {kind}, default={parameter.default!r}", f"    {meaning}"]
    about, examples = inspect.cleandoc(cls.__doc__ or "").split("\n\nExamples\n", 1)
    attributes = inspect.cleandoc(cls.__base__.__doc__ or "").split("\n\n", 1)[1]
    return "\n\n".join([about, "\n".join(table), attributes, "Examples\n" + examples])

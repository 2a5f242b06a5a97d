"""INVASE (Yoon, Jordon, van der Schaar, ICLR 2019) for a regression, in PyTorch.

A selector network gives each column a probability, a predictor sees the columns that were drawn by them, and a
baseline sees all. Predictor and baseline learn by squared error; the selector by the policy gradient of the predictor's
loss less the baseline's, plus a price on the number of columns (actor-critic). Three hidden layers each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Invase:
    """Select columns for each row.

    Parameters
    ----------
    price : float, default=0.1
        The weight of the share of selected columns in the selector's loss; 0.1 is that of the authors' code.
    n_hidden : tuple of int, default=(100, 200)
        The widths of the selector, and of predictor and baseline: the authors' own.
    n_epochs, batch_size, rate : int, int, float
        The training, by Adam.
    seed : int, default=0
        The seed.
    """

    def __init__(
        self,
        price: float = 0.1,
        n_hidden: tuple[int, int] = (100, 200),
        n_epochs: int = 150,
        batch_size: int = 250,
        rate: float = 1e-3,
        seed: int = 0,
    ) -> None:
        self.price, self.n_hidden, self.seed = price, n_hidden, seed
        self.n_epochs, self.batch_size, self.rate = n_epochs, batch_size, rate

    def fit(self, X: Floats, y: Floats) -> Invase:
        """Train the three networks; columns and outcomes are standardised first."""
        import torch
        from torch import nn

        def network(n_in: int, width: int, n_out: int, norm: bool) -> Any:
            layers: list[Any] = []
            for i in range(3):
                layers += [nn.Linear(n_in if i == 0 else width, width), nn.ReLU()]
                layers += [nn.BatchNorm1d(width)] if norm else []
            return nn.Sequential(*layers, nn.Linear(width, n_out))

        torch.set_num_threads(1)  # networks this small gain nothing from more, and lose much on a busy machine
        torch.manual_seed(self.seed)
        self._center, self._scale = X.mean(axis=0), X.std(axis=0)
        self._y_center, self._y_scale = y.mean(), y.std()
        inputs, outcomes = self._tensor(X), torch.tensor((y - self._y_center) / self._y_scale, dtype=torch.float32)
        n_rows, n_columns = X.shape
        self._selector = network(n_columns, self.n_hidden[0], n_columns, norm=False)
        self._predictor = network(n_columns, self.n_hidden[1], 1, norm=True)
        self._baseline = network(n_columns, self.n_hidden[1], 1, norm=True)
        actor = torch.optim.Adam(self._selector.parameters(), lr=self.rate, weight_decay=1e-4)
        critics = [*self._predictor.parameters(), *self._baseline.parameters()]
        critic = torch.optim.Adam(critics, lr=self.rate, weight_decay=1e-4)
        for _ in range(self.n_epochs):
            order = torch.randperm(n_rows)
            for start in range(0, n_rows - n_rows % self.batch_size or n_rows, self.batch_size):
                rows = order[start : start + self.batch_size]
                x, target = inputs[rows], outcomes[rows]
                logits = self._selector(x)
                chosen = torch.bernoulli(torch.sigmoid(logits).detach())
                loss = (self._predictor(x * chosen)[:, 0] - target) ** 2
                base_loss = (self._baseline(x)[:, 0] - target) ** 2
                critic.zero_grad()
                (loss.mean() + base_loss.mean()).backward()
                critic.step()
                excess = (loss - base_loss).detach()
                log_likelihood = -nn.functional.binary_cross_entropy_with_logits(logits, chosen, reduction="none")
                policy = (excess * log_likelihood.sum(dim=1)).mean()
                actor.zero_grad()
                (policy + self.price * torch.sigmoid(logits).mean()).backward()
                actor.step()
        for part in (self._selector, self._predictor, self._baseline):
            part.eval()
        return self

    def select(self, X: Floats) -> NDArray[np.bool_]:
        """Return for each row which columns have a probability above 1/2."""
        import torch

        with torch.no_grad():
            return np.asarray((self._selector(self._tensor(X)) > 0).numpy())

    def predict(self, X: Floats, selected: NDArray[np.bool_] | None = None) -> Floats:
        """Predict from selected columns, by the predictor; or from all, by the baseline."""
        import torch

        with torch.no_grad():
            x = self._tensor(X)
            out = self._baseline(x) if selected is None else self._predictor(x * torch.tensor(selected))
        return np.asarray(out[:, 0].numpy(), dtype=np.float64) * self._y_scale + self._y_center

    def _tensor(self, X: Floats) -> Any:
        import torch

        return torch.tensor((X - self._center) / self._scale, dtype=torch.float32)

"""A logistic head on an encoder's states, saved as a classifier that ``attrial`` can be run on.

    python benchmarks/fit_head.py --encoder DIR --task ag_news --data FILE --out DIR

The encoder stays as it is. Its states of a task's texts (the mean over tokens, or the
classification token's) are read once, a logistic regression is fitted to their labels, and both are
saved as one ``BertForSequenceClassification``. That class reads a pooler's answer, tanh(W h + b),
of the classification token: the pooler is made the identity within tanh's straight part, so that
the saved model's logits are the regression's. For the mean there is no such class: ``--states
mean`` prints how well a head would do, and saves nothing. With ``--random`` the head is drawn.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from transformers import AutoModel, AutoTokenizer, BertForSequenceClassification

from attrial.masks import Floats, Ints
from attrial.task import Item, Task, items, load_task

STRAIGHT = 1e-3  # tanh(x) is x to 3e-10 of itself up to here


def main() -> None:
    """Fit, save, and print the accuracy on rows that were not fitted to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True)
    parser.add_argument("--task", required=True)
    parser.add_argument("--data")
    parser.add_argument("--split")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=1000)
    parser.add_argument("--states", choices=("cls", "mean"), default="cls")
    parser.add_argument("--random", action="store_true")
    asked = parser.parse_args()
    task = load_task(asked.task)
    found = items(task, data=asked.data, split=asked.split)
    order = np.random.default_rng(0).permutation(len(found))[: asked.limit]  # files may be sorted
    found = [found[i] for i in order]
    tokenizer = AutoTokenizer.from_pretrained(asked.encoder)
    model = AutoModel.from_pretrained(asked.encoder, dtype=torch.float32).eval()
    x = states(model, tokenizer, found, mean=asked.states == "mean")
    y = np.array([item.label for item in found], np.int64)
    weights, bias = drawn(x, len(task.labels)) if asked.random else fitted(x, y, task)
    if asked.states == "cls":
        save(asked.encoder, weights, bias, task.labels, asked.out)
        tokenizer.save_pretrained(asked.out)


def states(
    model: torch.nn.Module, tokenizer: object, found: Sequence[Item], *, mean: bool
) -> Floats:
    """(k, d) one state a text."""
    return np.concatenate(
        [_states(model, tokenizer, found[i : i + 16], mean) for i in range(0, len(found), 16)]
    )


def _states(model: torch.nn.Module, tokenizer: object, some: Sequence[Item], mean: bool) -> Floats:
    columns = list(zip(*(item.texts for item in some), strict=True))
    given = tokenizer(  # type: ignore[operator]
        *map(list, columns), return_tensors="pt", padding=True, truncation=True, max_length=256
    )
    with torch.no_grad():
        hidden = model(**given).last_hidden_state
    there = given["attention_mask"][..., None]
    one = (hidden * there).sum(1) / there.sum(1) if mean else hidden[:, 0]
    return np.asarray(one.double().numpy())


def fitted(x: Floats, y: Ints, task: Task) -> tuple[Floats, Floats]:
    """Weights (C, d) and bias (C,) of a regression; tells its accuracy on the last fifth."""
    cut = len(x) * 4 // 5
    head = LogisticRegression(max_iter=3000, C=1.0).fit(x[:cut], y[:cut])
    print(f"accuracy {head.score(x[cut:], y[cut:]):.3f} on {len(x) - cut} texts, fitted to {cut}")
    classes, dims = len(task.labels), x.shape[1]
    weights, bias = np.zeros((classes, dims)), np.full(classes, -20.0)  # a class never seen: never
    if len(head.classes_) == 2:
        weights[head.classes_] = np.stack([-head.coef_[0], head.coef_[0]]) / 2
        bias[head.classes_] = np.array([-head.intercept_[0], head.intercept_[0]]) / 2
    else:
        weights[head.classes_], bias[head.classes_] = head.coef_, head.intercept_
    return weights, bias


def drawn(x: Floats, classes: int) -> tuple[Floats, Floats]:
    """A random head whose logits differ by about one."""
    weights = np.random.default_rng(0).standard_normal((classes, x.shape[1])) / x.std() / 20
    return weights, -(weights @ x.mean(axis=0))


def save(encoder: str, weights: Floats, bias: Floats, labels: Sequence[str], out: Path) -> None:
    """Write the encoder with the head, the pooler made straight."""
    names = dict(enumerate(labels))
    model = BertForSequenceClassification.from_pretrained(
        encoder, dtype=torch.float32, num_labels=len(labels), id2label=names,
        label2id={name: i for i, name in names.items()},
    )  # fmt: skip
    assert model.bert.pooler is not None
    pooler = model.bert.pooler.dense
    with torch.no_grad():
        pooler.weight.copy_(torch.eye(len(pooler.weight)) * STRAIGHT)
        pooler.bias.zero_()
        model.classifier.weight.copy_(torch.from_numpy(weights / STRAIGHT))
        model.classifier.bias.copy_(torch.from_numpy(bias))
    model.save_pretrained(out)


if __name__ == "__main__":
    main()

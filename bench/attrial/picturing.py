"""What notebooks and commands call to explain one image."""

import numpy as np
from PIL import Image

from attrial import plugin_call
from attrial._data_images import png
from attrial.classifiers import ModelLike, classifier_of
from attrial.errors import AttrialError
from attrial.explaining import check, label_of, ready
from attrial.masks import everything
from attrial.models.vision import VisionClassifier
from attrial.models.vision_encode import Picture
from attrial.patches import edges, grid_of
from attrial.pictures import ImageExplanation
from attrial.target import Target
from attrial.value import Subject, Value, answer


def explain_image(
    model: ModelLike,
    image: Picture,
    *,
    method: str = "integrated_gradients",
    target: str | int | None = None,
    function: str = "log_odds",
    players: str = "patches",
    removal: str | None = None,
    seed: int = 0,
    dtype: str | None = None,
    device: str | None = None,
) -> ImageExplanation:
    """Explain one image: a score for each cell of a grid, higher speaks more for the target.

    Args:
        model: A folder, a Hub id, or a loaded pair (model, image processor).
        image: A file or its bytes, a PIL image, or an array (height, width, 3) of 0 to 255.
        method: A call such as ``shapley`` or ``integrated_gradients(steps=30)``.
        target: Label (or its number) to explain; the predicted one by default.
        function: What of the target is explained: ``log_odds`` (nats), ``probability``, ...
        players: ``patches`` for at most 49 cells, ``patches(4)`` for at most 4 x 4.
        removal: How cells are removed when the method asks for it; ``mean`` by default.
        seed: Of the method's draws.
        dtype: Of a model loaded from a folder or the Hub; float32 by default.
        device: Where it runs: ``cpu``, ``cuda`` or ``auto``.

    Raises:
        AttrialError: For an unknown method, label or removal, no image, no image classifier.
    """
    asked = plugin_call.method(method)
    check(seed, function)
    found = classifier_of(model, dtype=dtype, device=device)
    if not isinstance(found, VisionClassifier):
        raise AttrialError(f"{found.spec.name} is no image classifier: give it a text")
    x = found.see("image", image, players="patches" if players == "words" else players)
    filled, removal = ready(found, x, removal, None, asked)
    outputs = filled.keep([(Subject(x, removal, Target(0)), everything(x.n))])[0]
    index = int(np.argmax(outputs[0])) if target is None else label_of(filled.labels, target)
    (got,) = answer(Value(filled), [(Subject(x, removal, Target(index, function)), asked(x, seed))])
    if got.result is None:
        raise AttrialError(f"method {method} gave no scores: {got.undefined}")
    shown, cells = found.encoder.shown(x), grid_of(x.players) or (1, x.n)
    return ImageExplanation(
        players=x.players, scores=got.result, target=filled.labels[index],
        probability=float(Target(index, "probability").read(outputs)[0]),
        signed=asked.bound.signed, class_blind=asked.bound.class_blind,
        method=asked.bound.text, removal=removal, function=function, notes=got.notes,
        output=float(outputs[0, index]), png=png(Image.fromarray(shown)), shape=shown.shape[:2],
        edges=edges(found.encoder.patches.grid, cells),
    )  # fmt: skip

"""An image classifier as a model of a row of patch ids, so that whatever serves text serves it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import ImageClassifierOutput

from attrial.errors import AttrialError, NotApplicable
from attrial.models.hooks import hooked
from attrial.patches import PREFIX, Patches


class PatchTable(nn.Module):
    """Looks patches up by their ids and embeds them with the model's own layer.

    What stands before the patches (a class token) is no patch: its embedding is zero here.
    """

    def __init__(self, layer: nn.Module, patches: Patches) -> None:
        super().__init__()
        self.layer, self.patches = layer, patches
        self.training = layer.training

    def forward(self, ids: Tensor, positions: Tensor | None = None) -> Tensor:
        """Embeddings (R, w, d) of ids (R, w) at their positions; 0, 1, 2 and so on by default."""
        places = torch.arange(ids.shape[1], device=ids.device).expand(ids.shape)
        places = places if positions is None else positions
        images = self.patches.images(ids.cpu().numpy(), places.cpu().numpy())
        embedded = self.embed(torch.from_numpy(images))
        cell = (places - self.patches.prefix).clamp(0, self.patches.count - 1)
        found = embedded.gather(1, cell[:, :, None].expand(-1, -1, embedded.shape[2]))
        return found * (ids > PREFIX)[:, :, None]

    def embed(self, images: Tensor) -> Tensor:
        """Embeddings (R, count, d) of whole images."""
        return first(self.layer(images.to(next(self.layer.parameters()))))

    @property
    def weight(self) -> Tensor:
        """There is none: an embedding is made from pixels.

        Raises:
            NotApplicable: Always.
        """
        raise NotApplicable("patches are embedded from their pixels: there is no table of them")


class Patched(PreTrainedModel):  # type: ignore[no-untyped-call]
    """A classifier of images called with ids of patches (R, w) and their positions.

    All rows have the same number of positions, the prefix first; what follows them is padding, and
    goes nowhere. Where positions are missing, or in another order, the rows that enter the first
    layer are left out or reordered, after the embeddings of places were added.
    """

    base_model_prefix = ""

    def __init__(self, inner: PreTrainedModel, patches: Patches) -> None:
        for way in ("sdpa", "flash_attn", "flex_attn"):  # what is inside supports is supported
            setattr(self, f"_supports_{way}", getattr(inner, f"_supports_{way}"))
        super().__init__(inner.config)
        self.inner = inner
        self.words = PatchTable(inner.get_input_embeddings(), patches)
        self.place = _place(inner, self.words.layer)
        self.training = inner.training

    @property
    def body(self) -> nn.Module:
        """The module that joins patches, class token and positions: what enters the first layer."""
        return self.inner.get_submodule(self.place)

    @classmethod
    def _can_set_attn_implementation(cls) -> bool:
        return True  # it has no attention of its own; the model inside tells of its own

    def get_input_embeddings(self) -> nn.Module:
        """The table of patches."""
        return self.words

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor
    ) -> ImageClassifierOutput:
        """Logits (R, classes)."""
        length = int(attention_mask.sum(dim=1).max())
        embeddings = self.words(input_ids, position_ids)[:, :length]
        with self._given(embeddings, position_ids[:, :length]):
            out: ImageClassifierOutput = self.inner(pixel_values=self._nothing(len(input_ids)))
        return out

    def _nothing(self, rows: int) -> Tensor:
        image = torch.zeros((), dtype=self.dtype, device=self.device)
        return image.expand(rows, *self.words.patches.size)

    @contextmanager
    def _given(self, embeddings: Tensor, positions: Tensor) -> Iterator[None]:
        """One forward that takes these embeddings for those of its image."""
        patches, fired = self.words.patches, list[int]()
        whole = torch.arange(patches.prefix + patches.count, device=positions.device)
        same = positions.shape[1] == len(whole) and bool((positions == whole).all())

        def put(module: nn.Module, args: object, output: object) -> object:
            fired.append(1)
            own = embeddings[:, patches.prefix :]
            return with_first(output, own if same else _spread(own, positions, patches))

        def leave(module: nn.Module, args: object, output: object) -> object:
            found = first(output)
            order = positions[:, :, None].expand(-1, -1, found.shape[2])
            return with_first(output, found.gather(1, order))

        handles = [self.words.layer.register_forward_hook(put)]
        if not same:
            handles.append(self.body.register_forward_hook(leave))
        with hooked(handles):
            yield
        if len(fired) != 1:
            raise NotApplicable(
                f"{type(self.inner).__name__} embeds its patches {len(fired)} times"
            )


def _spread(own: Tensor, positions: Tensor, patches: Patches) -> Tensor:
    """Embeddings of all places (R, count, d) from those of some, zero elsewhere."""
    out = own.new_zeros(len(own), patches.count, own.shape[2])
    places = positions[:, patches.prefix :] - patches.prefix
    return out.scatter(1, places[:, :, None].expand(-1, -1, own.shape[2]), own)


def _place(inner: PreTrainedModel, layer: nn.Module) -> str:
    """The name of the module that holds the layer of patch embeddings."""
    names = [name for name, module in inner.named_modules() if module is layer]
    if len(names) != 1 or "." not in names[0]:
        raise AttrialError(f"{type(inner).__name__} doesn't tell where it embeds its patches")
    return str(names[0]).rpartition(".")[0]


def first(output: object) -> Tensor:
    """A module's output, or the first of several."""
    found = output[0] if isinstance(output, tuple) else output
    assert isinstance(found, Tensor)
    return found


def with_first(output: object, value: Tensor) -> object:
    """The same output with another first part."""
    return (value, *output[1:]) if isinstance(output, tuple) else value


def watched(module: nn.Module, run: Callable[[], object]) -> Tensor:
    """What a module gives (R, t, d) in one run."""
    seen = list[Tensor]()

    def see(module: nn.Module, args: object, output: object) -> None:
        seen.append(first(output))

    with hooked([module.register_forward_hook(see)]):
        run()
    return seen[0]

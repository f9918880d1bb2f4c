"""The kinds of models. A new one is a card class in the union below; nothing else has to know it.

A card has ``kind``, by which it is told from the others, and besides

    board_size, training, metrics   what there is to tell of every model
    title, remarks                  what it is, in a few words, and what else is worth telling
    files                           the files beside the card, and the SHA-256 of each
    count_weights(read)             how large it is
    build(read, options)            the evaluator; ``read`` gives a file's content, options are the kind's own
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from katachi.core.cards import ModelError, explain
from katachi.crbm.crbm_cards import CrbmCard
from katachi.policy.cnn_cards import CnnCard
from katachi.shapes.linear_cards import LinearCard
from katachi.territory.dag_rnn_cards import DagRnnCard

ModelCard = LinearCard | CnnCard | CrbmCard | DagRnnCard

_CARDS: TypeAdapter[ModelCard] = TypeAdapter(Annotated[ModelCard, Field(discriminator="kind")])


def parse_card(text: bytes) -> ModelCard:
    """Read a card; raises ModelError with the first thing that is wrong with it."""
    try:
        return _CARDS.validate_json(text)
    except ValidationError as error:
        raise ModelError(f"its card cannot be read: {explain(error)}") from None
